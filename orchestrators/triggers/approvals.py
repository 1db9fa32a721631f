"""A person decides about an action: approve, reject; and what happens to the case while nobody has.

Writes the decision by compare-and-swap and wakes the instance that waits; mints nothing and calls no shop. Whatever the
approver saw is read again before anything is done. Source: design §9 "Approvals", AX-02, GO-03, SU-04.
"""

from datetime import datetime
from typing import Final

from orchestrators.activities.authorising import ref_of
from orchestrators.triggers.contract import Call
from orchestrators.triggers.desk_models import ApproveIn, RejectIn
from orchestrators.triggers.desk_view import (
    action_of,
    case_of,
    person_of,
    refuse_anothers,
    show_case,
    ticket_of,
    written_since,
)
from orchestrators.triggers.outside_text import exempt_contacts
from orchestrators.triggers.problems import FieldError, Problem, ProblemKind
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.starting import wake_action
from orchestrators.triggers.turns import conversation_scope
from shared.domain.actions import SETTLED, Action, ActionOp, ActionState, Address, ChangeAddressProposal, Proposal
from shared.domain.api_key import DeskRole
from shared.domain.case import Case, CaseStatus
from shared.domain.errors import StalenessError
from shared.ports.documents import CustomerScope
from shared.privacy.normalise import clean_input

APPROVED: Final = frozenset({ActionState.APPROVED, ActionState.EXECUTING, ActionState.EXECUTED})
"""States after an approval."""
FOR_A_PERSON: Final = frozenset({ActionState.PENDING, ActionState.UNCLEAR})
"""States that only a person's word ends; their case goes back into the queue when its holder lets go of it."""


async def approve_action(call: Call) -> Answer:
    """Approve the action of the case; what was approved before stays so.

    Raises: Problem (403 for a key that is no approver's or another's case; 409 when it is over, changed or unclear,
    or the customer has written since; 422 for an address that is missing or out of place).
    """
    check_approver(call)
    given = call.body_as(ApproveIn)
    case, action = await _decidable(call)
    if action.state in APPROVED:
        if _is_other(action, given):
            raise Problem(
                ProblemKind.CONFLICT, f"It was approved{_by(action)} with other content; read the case again."
            )
        return json_answer(await show_case(call, case))
    _check_open(action, call.services.clock.now())
    if given.amount_minor is not None and (action.amount is None or action.amount.amount_minor != given.amount_minor):
        raise Problem(ProblemKind.CONFLICT, "The amount has changed since it was shown; read the case again.")
    since = await written_since(call, action)
    if since is not None and (given.read_up_to is None or given.read_up_to < since):
        raise Problem(
            ProblemKind.CONFLICT,
            f"The customer has written since: read the thread, then approve with read_up_to {since}, or reject.",
        )
    proposal = _completed(action, given.address)
    return await _decide(call, case, action, ActionOp.APPROVE, "a person approved it", proposal)


async def reject_action(call: Call) -> Answer:
    """Refuse the action of the case; what was refused before stays so. Raises: Problem (403, 409)."""
    check_approver(call)
    given = call.body_as(RejectIn)
    case, action = await _decidable(call)
    if action.state is ActionState.REFUSED:
        return json_answer(await show_case(call, case))
    if action.state in APPROVED:
        raise Problem(ProblemKind.CONFLICT, f"It was approved{_by(action)}; nothing can be rejected any more.")
    _check_open(action, call.services.clock.now())
    masked = await call.services.vault.mask_message(
        conversation_scope(await ticket_of(call, case)),
        clean_input(given.reason),
        regions=call.policy.phone_regions,
        exempt=exempt_contacts(call),
    )
    return await _decide(call, case, action, ActionOp.REFUSE, masked.text.value or "a person rejected it")


def check_approver(call: Call) -> None:
    """Refuse a key that is not an approver's. Raises: Problem (403)."""
    if call.by.role is not DeskRole.APPROVER:
        raise Problem(ProblemKind.SCOPE, "Only a desk key with the role approver may decide about an action.")


def may_be_closed(action: Action | None) -> bool:
    """Tell whether a case about this action may end by hand: the action is over, or gone.

    An unclear one keeps counting against the ceilings until a person says what came of it, so its case stays in sight.
    """
    return action is None or action.state in SETTLED


async def leave_undecided(call: Call, case: Case, status: CaseStatus) -> Case:
    """Put the case back into the queue when its holder lets go of it undecided; nobody else would see it again.

    Raises: Problem (409) for ending it while the action waits or is under way.
    """
    action = await action_of(call, case)
    if status is CaseStatus.RELEASED and action is not None and action.state in FOR_A_PERSON:
        # Its SLA goes on: taking a case and letting go of it must not keep on-call from hearing of it.
        return await call.services.cases.reopen(call.tenant, case.id, case.reason, due_at=case.due_at)
    if action is not None and action.state is ActionState.UNCLEAR:
        raise Problem(ProblemKind.CONFLICT, "Whether this case's action was done is unclear: say its outcome first.")
    raise Problem(ProblemKind.CONFLICT, "An action waits in this case, or is under way: approve or reject it first.")


async def _decidable(call: Call) -> tuple[Case, Action]:
    """Return the case and the action it is about. Raises: Problem (403 another's case, 409 without an action)."""
    case = await case_of(call)
    action = await action_of(call, case)
    if action is None:
        raise Problem(ProblemKind.CONFLICT, "There is no action to decide about in this case.")
    refuse_anothers(call, case)
    return case, action


async def _decide(
    call: Call, case: Case, action: Action, op: ActionOp, reason: str, proposal: Proposal | None = None
) -> Answer:
    """Claim the case, write the decision, wake who waits for it; a repeat after a crash in between finishes the job."""
    claimed = await call.services.cases.claim(call.tenant, case.id, person_of(call))
    try:
        await call.services.actions.decide(
            CustomerScope(action.tenant_id, action.customer_id),
            action.action_id,
            op,
            reason=reason,
            amount=action.amount,
            by=f"person:{person_of(call)}",
            proposal=proposal,
        )
    except StalenessError:
        raise Problem(
            ProblemKind.CONFLICT, "The action was decided, ended or changed at the same moment; read the case again."
        ) from None
    if call.starter is not None:
        await wake_action(call.starter, ref_of(action))
    return json_answer(await show_case(call, claimed))


def _check_open(action: Action, now: datetime) -> None:
    """Refuse a decision that comes too late. Raises: Problem (409), saying what has become of the action."""
    match action.state:
        case ActionState.REFUSED:
            said = "It was rejected, or the shop refused it; nothing was done."
        case ActionState.EXPIRED:
            said = "Nobody decided in time; nothing was done."
        case ActionState.UNCLEAR:
            said = "It is not known whether the shop has done it: look there and say what you found (outcome)."
        case _ if now >= action.expires_at:
            said = f"The time to decide was over at {action.expires_at.isoformat()}; nothing was done."
        case _:
            return
    raise Problem(ProblemKind.CONFLICT, said)


def _completed(action: Action, address: Address | None) -> Proposal | None:
    """Return the proposal with the address the approver wrote; None when nothing is added. Raises: Problem (422)."""
    proposal = action.proposal
    if not isinstance(proposal, ChangeAddressProposal):
        if address is not None:
            raise _wrong_address("only a change of address takes one")
        return None
    if address is None and proposal.address is None:
        raise _wrong_address("needed: nobody has said yet where the parcel goes")
    return None if address is None else proposal.model_copy(update={"address": address})


def _wrong_address(why: str) -> Problem:
    return Problem(ProblemKind.INVALID_REQUEST, "A field is wrong.", errors=[FieldError("address", why)])


def _is_other(action: Action, given: ApproveIn) -> bool:
    """Tell whether an approval names another amount or address than the one approved before."""
    amount = action.amount.amount_minor if action.amount is not None else None
    address = action.proposal.address if isinstance(action.proposal, ChangeAddressProposal) else None
    return given.amount_minor not in (None, amount) or given.address not in (None, address)


def _by(action: Action) -> str:
    return f" by {action.approved_by}" if action.approved_by else ""
