"""The merchant: who they are, which tier they bought, whether they are served; and each version of their policy.

The knowledge version is not here: it lives with the articles, so that both move in one batch.
Source: design §6 row `tenants`, fault 038 (change log with who, when, diff).
"""

import unicodedata
from datetime import datetime
from enum import StrEnum
from typing import Final, Self

from pydantic import Field, model_validator

from shared.domain.errors import SchemaError
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ID_PATTERN, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.tiers import Tier
from shared.domain.wire_model import Wire

OPERATOR_TENANT: Final = TenantId("-")
"""The tenant that owns what belongs to the operator; no merchant can have this id."""
ALWAYS_ON: Final = frozenset({HumanTrigger.SAFETY, HumanTrigger.CRITICAL_SEVERITY, HumanTrigger.EXPLICIT_WISH})
"""Triggers no tenant may switch off. Source: RT-01 (critical: no automation), TenantPolicy.disabled_triggers."""
MAX_SETTING_CHARS: Final = 1_000
"""Longest text of a policy: a greeting stands in every reply. Unit: characters. Value ours."""
MAX_SETTING_ITEMS: Final = 200
"""Most items of a policy's list: each reply and each message is held against all of them. Value ours."""


class TenantStatus(StrEnum):
    """Whether the merchant is served."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class Tenant(Wire):
    """One merchant's settings document."""

    id: str = "tenant"
    kind: str = "tenant"
    tenant_id: TenantId = Field(pattern=ID_PATTERN)
    name: str = Field(min_length=1, max_length=200)
    tier: Tier = Tier.STARTER
    status: TenantStatus = TenantStatus.ACTIVE
    sealed_identity_secret: str = Field(default="", repr=False)
    """Ciphertext of the secret that signs customer identity tokens (GW-03); empty when none was made."""
    created_at: datetime
    updated_at: datetime

    @model_validator(mode="after")
    def _is_a_merchant(self) -> Self:
        if self.tenant_id == OPERATOR_TENANT:
            raise ValueError("this tenant id belongs to the operator")
        return self


class PolicyVersion(Wire):
    """One saved policy and the change-log line that goes with it."""

    id: str
    """`policy` for the one in force, `policy@{version}` in the history."""
    kind: str
    """`policy` or `policy_version`."""
    tenant_id: TenantId
    version: int = Field(ge=1)
    policy: TenantPolicy
    author: str = Field(min_length=1, max_length=200)
    """Key id or person who saved it."""
    saved_at: datetime
    changed: tuple[str, ...] = ()
    """Names of the settings that differ from the version before."""


def changed_settings(before: TenantPolicy, after: TenantPolicy) -> tuple[str, ...]:
    """Return the names of the settings that differ, the version itself left out."""
    names = (name for name in TenantPolicy.model_fields if name != "version")
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


def check_policy(policy: TenantPolicy) -> None:
    """Refuse a policy that contradicts itself. Raises: SchemaError naming the setting."""
    forbidden = ALWAYS_ON & set(policy.disabled_triggers)
    if forbidden:
        raise SchemaError(f"disabled_triggers may not hold {sorted(t.value for t in forbidden)}")
    if policy.default_language not in policy.languages:
        raise SchemaError("default_language must be one of languages")
    if not policy.phone_regions:
        raise SchemaError("phone_regions must name a region: without one national telephone numbers stay unmasked")
    for name in TenantPolicy.model_fields:
        _check_setting(name, getattr(policy, name))


def _check_setting(name: str, value: object) -> None:
    """Refuse texts and lists no shop needs, and empty items: an empty banned phrase stands in every reply."""
    if isinstance(value, str) and (len(value) > MAX_SETTING_CHARS or not _is_printable(value)):
        raise SchemaError(f"{name} must have at most {MAX_SETTING_CHARS} characters, none of them a control character")
    if isinstance(value, tuple):
        if len(value) > MAX_SETTING_ITEMS:
            raise SchemaError(f"{name} may hold at most {MAX_SETTING_ITEMS} items")
        for item in value:
            if isinstance(item, str) and not item.strip():
                raise SchemaError(f"{name} may not hold an empty item")
            _check_setting(name, item)


def _is_printable(text: str) -> bool:
    return not any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in text)
