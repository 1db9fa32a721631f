"""The merchant: who they are, which tier they bought, whether they are served; and each version of their policy.

The knowledge version is not here: it lives with the articles, so that both move in one batch.
Source: design §6 row `tenants`, fault 038 (change log with who, when, diff).
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, Self

from pydantic import Field, model_validator

from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ID_PATTERN, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.tiers import Tier
from shared.domain.wire_model import Wire

OPERATOR_TENANT: Final = TenantId("-")
"""The tenant that owns what belongs to the operator; no merchant can have this id."""
ALWAYS_ON: Final = frozenset(
    {HumanTrigger.SAFETY, HumanTrigger.CRITICAL_SEVERITY, HumanTrigger.EXPLICIT_WISH, HumanTrigger.RULE_FAULT}
)
"""Triggers no tenant may switch off. Source: RT-01 (critical: no automation), GO-03 (a fault escalates)."""


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
    restores: int | None = None
    """The earlier version whose content this is, when it was brought back (SC-02 rollback)."""
