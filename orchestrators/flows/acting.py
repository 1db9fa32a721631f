"""Step 4 of a turn: what the customer asks to be done. The supervisor decides, the executor acts, the reply says which.

Every requested action ends in one of three ways here: done (and the reply says so from its record), waiting for a
person (acknowledged, never promised), or not possible (a person explains). Source: AX-01…05, RT-02, design §9.
"""

from orchestrators.context import Flow
from orchestrators.flows.composing import compose_and_review
from orchestrators.flows.performing import ROUNDS_IN_TURN, perform
from orchestrators.flows.settling import BUSY_WAIT, MAX_BUSY_WAITS, deliver, give_up, to_person
from orchestrators.flows.work import Work
from orchestrators.names import ActivityName
from orchestrators.routing import refused_action, unclear_action
from shared.domain.actions import ActionRef, CrmNoteProposal, Proposal
from shared.domain.agents import AgentName
from shared.domain.deltas import ActionDelta, ActionResult, ActionStatus
from shared.domain.human_triggers import HumanTrigger
from shared.domain.intents import ActionType
from shared.domain.proposals import build_proposals
from shared.domain.turns import Authorised, CannedKind, Settlement
from shared.wire import unpack


def act(work: Work, action: ActionType) -> Flow:
    """Decide and do what is asked, then answer; return the turn's settlement."""
    proposals = build_proposals(work.state, action)
    if proposals is None or work.state.snapshot.customer_id is None:
        return (yield from to_person(work, unclear_action(action)))
    note = CrmNoteProposal(text=f"Customer asked for {action.value} of order {proposals[0].order_id}.")
    authorised = yield from _authorise(work, (*proposals, note))
    if authorised is None:
        return (yield from give_up(work, HumanTrigger.AGENT_FAILURE, "nothing could be decided about the action"))
    if authorised.delta is None:
        return Settlement(settled="stale")  # opening again finds out who answers
    work.apply(authorised.delta)
    work.figures.note(action_facts=authorised.facts)
    yield from _perform_all(work)
    asked = [o for o in work.state.outcomes if o.type != ActionType.CRM_NOTE.value]
    refused = [o.reason for o in asked if o.status is ActionStatus.REFUSED]
    if refused:
        return (yield from to_person(work, refused_action(refused[0])))
    if any(o.status is ActionStatus.PENDING_APPROVAL for o in asked):
        return (yield from deliver(work, canned=CannedKind.ACTION_PENDING))
    if any(o.status is ActionStatus.IN_PROGRESS for o in asked):
        return (yield from deliver(work, canned=CannedKind.ACTION_IN_PROGRESS))
    return (yield from compose_and_review(work))


def _authorise(work: Work, proposals: tuple[Proposal, ...]) -> Flow:
    """Let the turn commit itself and the supervisor decide, waiting while an earlier turn delivers."""
    for _ in range(MAX_BUSY_WAITS):
        asked = work.ask(ActivityName.AUTHORISE, AgentName.SUPERVISOR, proposals=proposals)
        outcome = work.heard(ActivityName.AUTHORISE, (yield asked))
        if not outcome.ok:
            return None
        authorised = unpack(Authorised, outcome.value)
        if authorised.settled != "busy":
            return authorised
        yield work.context.timer(BUSY_WAIT)
    return None


def _perform_all(work: Work) -> Flow:
    """Do what was allowed, one after the other; what is not over in time goes on by itself (`run_action`)."""
    snapshot = work.state.snapshot
    done: list[ActionResult] = []
    for decided in work.state.decisions:
        if decided.status is not ActionStatus.IN_PROGRESS or snapshot.customer_id is None:
            continue
        ref = ActionRef(tenant_id=snapshot.tenant_id, account_id=snapshot.customer_id, action_id=decided.action_id)
        ended = yield from perform(
            work.context, work.exchange, ref, base_version=work.state.version, rounds=ROUNDS_IN_TURN
        )
        if ended is not None:
            done.extend(ended.actions)
    if done:
        work.apply(ActionDelta(base_version=work.state.version, confidence=1.0, actions=tuple(done)))
