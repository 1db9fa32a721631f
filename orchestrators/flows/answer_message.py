"""The turn: one deterministic flow a message, from an accepted row to a reply or a person.

1 open        compare the ticket, take a snapshot
2 in parallel classify ∥ detect escalation ∥ retrieve ∥ account; one join; then only what the real intent changes
3 route       one pure function
4 compose ⇄ review, at most two revisions on typed reasons
5 authorise   only when an action is to be logged: the supervisor mints, the executor acts
6 deliver     one conditional write; then record
Any step that gives up sends the turn to a person. Nothing but small JSON crosses a yield. Source: design §3–5.
"""

from datetime import timedelta
from typing import Final

from orchestrators.context import Flow, FlowContext
from orchestrators.names import ActivityName
from orchestrators.routing import WHICH_ORDER, needs_billing, needs_second_look, route
from shared.domain.agents import COMPOSER_FLOOR
from shared.domain.deltas import (
    AccountDelta,
    ActionDelta,
    AnyDelta,
    ClassificationDelta,
    DraftDelta,
    EscalationDelta,
    KnowledgeDelta,
    TurnState,
    apply_batch,
)
from shared.domain.drafts import ApprovedReply, Check, CheckVerdict
from shared.domain.human_triggers import HumanTrigger
from shared.domain.outcome import Outcome
from shared.domain.retries import MAX_REISSUES, MAX_REVISIONS
from shared.domain.turns import (
    CannedKind,
    DeliverInput,
    HandOverInput,
    OpenedTurn,
    Reviewed,
    Route,
    RouteKind,
    Settlement,
    StepTimes,
    TurnInput,
)
from shared.wire import Json, decode, encode, pack, unpack

BUSY_WAIT: Final = timedelta(milliseconds=300)
"""Pause before asking again while an earlier turn of the conversation delivers. Value ours."""
MAX_BUSY_WAITS: Final = 100
"""Pauses before the earlier turn is taken for dead and a person is asked (30 s). Value ours."""

RECORD_WAIT: Final = timedelta(seconds=30)
"""Pause before a turn that could not be recorded is recorded again. Value ours."""
MAX_RECORD_WAITS: Final = 20
"""Pauses after which the store is taken for gone (10 min). Value ours."""

Step = tuple[ActivityName, type[AnyDelta]]
"""An agent's activity and the delta it returns."""

FIRST_LOOK: Final[tuple[Step, ...]] = (
    (ActivityName.CLASSIFY, ClassificationDelta),
    (ActivityName.DETECT_ESCALATION, EscalationDelta),
    (ActivityName.RETRIEVE, KnowledgeDelta),
    (ActivityName.READ_ACCOUNT, AccountDelta),
)
"""The four readers of step 2, run at once. Source: LA-01, ES-01."""

CANNED: Final = {
    RouteKind.CLARIFY: CannedKind.CLARIFICATION,
    RouteKind.SOCIAL: CannedKind.SOCIAL,
    RouteKind.OUT_OF_SCOPE: CannedKind.OUT_OF_SCOPE,
}
"""Routes answered by a fixed, claim-free text (design §4)."""


def answer_message_flow(context: FlowContext) -> Flow:
    """Answer one accepted message; return how it was settled."""
    turn = decode(TurnInput, context.input())
    times = StepTimes()
    settlement = Settlement(settled="done")
    state: TurnState | None = None
    for _ in range(MAX_REISSUES + 1):
        opened = unpack(OpenedTurn, (yield context.call(ActivityName.OPEN_TURN, encode(turn))))
        if opened.snapshot is None:
            break
        state, times, settlement = yield from _attempt(context, turn, TurnState(snapshot=opened.snapshot), times)
        if settlement.settled != "stale":
            break
    else:
        keeps_changing = _failed(HumanTrigger.LOOP, "the ticket keeps changing")
        settlement = yield from _to_person(context, turn, state, keeps_changing, is_last=True)
    yield from _record(context, {"turn": encode(turn), "times": encode(times)})
    return {"settled": settlement.settled}


def _record(context: FlowContext, payload: Json) -> Flow:
    """Record the turn; nothing comes after it and nobody else would, so it is asked for until the store is back."""
    for pauses_left in reversed(range(MAX_RECORD_WAITS + 1)):
        recorded = decode(Outcome, (yield context.call(ActivityName.RECORD, payload)))
        if recorded.ok or not pauses_left:
            return
        yield context.timer(RECORD_WAIT)


def _attempt(context: FlowContext, turn: TurnInput, state: TurnState, times: StepTimes) -> Flow:
    """Work one snapshot through to a settlement; "stale" asks for a fresh snapshot."""
    state, times = yield from _understand(context, state, times)
    decision = route(state, has_widened=False)
    if decision.kind is RouteKind.RETRIEVE_AGAIN:
        state, times = yield from _retrieve_again(context, state, times, is_widened=True)
        decision = route(state, has_widened=True)
    if decision.kind is RouteKind.PERSON:
        state = yield from _log_request(context, state, decision)
        return state, times, (yield from _to_person(context, turn, state, decision))
    if decision.kind is not RouteKind.ANSWER:
        canned = CannedKind.WHICH_ORDER if decision.reason == WHICH_ORDER else CANNED[decision.kind]
        return state, times, (yield from _deliver(context, turn, state, canned=canned))
    return (yield from _compose_and_review(context, turn, state, times))


def _understand(context: FlowContext, state: TurnState, times: StepTimes) -> Flow:
    """Run the four readers at once, apply their deltas as one step, then redo only what the real intent changes."""
    payload = {"state": pack(state)}
    results = yield context.all([context.call(step, payload) for step, _ in FIRST_LOOK])
    state, times = _joined(state, times, FIRST_LOOK, results)
    again: list[Step] = []
    if needs_second_look(state):
        again.append((ActivityName.RETRIEVE, KnowledgeDelta))
    if needs_billing(state):
        again.append((ActivityName.READ_ACCOUNT, AccountDelta))
    if again:
        results = yield context.all([context.call(step, _second_look(state)) for step, _ in again])
        state, times = _joined(state, times, tuple(again), results)
    return state, times


def _retrieve_again(context: FlowContext, state: TurnState, times: StepTimes, *, is_widened: bool) -> Flow:
    """Search once more with the real intent and its neighbours (KB-12)."""
    raw = yield context.call(ActivityName.RETRIEVE, {**_second_look(state), "is_widened": is_widened})
    outcome = decode(Outcome, raw)
    times = _timed(times, ActivityName.RETRIEVE, outcome)
    if outcome.ok:
        found = unpack(KnowledgeDelta, outcome.value)
        if state.knowledge is None or found.knowledge.confidence > state.knowledge.confidence:
            state = apply_batch(state, (found,))
    return state, times


def _compose_and_review(context: FlowContext, turn: TurnInput, state: TurnState, times: StepTimes) -> Flow:
    """Compose and review until approved, at most MAX_REVISIONS revisions; then deliver or hand over."""
    has_widened = False
    verdicts: tuple[CheckVerdict, ...] = ()
    attempt = 0
    while attempt <= MAX_REVISIONS:
        revision = {"verdicts": [encode(v) for v in verdicts], "attempt": attempt} if attempt else None
        composed = decode(
            Outcome, (yield context.call(ActivityName.COMPOSE, {"state": pack(state), "revision": revision}))
        )
        times = _timed(times, ActivityName.COMPOSE, composed)
        if not composed.ok:
            return state, times, (yield from _give_up(context, turn, state, HumanTrigger.AGENT_FAILURE, "no draft"))
        state = apply_batch(state, (unpack(DraftDelta, composed.value),))
        if state.draft is None or state.draft.confidence < COMPOSER_FLOOR:
            if not has_widened:
                has_widened = True
                state, times = yield from _retrieve_again(context, state, times, is_widened=True)
                continue
            return state, times, (yield from _give_up(context, turn, state, HumanTrigger.LOW_COMPOSER, "unsure draft"))
        reviewed = decode(Outcome, (yield context.call(ActivityName.REVIEW, {"state": pack(state)})))
        times = _timed(times, ActivityName.REVIEW, reviewed)
        if not reviewed.ok or reviewed.value is None:
            return state, times, (yield from _give_up(context, turn, state, HumanTrigger.AGENT_FAILURE, "no verdict"))
        judged = unpack(Reviewed, reviewed.value)
        state = apply_batch(state, (judged.delta,))
        if judged.approved is not None:
            return state, times, (yield from _deliver(context, turn, state, approved=judged.approved))
        verdicts = state.review.failures if state.review else ()
        attempt += 1
        times = times.model_copy(update={"revisions": attempt})
    is_grounding = any(v.check is Check.GROUNDING for v in verdicts)
    trigger = HumanTrigger.GROUNDING_FAILURE if is_grounding else HumanTrigger.REVIEW_FAILURE
    return state, times, (yield from _give_up(context, turn, state, trigger, "the draft failed review"))


def _deliver(
    context: FlowContext,
    turn: TurnInput,
    state: TurnState,
    *,
    approved: ApprovedReply | None = None,
    canned: CannedKind | None = None,
) -> Flow:
    """Write the reply if the turn may still answer, waiting while an earlier turn delivers."""
    payload = pack(
        DeliverInput(
            turn=turn,
            state=_without_draft(state),
            base_version=state.snapshot.version,
            approved=approved,
            canned=canned,
        )
    )
    for _ in range(MAX_BUSY_WAITS):
        settlement = decode(Settlement, (yield context.call(ActivityName.DELIVER, {"request": payload})))
        if settlement.settled != "busy":
            return settlement
        yield context.timer(BUSY_WAIT)
    return (yield from _give_up(context, turn, state, HumanTrigger.LOOP, "an earlier turn never delivered"))


def _log_request(context: FlowContext, state: TurnState, decision: Route) -> Flow:
    """Let the supervisor authorise, and the executor write, the note that the customer asks for a change (AX-01)."""
    if not decision.proposed or state.snapshot.customer_id is None:
        return state
    authorised = decode(Outcome, (yield context.call(ActivityName.AUTHORISE, {"state": pack(state)})))
    if not authorised.ok or authorised.value is None:
        return state
    executed = decode(
        Outcome, (yield context.call(ActivityName.EXECUTE, {"state": pack(state), "grant": authorised.value}))
    )
    if not executed.ok:
        return state
    return apply_batch(state, (unpack(ActionDelta, executed.value),))


def _to_person(
    context: FlowContext, turn: TurnInput, state: TurnState | None, decision: Route, *, is_last: bool = False
) -> Flow:
    """Open the case, then tell the customer; both in one activity that may be repeated (fault 001).

    `is_last` hands over whatever the ticket's version: there will be no fresh snapshot (fault 007).
    """
    if state is None:
        return Settlement(settled="stale")
    version = None if is_last else state.snapshot.version
    payload = pack(HandOverInput(turn=turn, state=state, base_version=version, route=decision, draft=state.draft))
    for _ in range(MAX_BUSY_WAITS):
        settlement = decode(Settlement, (yield context.call(ActivityName.HAND_OVER, {"request": payload})))
        if settlement.settled != "busy":
            return settlement
        yield context.timer(BUSY_WAIT)
    return Settlement(settled="busy")


def _give_up(context: FlowContext, turn: TurnInput, state: TurnState, trigger: HumanTrigger, reason: str) -> Flow:
    """Hand the turn to a person with whatever was drafted."""
    return (yield from _to_person(context, turn, state, _failed(trigger, reason)))


def _failed(trigger: HumanTrigger, reason: str) -> Route:
    return Route(kind=RouteKind.PERSON, triggers=(trigger,), reason=reason)


def _without_draft(state: TurnState) -> TurnState:
    """Return the state without what an approval carries anyway."""
    return state.model_copy(update={"draft": None, "review": None})


def _joined(
    state: TurnState, times: StepTimes, steps: tuple[Step, ...], results: list[object]
) -> tuple[TurnState, StepTimes]:
    """Apply one join's deltas as one version step; a step that gave up leaves its field empty for routing to see."""
    deltas: list[AnyDelta] = []
    for (step, kind), raw in zip(steps, results, strict=True):
        outcome = decode(Outcome, raw)
        times = _timed(times, step, outcome)
        if outcome.ok:
            deltas.append(unpack(kind, outcome.value))
    return apply_batch(state, tuple(deltas)), times


def _second_look(state: TurnState) -> Json:
    intent = state.classification.customer_intent.value if state.classification else None
    return {"state": pack(state), "intent": intent}


def _timed(times: StepTimes, step: ActivityName, outcome: Outcome) -> StepTimes:
    took = {**times.took_ms, step.value: times.took_ms.get(step.value, 0) + outcome.took_ms}
    rungs = {**times.rungs, step.value: times.rungs.get(step.value, 0) + len(outcome.rungs)}
    return times.model_copy(update={"took_ms": took, "rungs": rungs})
