"""Settings: every environment variable the product reads, in one place, with its default.

Source: DC-01, design §8 (switches), functions.md §10.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shared.domain.errors import SchemaError

DEFAULT_WAIT_S: Final = 25
"""Seconds a send waits for its turn unless `Prefer` says otherwise. Source: design §7."""
MAX_WAIT_S: Final = 60
"""Longest wait a client may ask for. Source: design §7."""

MAX_CLIENT_SECRETS: Final = 2
"""Most client secrets in force: the old and the new one. Source: apis.md §1.3."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration in force; see the README's table."""

    data_dir: Path = Path(".local")
    """`VOUCH_DATA_DIR`: where the embedded stores and the key file live."""
    environment: str = "local"
    """`VOUCH_ENVIRONMENT`: local or azure; named in health and telemetry."""
    operator_key_hash: str = field(default="", repr=False)
    """`VOUCH_OPERATOR_KEY_HASH`: SHA-256 hex of a first operator key; empty locally, where one is made at seeding."""

    shopify_client_secrets: tuple[str, ...] = field(default=(), repr=False)
    """`VOUCH_SHOPIFY_CLIENT_SECRETS`: what Shopify signs with, two while they are rotated; unless given, the client
    secret alone. Without any, no webhook and no proxied request is taken."""
    shopify_webhook_url: str = ""
    """`VOUCH_SHOPIFY_WEBHOOK_URL`: where shops are to send events, when the app does not declare its subscriptions."""
    integration_origins: tuple[str, ...] = ()
    """`VOUCH_INTEGRATION_ORIGINS`: origins in our own network that integrations may call, as `https://host:port`."""

    trusted_hops: int = 1
    """`VOUCH_TRUSTED_HOPS`: proxies of ours whose X-Forwarded-For entries name the client; 1 is the platform's own
    front end (and the embedded host), 0 trusts none and limits no address."""
    shopify_api_version: str = "2026-10"
    """`VOUCH_SHOPIFY_API_VERSION`: the stable Admin API version that is spoken."""
    shopify_client_id: str = ""
    """`VOUCH_SHOPIFY_CLIENT_ID`: our app, as Shopify names it; needed where tokens expire."""
    shopify_client_secret: str = field(default="", repr=False)
    """`VOUCH_SHOPIFY_CLIENT_SECRET`: its secret, with which tokens are refreshed."""


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process."""
    env = os.environ if environment is None else environment
    return Settings(
        data_dir=Path(env.get("VOUCH_DATA_DIR", ".local")),
        environment=env.get("VOUCH_ENVIRONMENT", "local"),
        operator_key_hash=env.get("VOUCH_OPERATOR_KEY_HASH", ""),
        shopify_client_secrets=_secrets(
            env.get("VOUCH_SHOPIFY_CLIENT_SECRETS") or env.get("VOUCH_SHOPIFY_CLIENT_SECRET", "")
        ),
        shopify_webhook_url=env.get("VOUCH_SHOPIFY_WEBHOOK_URL", ""),
        integration_origins=_listed(env.get("VOUCH_INTEGRATION_ORIGINS", "")),
        trusted_hops=int(env.get("VOUCH_TRUSTED_HOPS", "1")),
        shopify_api_version=env.get("VOUCH_SHOPIFY_API_VERSION", "2026-10"),
        shopify_client_id=env.get("VOUCH_SHOPIFY_CLIENT_ID", ""),
        shopify_client_secret=env.get("VOUCH_SHOPIFY_CLIENT_SECRET", ""),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _secrets(text: str) -> tuple[str, ...]:
    """Return the secrets. Raises: SchemaError for more than a rotation needs."""
    secrets = _listed(text)
    if len(secrets) > MAX_CLIENT_SECRETS:
        raise SchemaError(f"VOUCH_SHOPIFY_CLIENT_SECRETS holds at most {MAX_CLIENT_SECRETS} secrets")
    return secrets
