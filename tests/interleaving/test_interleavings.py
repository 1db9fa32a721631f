"""Messages, desk, approvals, deadlines and crashes in any order: what must never happen never does.

300 drawn interleavings in CI, 10,000 in `make soak`. Source: GO-01, AX-03, SU-03, RT-01, PR-03.
"""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from shared import container
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.governance import Phase
from shared.settings import Settings
from tests.contracts.manual_clock import ManualClock
from tests.interleaving.world import MESSAGES, World

IN_CI: Final = 300
IN_SOAK: Final = 10_000
VERBS: Final = ("claim", "reply", "release", "resolve", "approve", "reject")
STEPS: Final = 25
"""Longest interleaving. Unit: rules."""


class _Ground:
    """What all worlds share: a loop, a store, services."""

    def __init__(self, path: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.services = container.build(Settings(data_dir=path), clock=self.clock)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run to the end."""
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        """Close the store and the loop."""
        container.use(None)
        if isinstance(self.services.documents, SqliteDocuments):
            self.run(self.services.documents.close())
        self.loop.close()


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[_Ground]:
    """What all worlds of a test share."""
    made = _Ground(tmp_path)
    try:
        yield made
    finally:
        made.close()


def machine(ground: _Ground) -> type[RuleBasedStateMachine]:
    """Return the machine over that ground."""

    class Interleaving(RuleBasedStateMachine):
        world: World

        @initialize(phase=st.sampled_from([Phase.FOUNDATION, Phase.CONSOLIDATION]))
        def open(self, phase: Phase) -> None:
            self.world = World(ground.services, ground.clock)
            ground.run(self.world.open(phase))

        @rule(who=st.integers(0, 1), chat=st.integers(0, 1), what=st.sampled_from(MESSAGES), order=st.integers(0, 2))
        def say(self, who: int, chat: int, what: str, order: int) -> None:
            ground.run(self.world.say(who, chat, what, order))

        @rule(places=st.lists(st.integers(0, 40), min_size=1, max_size=12), twice=st.integers(0, 9))
        def go_on(self, places: list[int], twice: int) -> None:
            for place in places:
                ground.run(self.world.step(place, is_twice=place % 10 == twice))
                ground.run(self.world.check_talk())

        @rule()
        def feed(self) -> None:
            ground.run(self.world.feed())

        @rule(
            verb=st.sampled_from(["claim", "reply", "release", "resolve", "approve", "reject"]), place=st.integers(0, 9)
        )
        def act_at_the_desk(self, verb: str, place: int) -> None:
            ground.run(self.world.desk(verb, place))

        @rule(seconds=st.sampled_from([1.0, 25.0, 70.0, 400.0, 4 * 3600.0, 80 * 3600.0]))
        def wait(self, seconds: float) -> None:
            ground.run(self.world.pass_time(seconds))

        @rule()
        def sweep(self) -> None:
            ground.run(self.world.sweep())

        @invariant()
        def holds(self) -> None:
            if hasattr(self, "world"):
                ground.run(self.world.check_talk())

        def teardown(self) -> None:
            if hasattr(self, "world"):
                ground.run(self.world.come_to_rest())
                ground.run(self.world.check_rest())

    return Interleaving


def play(ground: _Ground, examples: int, start: int) -> None:
    """Play that many interleavings from a seed."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(start)(machine(ground)), settings=chosen)


@pytest.mark.req("AX-02", "AX-03", "AX-04", "SU-03", "GO-01", "PR-03", "PR-04", "RT-01")
def test_no_interleaving_pays_twice_sends_unapproved_or_leaves_a_case_unseen(ground: _Ground) -> None:
    """Never sent without approved, never paid twice, never over the ceiling, never a bot where a person owns."""
    play(ground, IN_CI, 20_261)


@pytest.mark.soak
@pytest.mark.req("AX-02", "AX-03", "AX-04", "SU-03", "GO-01", "PR-03", "PR-04")
def test_ten_thousand_interleavings_keep_every_rule(ground: _Ground) -> None:
    """The same for long; VOUCH_SEED plays others."""
    play(ground, IN_SOAK, int(os.environ.get("VOUCH_SEED", "1")))
