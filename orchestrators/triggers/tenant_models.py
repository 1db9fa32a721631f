"""Requests and responses of tenants and keys. Secrets appear once, in the answer that makes them.

Source: GW-02, design §7 `/v1/tenants`.
"""

from datetime import datetime
from typing import Final

from pydantic import Field

from orchestrators.triggers.models import Id, Line, Request, Shown
from shared.domain.api_key import DeskRole, KeyScope
from shared.domain.tenant import TenantStatus
from shared.domain.tiers import Tier

MAX_OVERLAP_S: Final = 30 * 24 * 3600
"""Longest time a rotated key may go on working. Source: shared.adapters.records.keys."""
DEFAULT_OVERLAP_S: Final = 24 * 3600
"""How long a rotated key goes on working unless asked otherwise. Value ours."""


class TenantIn(Request):
    """A new merchant."""

    tenant_id: Id
    name: Line = Field(min_length=1, max_length=200)
    tier: Tier = Tier.STARTER


class TenantPatch(Request):
    """What may change of a merchant; what is absent stays."""

    name: Line | None = Field(default=None, min_length=1, max_length=200)
    tier: Tier | None = None
    status: TenantStatus | None = None


class TenantShown(Shown):
    """A merchant."""

    tenant_id: str
    name: str
    tier: str
    status: str
    created_at: datetime
    updated_at: datetime


class TenantCreated(TenantShown):
    """A merchant with the secret that signs its customers' identity tokens, shown this once."""

    identity_secret: str


class IdentitySecretShown(Shown):
    """A fresh identity secret, shown this once; tokens signed with the old one have ended."""

    tenant_id: str
    identity_secret: str


class TenantList(Shown):
    """A page of merchants."""

    tenants: tuple[TenantShown, ...]
    continuation: str | None


class KeyIn(Request):
    """A key to issue."""

    scope: KeyScope
    owner: Line = Field(default="", max_length=200)
    """Who holds it; a made-up name when nobody is named. Desk keys of one owner are one person."""
    role: DeskRole | None = None
    """Of desk keys; an agent unless it says approver."""


class RotateIn(Request):
    """How long the old key goes on working."""

    overlap_s: int = Field(default=DEFAULT_OVERLAP_S, ge=0, le=MAX_OVERLAP_S)


class KeyShown(Shown):
    """A key without its secret."""

    key_id: str
    tenant_id: str
    scope: str
    role: str | None
    owner: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    successor: str | None


class KeyIssued(KeyShown):
    """A key with its text, shown this once."""

    key: str


class KeyList(Shown):
    """A tenant's keys, oldest first."""

    keys: tuple[KeyShown, ...]
