"""Step 2 of a turn: four readers at once, one join, then only what the real intent changes.

Source: LA-01, ES-01, KB-12.
"""

from typing import Final

from orchestrators.context import Flow
from orchestrators.flows.work import Work
from orchestrators.names import ActivityName
from orchestrators.routing import needs_billing, needs_second_look
from shared.domain.agents import AgentName
from shared.domain.deltas import (
    AccountDelta,
    AnyDelta,
    ClassificationDelta,
    EscalationDelta,
    KnowledgeDelta,
)
from shared.domain.intents import CustomerIntent
from shared.wire import unpack

Step = tuple[ActivityName, AgentName, type[AnyDelta]]
"""An agent's activity, the agent, and the delta it returns."""

RETRIEVE: Final[Step] = (ActivityName.RETRIEVE, AgentName.KNOWLEDGE_RETRIEVER, KnowledgeDelta)
READ_ACCOUNT: Final[Step] = (ActivityName.READ_ACCOUNT, AgentName.ACCOUNT_CONTEXT, AccountDelta)
FIRST_LOOK: Final[tuple[Step, ...]] = (
    (ActivityName.CLASSIFY, AgentName.INTAKE_CLASSIFIER, ClassificationDelta),
    (ActivityName.DETECT_ESCALATION, AgentName.ESCALATION_DETECTOR, EscalationDelta),
    RETRIEVE,
    READ_ACCOUNT,
)
"""The four readers, run at once. Source: LA-01, ES-01."""


def understand(work: Work) -> Flow:
    """Run the four readers, apply their deltas as one step, then redo only what the real intent changes."""
    yield from _look(work, FIRST_LOOK, is_second=False)
    again = [
        *([RETRIEVE] if needs_second_look(work.state) else []),
        *([READ_ACCOUNT] if needs_billing(work.state) else []),
    ]
    yield from _look(work, tuple(again), is_second=True)


def retrieve_again(work: Work) -> Flow:
    """Search once more with the real intent and its neighbours; the better finding counts (KB-12)."""
    activity, agent, _ = RETRIEVE
    outcome = work.heard(activity, (yield work.ask(activity, agent, intent=_intent(work), is_widened=True)))
    work.figures.note(has_widened=True)
    if outcome.ok:
        found = unpack(KnowledgeDelta, outcome.value)
        if work.state.knowledge is None or found.knowledge.confidence > work.state.knowledge.confidence:
            work.apply(found)


def _look(work: Work, steps: tuple[Step, ...], *, is_second: bool) -> Flow:
    """Ask at once; a step that gives up leaves its field empty for routing to see."""
    intent = _intent(work) if is_second else None
    if steps:
        tasks = [work.ask(activity, agent, intent=intent) for activity, agent, _ in steps]
        results = yield work.context.all(tasks)
        deltas: list[AnyDelta] = []
        for (activity, _, kind), raw in zip(steps, results, strict=True):
            outcome = work.heard(activity, raw)
            if outcome.ok:
                deltas.append(unpack(kind, outcome.value))
        work.apply(*deltas)


def _intent(work: Work) -> CustomerIntent | None:
    return work.state.classification.customer_intent if work.state.classification else None
