"""A grant: the right to do one action once, for one account, for a few minutes.

Owns its shape only; shared.authority.mint makes the seal and shared.authority.verify checks it. Source: AX-02, SU-04.
"""

from datetime import datetime, timedelta
from typing import Final, Self

from pydantic import AwareDatetime, Field, model_validator

from shared.domain.actions import LineRef
from shared.domain.ids import ID_PATTERN, CustomerId, OrderId, TenantId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.wire_model import Wire

MAX_GRANT_TTL_S: Final = 300
"""Longest life of a grant. Unit: seconds. Source: AX-02 "expiring"; value ours."""


class Grant(Wire):
    """What may be done, to whom, up to how much, and until when; single use by `grant_id`."""

    grant_id: str = Field(pattern=ID_PATTERN)
    """Unguessable; consumed in the same write that claims the action."""
    tenant_id: TenantId
    account_id: CustomerId
    """The customer's billing account."""
    action_type: ActionType
    action_id: str = Field(min_length=1, max_length=128)
    payload_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of exactly this proposal: another address or another note needs another grant."""
    order_id: OrderId | None = None
    lines: tuple[LineRef, ...] = ()
    """The lines it covers; empty for the whole order, or where there is none."""
    amount: Money | None = None
    """The exact sum of a billing action; None where no money moves."""
    policy_version: int = Field(ge=1)
    """The tenant policy whose ceiling allowed it."""
    approved_by: str = ""
    """The person who approved it; empty when the ceilings did."""
    fence: int = Field(default=0, ge=0)
    """The lane it was minted in; consuming it in a later one fails (AX-04)."""
    issued_at: AwareDatetime
    expires_at: AwareDatetime

    @model_validator(mode="after")
    def _is_short_lived(self) -> Self:
        if not timedelta(0) < self.expires_at - self.issued_at <= timedelta(seconds=MAX_GRANT_TTL_S):
            raise ValueError(f"a grant lives more than 0 and at most {MAX_GRANT_TTL_S} s")
        return self

    def is_live(self, now: datetime) -> bool:
        """Tell whether the moment lies inside the grant's life."""
        return self.issued_at <= now < self.expires_at


class SignedGrant(Wire):
    """A grant and the seal the supervisor put on it; the envelope's authority token."""

    grant: Grant
    seal: str
