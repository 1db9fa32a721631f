"""Step 5 of a turn: draft, review, revise on typed reasons at most twice; then deliver, or bring a person in.

Source: SU-02, SU-03, SU-05, SU-06, GO-03.
"""

from orchestrators.context import Flow
from orchestrators.flows.settling import deliver, give_up, to_person
from orchestrators.flows.understanding import retrieve_again
from orchestrators.flows.work import Work
from orchestrators.names import ActivityName
from orchestrators.routing import route_draft
from shared.domain.agents import AgentName
from shared.domain.deltas import DraftDelta
from shared.domain.drafts import CheckVerdict
from shared.domain.human_triggers import HumanTrigger
from shared.domain.outcome import Outcome
from shared.domain.retries import MAX_REVISIONS
from shared.domain.turns import Reviewed
from shared.wire import unpack


def compose_and_review(work: Work) -> Flow:
    """Compose and review until approved, at most MAX_REVISIONS revisions; then deliver or hand over."""
    verdicts: tuple[CheckVerdict, ...] = ()
    attempt, has_widened = 0, False
    while attempt <= MAX_REVISIONS:
        composed = yield from _compose(work, verdicts, attempt)
        if not composed.ok:
            return (yield from give_up(work, HumanTrigger.AGENT_FAILURE, "no draft"))
        work.apply(unpack(DraftDelta, composed.value))
        person = route_draft(work.facts(), work.rules)
        if person is not None and not has_widened and HumanTrigger.LOW_COMPOSER in person.triggers:
            has_widened = True
            yield from retrieve_again(work)
            continue
        if person is not None:
            return (yield from to_person(work, person))
        reviewed = yield from _review(work)
        if not reviewed.ok or reviewed.value is None:
            return (yield from give_up(work, HumanTrigger.AGENT_FAILURE, "no verdict"))
        judged = unpack(Reviewed, reviewed.value)
        work.apply(judged.delta)
        work.conflicts = judged.conflicts
        if judged.approved is not None and not judged.conflicts:
            return (yield from deliver(work, approved=judged.approved))
        verdicts = work.state.review.failures if work.state.review else ()
        attempt += 1
        work.revisions = attempt
        person = route_draft(work.facts(), work.rules)
        if person is not None:
            return (yield from to_person(work, person))
    return (yield from give_up(work, HumanTrigger.REVIEW_FAILURE, "the draft failed review"))


def _compose(work: Work, verdicts: tuple[CheckVerdict, ...], attempt: int) -> Flow:
    asked = work.ask(ActivityName.COMPOSE, AgentName.RESPONSE_COMPOSER, verdicts=verdicts, attempt=attempt)
    return work.heard(ActivityName.COMPOSE, (yield asked))


def _review(work: Work) -> Flow:
    """Review the draft; a sampled second validator judges beside it and only its agreement is kept (SU-06)."""
    ours = work.ask(ActivityName.REVIEW, AgentName.SUPERVISOR)
    if not work.state.snapshot.is_shadowed:
        return work.heard(ActivityName.REVIEW, (yield ours))
    first, second = yield work.context.all([ours, work.ask(ActivityName.SHADOW_REVIEW, AgentName.SUPERVISOR)])
    reviewed = work.heard(ActivityName.REVIEW, first)
    shadow = work.heard(ActivityName.SHADOW_REVIEW, second)
    work.figures.note(shadow=_agreement(reviewed, shadow))
    return reviewed


def _agreement(reviewed: Outcome, shadow: Outcome) -> str:
    if not (reviewed.ok and shadow.ok):
        return ""
    ours, theirs = unpack(Reviewed, reviewed.value), unpack(Reviewed, shadow.value)
    return "agree" if ours.delta.review.is_approved == theirs.delta.review.is_approved else "differ"
