"""What a turn's flow has in hand while it works: the message, the state so far, the exchange and the figures.

Rebuilt in every episode; nothing outlives the generator. Source: design §3.
"""

from dataclasses import dataclass, field
from typing import Final

from orchestrators.context import FlowContext, Task
from orchestrators.flows.exchange import Exchange
from orchestrators.names import ActivityName
from shared.domain.actions import Proposal
from shared.domain.agents import AgentName
from shared.domain.deltas import AnyDelta, TurnState, apply_batch, view
from shared.domain.drafts import CheckVerdict
from shared.domain.envelope import ReadRequest
from shared.domain.intents import CustomerIntent
from shared.domain.outcome import Outcome
from shared.domain.policy import RoutingRules
from shared.domain.routing_facts import RoutingFacts, facts_of
from shared.domain.sources import Passage
from shared.domain.turns import StepTimes, TurnInput
from shared.wire import Remembered, pack

REMEMBERED_FACTS: Final = 512
"""Facts found in earlier episodes that are kept: those of some two hundred turns in flight. Value ours."""
FACTS: Final = Remembered[RoutingFacts](REMEMBERED_FACTS)
"""What routing knew at one place of one run, so that a replay does not read the message again."""


@dataclass(slots=True)
class Figures:
    """What will be recorded of the turn, all its snapshots together."""

    took_ms: dict[str, int] = field(default_factory=dict)
    rungs: dict[str, int] = field(default_factory=dict)
    noted: dict[str, object] = field(default_factory=dict)

    def note(self, **figures: object) -> None:
        """Keep these for the record, over what was kept before."""
        self.noted.update(figures)

    def count(self, step: ActivityName, outcome: Outcome) -> None:
        """Add one answer's time and rungs."""
        self.took_ms[step.value] = self.took_ms.get(step.value, 0) + outcome.took_ms
        self.rungs[step.value] = self.rungs.get(step.value, 0) + len(outcome.rungs)

    def times(self) -> StepTimes:
        """Return the record's part."""
        return StepTimes.model_validate({"took_ms": self.took_ms, "rungs": self.rungs, **self.noted})


@dataclass(slots=True)
class Work:
    """One attempt at a turn on one snapshot."""

    context: FlowContext
    turn: TurnInput
    exchange: Exchange
    state: TurnState
    figures: Figures
    revisions: int = 0
    conflicts: tuple[Passage, ...] = ()
    _packed: str | None = None

    @property
    def rules(self) -> RoutingRules:
        """Return the tenant's thresholds as of this snapshot."""
        return self.state.snapshot.rules

    def seen_by(self, agent: AgentName) -> str:
        """Return the state as the agent is handed it, packed; agents that see the same get the same text."""
        seen = view(self.state, agent)
        if seen is not self.state:
            return pack(seen)
        if self._packed is None:
            self._packed = pack(seen)
        return self._packed

    def ask(
        self,
        activity: ActivityName,
        agent: AgentName,
        *,
        intent: CustomerIntent | None = None,
        is_widened: bool = False,
        verdicts: tuple[CheckVerdict, ...] = (),
        attempt: int = 0,
        proposals: tuple[Proposal, ...] = (),
    ) -> Task:
        """Ask an agent to look at the state as it stands."""

        def make() -> ReadRequest:
            return ReadRequest(
                state=self.seen_by(agent),
                intent=intent,
                is_widened=is_widened,
                verdicts=verdicts,
                attempt=attempt,
                proposals=proposals,
            )

        return self.exchange.read_made(activity, make)

    def apply(self, *deltas: AnyDelta) -> None:
        """Apply one join's deltas as one version step."""
        self.state = apply_batch(self.state, deltas)
        self._packed = None

    def heard(self, step: ActivityName, raw: object) -> Outcome:
        """Return the agent's outcome, its time and rungs added to the figures."""
        outcome = self.exchange.heard(raw)
        self.figures.count(step, outcome)
        return outcome

    def facts(self) -> RoutingFacts:
        """Return what routing knows now, and keep it for the record."""
        revisions, has_conflict = self.revisions, bool(self.conflicts)
        facts = FACTS.once(
            (self.exchange.place, self.state.version, revisions, has_conflict),
            lambda: facts_of(self.state, revisions=revisions, has_conflict=has_conflict),
        )
        self.figures.note(facts=facts, revisions=self.revisions)
        return facts
