"""The turn: one deterministic flow a message, from an accepted row to a reply or a person.

1 open        compare the ticket, take a snapshot
2 in parallel classify ∥ detect escalation ∥ retrieve ∥ account; one join; then only what the real intent changes
3 route       one pure function
4 act         only when the customer asks for it: the supervisor decides and grants, the executor acts in its lane
5 compose ⇄ review, at most two revisions on typed reasons
6 deliver     one conditional write; then record
Every agent is asked in an envelope. Any step that gives up sends the turn to a person. Nothing but small JSON crosses
a yield. Source: design §3–5.
"""

from datetime import timedelta
from typing import Final

from orchestrators.context import Flow, FlowContext
from orchestrators.flows.acting import act
from orchestrators.flows.composing import compose_and_review
from orchestrators.flows.exchange import Exchange
from orchestrators.flows.settling import deliver, give_up, to_person
from orchestrators.flows.understanding import retrieve_again, understand
from orchestrators.flows.work import Figures, Work
from orchestrators.names import ActivityName
from orchestrators.routing import WHICH_ORDER, route
from shared.domain.deltas import TurnState
from shared.domain.envelope import RecordRequest
from shared.domain.human_triggers import HumanTrigger
from shared.domain.retries import MAX_REISSUES
from shared.domain.turns import CannedKind, OpenedTurn, RouteKind, Settlement, StepTimes, TurnInput
from shared.wire import decode, encode, unpack

RECORD_WAIT: Final = timedelta(seconds=30)
"""Pause before a turn that could not be recorded is recorded again. Value ours."""
MAX_RECORD_WAITS: Final = 20
"""Pauses after which the store is taken for gone (10 min). Value ours."""

CANNED: Final = {
    RouteKind.CLARIFY: CannedKind.CLARIFICATION,
    RouteKind.SOCIAL: CannedKind.SOCIAL,
    RouteKind.OUT_OF_SCOPE: CannedKind.OUT_OF_SCOPE,
}
"""Routes answered by a fixed, claim-free text (design §4)."""


def answer_message_flow(context: FlowContext) -> Flow:
    """Answer one accepted message; return how it was settled."""
    turn = decode(TurnInput, context.input())
    exchange = Exchange(context, turn.tenant_id, turn.conversation_id)
    figures = Figures()
    settlement = Settlement(settled="done")
    work: Work | None = None
    # A fresh snapshot a time: the same message routed again more than twice is a loop (GO-01, fault 007).
    for _ in range(MAX_REISSUES + 1):
        opened = unpack(OpenedTurn, (yield context.call(ActivityName.OPEN_TURN, encode(turn))))
        if opened.snapshot is None:
            break
        exchange.about(opened.snapshot)
        work = Work(context, turn, exchange, TurnState(snapshot=opened.snapshot), figures)
        figures.note(is_first=opened.snapshot.is_first_reply, is_audited=opened.snapshot.is_audited)
        settlement = yield from _attempt(work)
        if settlement.settled != "stale":
            break
    else:
        if work is not None:
            settlement = yield from give_up(work, HumanTrigger.LOOP, "the ticket keeps changing", is_last=True)
    yield from _record(exchange, turn, figures.times())
    return {"settled": settlement.settled}


def _attempt(work: Work) -> Flow:
    """Work one snapshot through to a settlement; "stale" asks for a fresh snapshot."""
    yield from understand(work)
    decision = route(work.facts(), work.rules, has_widened=False)
    if decision.kind is RouteKind.RETRIEVE_AGAIN:
        yield from retrieve_again(work)
        decision = route(work.facts(), work.rules, has_widened=True)
    if decision.kind is RouteKind.PERSON:
        return (yield from to_person(work, decision))
    if decision.kind is RouteKind.ACT and decision.act is not None:
        return (yield from act(work, decision.act))
    if decision.kind is not RouteKind.ANSWER:
        canned = CannedKind.WHICH_ORDER if decision.reason == WHICH_ORDER else CANNED[decision.kind]
        return (yield from deliver(work, canned=canned))
    return (yield from compose_and_review(work))


def _record(exchange: Exchange, turn: TurnInput, times: StepTimes) -> Flow:
    """Record the turn; nothing comes after it and nobody else would, so it is asked for until the store is back."""
    trail = exchange.trail
    for pauses_left in reversed(range(MAX_RECORD_WAITS + 1)):
        request = RecordRequest(turn=turn, times=times, trail=trail)
        recorded = exchange.heard((yield exchange.record(ActivityName.RECORD, request)))
        if recorded.ok or not pauses_left:
            return
        yield exchange.pause(RECORD_WAIT)
