"""Pure changes of an action: what a decision, a start, an end and a finding make of it, and what they may not touch.

The rules the conditional writes apply; reads no store and no clock. Source: design §9 "Approvals", AX-02, AX-03.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.domain.actions import (
    MAX_ASKERS,
    Action,
    ActionOp,
    ActionState,
    Asker,
    Effect,
    Proposal,
    after,
    payload_hash,
    series_id,
)
from shared.domain.errors import AuthorityError, SchemaError, StalenessError
from shared.domain.grants import Grant
from shared.domain.ids import CaseId, ConversationId
from shared.domain.money import Money

BACK_AT_DESK: Final = timedelta(hours=24)
"""Least time a person gets for an action that came back to the desk. Value ours."""
SOONEST_RETELL: Final = timedelta(minutes=2)
"""Least time before it is looked at again whether the customer can be told by now. Value ours."""
LATEST_RETELL: Final = timedelta(hours=1)
"""Most time before that. Value ours: a release wakes it at once, this is for the release whose hint was lost."""

_S, _O = ActionState, ActionOp
_TAKEN: Final = {
    _O.APPROVE: frozenset({_S.APPROVED, _S.EXECUTING, _S.EXECUTED, _S.UNCLEAR}),
    _O.RETURN_TO_DESK: frozenset({_S.PENDING}),
    _O.REFUSE: frozenset({_S.REFUSED}),
    _O.EXPIRE: frozenset({_S.EXPIRED}),
}
"""States in which a decision has been taken already."""
_ENDS: Final = frozenset({_O.CONFIRM, _O.REFUSE, _O.UNDO_START, _O.DOUBT})
"""What can come of a call."""


@dataclass(frozen=True, slots=True)
class Details:
    """What a decision says beside its operation."""

    reason: str
    amount: Money | None = None
    by: str = ""
    policy_version: int | None = None
    proposal: Proposal | None = None
    case: CaseId | None = None
    starts: int = 0


def decided(action: Action, op: ActionOp, details: Details, now: datetime) -> Action | None:
    """Return the action after the decision; None when it was taken before and there is nothing to add.

    `return_to_desk` of an action that is there already writes down why it waits, for how much and in which case.
    Raises: StalenessError when the action's life does not allow it, an approval is about another amount than the one
    that waits, or the action was started since the decision was prepared; AuthorityError for an approval nobody gave;
    SchemaError for another proposal than a completed one.
    """
    if op not in _TAKEN:
        raise SchemaError(f"{op.value} is no decision")
    if op is _O.APPROVE and not details.by:
        raise AuthorityError("an approval names who gave it")
    _check_proposal(action, details.proposal)
    is_taken = action.state in _TAKEN[op]
    if is_taken and op is not _O.RETURN_TO_DESK:
        return None
    if action.state in (_S.EXECUTING, _S.UNCLEAR):
        raise StalenessError(
            f"action {action.action_id!r} is {action.state.value}: only the shop, or who looked there, says more"
        )
    if action.state is _S.APPROVED and details.starts != action.starts:
        raise StalenessError(f"action {action.action_id!r} was started since")
    if op is _O.APPROVE and None not in (details.amount, action.amount) and details.amount != action.amount:
        raise StalenessError(f"action {action.action_id!r} is about another amount by now")
    update: dict[str, object] = {"reason": details.reason}
    update |= {"amount": details.amount} if details.amount is not None else {}
    update |= {"policy_version": details.policy_version} if details.policy_version is not None else {}
    update |= {"proposal": details.proposal} if details.proposal is not None else {}
    update |= {"case_id": details.case} if details.case is not None else {}
    if is_taken:
        changed = action.model_copy(update=update)
        return None if changed == action else changed.model_copy(update={"updated_at": now})
    state = after(op, action.state)
    if op is _O.APPROVE:
        update |= {"approved_by": details.by, "approved_at": now}
    elif op is _O.RETURN_TO_DESK:
        # Whoever approved it approved something else, and the case it was decided in is over.
        update |= {"approved_by": "", "approved_at": None, "case_id": details.case}
        update["expires_at"] = max(action.expires_at, now + BACK_AT_DESK)
    return action.model_copy(update={**update, "state": state, "updated_at": now, "is_told": False})


def asked_again(action: Action, by: Asker) -> Action:
    """Return the action with one more who has to hear of its end; one entry a conversation, the newest last."""
    others = tuple(asker for asker in action.also_asked if asker.conversation_id != by.conversation_id)
    return action.model_copy(update={"also_asked": (*others, by)[-MAX_ASKERS:]})


def told_of(action: Action, state: ActionState | None, only: ConversationId | None) -> Action | None:
    """Return the action as told; None when it is, has left that state, or others than `only` have yet to hear."""
    has_moved_on = state is not None and action.state is not state
    is_awaited = only is not None and any(asker.conversation_id != only for asker in action.askers)
    if action.is_told or has_moved_on or is_awaited:
        return None
    return action.model_copy(update={"is_told": True, "held_until": None})


def held(action: Action, now: datetime) -> Action | None:
    """Return the action put off until a person may have given the conversation back; None when it is told.

    It waits as long again as its end is old, within SOONEST_RETELL and LATEST_RETELL.
    """
    wait = min(max(now - action.updated_at, SOONEST_RETELL), LATEST_RETELL)
    return None if action.is_told else action.model_copy(update={"held_until": now + wait})


def started(action: Action, grant: Grant, now: datetime) -> Action:
    """Return the action as its call begins.

    Raises: AuthorityError when the grant is not live, or not for the action as it is now.
    """
    is_same = (grant.action_type, grant.action_id) == (action.type, action.action_id)
    if not is_same or grant.payload_hash != payload_hash(action.proposal) or grant.amount != action.amount:
        raise AuthorityError(f"action {action.action_id!r} has changed since its grant")
    if not grant.is_live(now):
        raise AuthorityError(f"grant {grant.grant_id!r} is not live")
    try:
        state = after(_O.START, action.state)
    except StalenessError as error:
        raise AuthorityError(f"action {action.action_id!r} may not start: it is {action.state.value}") from error
    return action.model_copy(
        update={
            "state": state,
            "reason": "",
            "grant_id": grant.grant_id,
            "fence": grant.fence,
            "starts": action.starts + 1,
            "started_at": now,
            "updated_at": now,
        }
    )


def finished(
    action: Action, op: ActionOp, grant_id: str, effect: Effect | None, reason: str, now: datetime
) -> Action | None:
    """Return the action after what came of one start of it; None when that is known, or no longer the question.

    What the shop has done counts whatever happened meanwhile. Everything else is about the one start that consumed
    `grant_id`: a later start is not undone by an earlier one's end.
    Raises: StalenessError when the action's life does not allow it; SchemaError for a confirmation without an effect.
    """
    if op not in _ENDS:
        raise SchemaError(f"{op.value} does not come of a call")
    if op is _O.CONFIRM:
        if effect is None:
            raise SchemaError("what was done needs the shop's word for it")
        if action.state is _S.EXECUTED:
            return None
        update: dict[str, object] = {"effect": effect, "reason": ""}
    else:
        is_moot = op in (_O.UNDO_START, _O.DOUBT) and action.state is not _S.EXECUTING
        if is_moot or action.grant_id != grant_id or action.state in _TAKEN.get(op, ()):
            return None
        update = {"reason": reason}
    # The desk may have been told that it was unclear: how it ended is news all the same.
    update |= {"state": after(op, action.state), "is_told": False, "updated_at": now}
    return action.model_copy(update=update)


def found(action: Action, by: str, effect: Effect | None, now: datetime) -> Action | None:
    """Return the unclear action after a person looked at the shop; None when it is known to have ended so.

    Without an effect it was not done. What the desk was told, that nobody knew, is not how it ended.
    Raises: StalenessError when it is not unclear; AuthorityError for a finding nobody vouches for.
    """
    if not by:
        raise AuthorityError("a finding names who found it")
    op, end, said = (_O.REFUSE, _S.REFUSED, "not done") if effect is None else (_O.CONFIRM, _S.EXECUTED, "done")
    if action.state is end:
        return None
    if action.state is not _S.UNCLEAR:
        raise StalenessError(f"action {action.action_id!r} is {action.state.value}, not unclear")
    return action.model_copy(
        update={
            "state": after(op, action.state),
            "reason": f"a person found that it was {said}",
            "effect": effect,
            "found_by": by,
            "is_told": False,
            "updated_at": now,
        }
    )


def _check_proposal(action: Action, proposal: Proposal | None) -> None:
    """Refuse what is no completion of the same request. Raises: SchemaError."""
    if proposal is None:
        return
    series = series_id(action.tenant_id, action.customer_id, proposal)
    if proposal.type is not action.type or series != series_id(action.tenant_id, action.customer_id, action.proposal):
        raise SchemaError(f"action {action.action_id!r} is about something else")
