"""Requests and responses of the built-in desk. Source: HD-01, design §7 desk rows."""

from datetime import datetime
from typing import Final

from pydantic import Field, field_validator

from orchestrators.triggers.models import (
    MAX_CONTINUATION_CHARS,
    MAX_PAGE,
    Id,
    Line,
    QueryModel,
    Request,
    Shown,
    Text,
    Thread,
    TurnAction,
    TurnSource,
    one_line,
)
from shared.domain.actions import MAX_REASON_CHARS, Address, LineRef
from shared.domain.case import CaseStatus
from shared.domain.human_triggers import HumanTrigger

MAX_REFERENCE_CHARS: Final = 128
"""Longest id of a shop's. Unit: characters. Value ours."""


class QueueQuery(QueryModel):
    """Which cases; without a status, those that still need somebody."""

    status: CaseStatus | None = None
    trigger: HumanTrigger | None = None
    """Only cases this trigger names, their first: `poison` lists the quarantine."""
    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    continuation: str | None = Field(default=None, max_length=MAX_CONTINUATION_CHARS)


class ReplyIn(Request):
    """A person's reply to the customer."""

    text: Text
    reply_id: Id | None = None
    """Makes the reply idempotent; one is made and returned when absent."""


class CaseSummary(Shown):
    """A case as the queue lists it: no customer text."""

    case_id: str
    conversation_id: str
    customer_id: str | None
    status: str
    severity: str
    triggers: tuple[str, ...]
    reason: str
    intent: str | None
    action_id: str | None
    """The action a person decides about in this case; none in a handoff."""
    opened_at: datetime
    due_at: datetime
    claimed_by: str | None
    claimed_at: datetime | None
    closed_at: datetime | None


class CaseQueue(Shown):
    """A page of the queue: by severity, cases near their SLA one tier higher, oldest first within a tier."""

    cases: tuple[CaseSummary, ...]
    continuation: str | None


class ApprovalShown(Shown):
    """The action a person decides about, with everything the decision rests on."""

    action_id: str
    type: str
    state: str
    order_id: str | None
    lines: tuple[LineRef, ...]
    """The lines it touches; empty for the whole order."""
    amount_minor: int | None
    currency: str | None
    address: Address | None
    """Where the parcel would go; none yet when the approver has to write it."""
    note: str
    """What a note or an update of the ticket would say."""
    reason: str
    """Why it waits, or how it ended."""
    written_since: int | None
    """Sequence of the newest message the customer wrote after asking; approving then takes it as `read_up_to`."""
    policy_version: int
    """The policy it was decided under; its ceilings are read again when it is carried out."""
    approved_by: str
    approved_at: datetime | None
    requested_at: datetime
    expires_at: datetime


class ApproveIn(Request):
    """A person's approval."""

    address: Address | None = None
    """Where the parcel goes; needed to approve a change of address, and only there."""
    amount_minor: int | None = Field(default=None, ge=0)
    """The amount the approver saw: by now another one is a conflict."""
    read_up_to: int | None = Field(default=None, ge=0)
    """Sequence up to which the approver has read the thread; needed once the customer has written since asking."""

    @field_validator("address")
    @classmethod
    def _is_plain(cls, address: Address | None) -> Address | None:
        return None if address is None else Address(**{k: one_line(v) for k, v in address.model_dump().items()})


class RejectIn(Request):
    """A person's refusal."""

    reason: Line = Field(default="", max_length=MAX_REASON_CHARS)
    """For the desk; the customer is not shown it."""


class OutcomeIn(Request):
    """What a person found at the shop about an action nobody could read the end of."""

    done: bool
    reference: str | None = Field(default=None, min_length=1, max_length=MAX_REFERENCE_CHARS)
    """The shop's own id of what was done; only for what was done."""

    @field_validator("reference")
    @classmethod
    def _is_an_id(cls, reference: str | None) -> str | None:
        # It is stored as it is, so it must not be where a customer's address ends up.
        if reference is not None and (not reference.isprintable() or not reference.strip() or "@" in reference):
            raise ValueError("must be the shop's own id: one printable line without an e-mail address")
        return reference.strip() if reference is not None else None


class CaseShown(CaseSummary):
    """A case with everything a person needs."""

    message_id: str
    draft: str | None
    """The unsent draft, values restored."""
    sources: tuple[TurnSource, ...]
    proposed: tuple[TurnAction, ...]
    action: ApprovalShown | None
    thread: Thread


class ReplyShown(Shown):
    """The reply as it was appended."""

    case_id: str
    reply_id: str
    seq: int
    at: datetime
