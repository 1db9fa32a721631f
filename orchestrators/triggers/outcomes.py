"""A person says what became of an action whose answer was lost and whose shop could not be read.

Writes the finding by compare-and-swap and wakes the action's instance, which tells the customer and ends the case;
repeats nothing and calls no shop. Source: AX-02, GO-03, design §9 "Approvals".
"""

from typing import Final

from orchestrators.activities.authorising import ref_of
from orchestrators.triggers.approvals import check_approver
from orchestrators.triggers.contract import Call
from orchestrators.triggers.desk_models import OutcomeIn
from orchestrators.triggers.desk_view import action_of, case_of, person_of, refuse_anothers, show_case
from orchestrators.triggers.problems import FieldError, Problem, ProblemKind
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.starting import wake_action
from shared.domain.actions import Action, ActionState, Effect
from shared.domain.case import Case
from shared.domain.errors import StalenessError
from shared.ports.documents import CustomerScope

KNOWN: Final = {
    ActionState.PENDING: "It waits for a decision and nothing was called: approve or reject it.",
    ActionState.APPROVED: "It is approved and about to be carried out; how it ends is found out by itself.",
    ActionState.EXECUTING: "It is being carried out, or the shop is being asked; how it ends is found out by itself.",
    ActionState.EXECUTED: "It is known to be done.",
    ActionState.REFUSED: "It was rejected, refused by the shop or found not to be done.",
    ActionState.EXPIRED: "Nobody decided in time; nothing was done.",
}
"""What is said to an outcome of an action that is not unclear."""


async def record_outcome(call: Call) -> Answer:
    """Write what the person found of the case's unclear action; finding the same again changes nothing.

    A case that was ended by hand takes it too: until then the action counts as paid and the customer waits.
    Raises: Problem (403 for a key that is no approver's or another's case; 409 when the action is not unclear and has
    not ended so; 422 for a reference to what was not done).
    """
    check_approver(call)
    given = call.body_as(OutcomeIn)
    if given.reference is not None and not given.done:
        wrong = FieldError("reference", "only what was done has one")
        raise Problem(ProblemKind.INVALID_REQUEST, "A field is wrong.", errors=[wrong])
    case = await case_of(call)
    action = await action_of(call, case)
    if action is None:
        raise Problem(ProblemKind.CONFLICT, "There is no action to find anything out about in this case.")
    is_open = case.closed_at is None
    if is_open:
        refuse_anothers(call, case)
    end = ActionState.EXECUTED if given.done else ActionState.REFUSED
    if action.state not in (ActionState.UNCLEAR, end):
        raise Problem(ProblemKind.CONFLICT, KNOWN[action.state])
    if is_open and action.state is ActionState.UNCLEAR:
        case = await call.services.cases.claim(call.tenant, case.id, person_of(call))
    return await _write(call, case, action, _effect(call, given, action))


def _effect(call: Call, given: OutcomeIn, action: Action) -> Effect | None:
    if not given.done:
        return None
    reference = given.reference or f"as found by person:{person_of(call)}"
    return Effect(reference=reference, amount=action.amount, at=call.services.clock.now())


async def _write(call: Call, case: Case, action: Action, effect: Effect | None) -> Answer:
    """Write the finding and wake who tells of it; a repeat after a crash in between finishes the job."""
    scope = CustomerScope(action.tenant_id, action.customer_id)
    try:
        found = await call.services.actions.found(
            scope, action.action_id, by=f"person:{person_of(call)}", effect=effect
        )
    except StalenessError:
        raise Problem(ProblemKind.CONFLICT, "Its end became known at the same moment; read the case again.") from None
    if call.starter is not None and not found.is_told:
        await wake_action(call.starter, ref_of(found))
    return json_answer(await show_case(call, case))
