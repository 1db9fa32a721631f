"""The ladder inside an activity: what is retried, what is not, and that it never raises."""

import asyncio
import math

import pytest

from orchestrators.activities.ladder import climb
from shared.domain.agents import SPECS, AgentName
from shared.domain.errors import AgentTimeout, IntegrationError, RateLimited, SchemaError, Unavailable
from shared.domain.outcome import Outcome
from shared.domain.retries import JITTER_SHARE, LADDER, LATER, Rung


class Script:
    """An agent that fails as scripted, then answers; and its own time, which passes by calling and by sleeping."""

    def __init__(self, *failures: Exception, call_s: float = 0.0) -> None:
        self.failures = list(failures)
        self.calls: list[bool] = []
        self.waits: list[float] = []
        self.at = 0.0
        self.call_s = call_s

    async def attempt(self, *, is_reduced: bool) -> str:
        """Fail with the next failure, or answer."""
        self.calls.append(is_reduced)
        self.at += self.call_s
        if self.failures:
            raise self.failures.pop(0)
        return "fine"

    async def sleep(self, seconds: float) -> None:
        """Note the wait, and let it be over."""
        self.waits.append(seconds)
        self.at += seconds

    def now(self) -> float:
        """Return the script's seconds."""
        return self.at

    async def climb(self, *, dice: float = 0.0, within_s: float = math.inf) -> Outcome:
        """Climb as the classifier, whose attempts have SPECS' deadline."""
        return await climb(
            AgentName.INTAKE_CLASSIFIER,
            self.attempt,
            sleep=self.sleep,
            now=self.now,
            dice=lambda: dice,
            within_s=within_s,
        )


@pytest.mark.req("GO-02")
async def test_a_first_success_climbs_nothing() -> None:
    """GO-02."""
    script = Script()

    outcome = await script.climb()

    assert (outcome.ok, outcome.rungs, script.calls) == (True, (), [False])


@pytest.mark.req("GO-02", "PR-04")
async def test_a_transient_failure_is_retried_twice_at_once_then_with_back_off_then_reduced() -> None:
    """S2 §5 "Retry logic": immediate (max 2) → back-off → reduced scope."""
    script = Script(*(Unavailable("down") for _ in range(5)))

    outcome = await script.climb()

    assert outcome.ok
    assert outcome.rungs == ("identical", "identical", "backoff", "backoff", "reduced_scope")
    assert script.calls == [False, False, False, False, False, True]
    assert script.waits == [0.2, 0.4]


@pytest.mark.req("GO-02")
async def test_a_lasting_failure_is_not_repeated_unchanged() -> None:
    """S2 §5: identical parameters for transient faults only."""
    script = Script(SchemaError("bad"), SchemaError("bad"))

    outcome = await script.climb()

    assert not outcome.ok
    assert outcome.rungs == ("reduced_scope",)


@pytest.mark.req("GO-02")
@pytest.mark.parametrize("dice", [0.0, 0.5, 1.0])
async def test_fault_094_a_rate_limit_is_waited_out_each_time_with_jitter_on_top(dice: float) -> None:
    """429 with Retry-After: 2, twice, then 200: never five tries within 0.15 s."""
    script = Script(*(RateLimited("slow down", retry_after_s=2.0) for _ in range(2)))

    outcome = await script.climb(dice=dice)

    assert outcome.ok
    assert script.waits == [pytest.approx(2.0 * (1 + JITTER_SHARE * dice))] * 2
    assert all(wait >= 2.0 for wait in script.waits)
    assert script.at < SPECS[AgentName.INTAKE_CLASSIFIER].timeout_s


@pytest.mark.req("GO-02")
@pytest.mark.parametrize("retry_after_s", [3600.0, math.inf])
async def test_fault_094_a_wait_that_outlasts_the_deadline_is_not_begun(retry_after_s: float) -> None:
    """The turn goes on down the ladder at once instead of waiting for what cannot help it any more."""
    script = Script(*(RateLimited("slow down", retry_after_s=retry_after_s) for _ in range(9)))

    outcome = await script.climb()

    assert not outcome.ok
    assert (script.waits, script.calls, outcome.rungs) == ([], [False], ())


@pytest.mark.req("GO-02")
async def test_fault_094_the_end_of_the_turn_ends_the_ladder_before_its_own_deadline_does() -> None:
    script = Script(*(RateLimited("slow down", retry_after_s=2.0) for _ in range(9)))

    outcome = await script.climb(within_s=5.0)

    assert not outcome.ok
    assert (script.waits, script.at) == ([2.0, 2.0], 4.0)


@pytest.mark.req("GO-02", "GO-01")
async def test_all_rungs_together_keep_one_deadline() -> None:
    """Slow failures use up the patience; then the failure is reported, and nothing more is tried."""
    limit_s = SPECS[AgentName.INTAKE_CLASSIFIER].timeout_s
    script = Script(*(Unavailable("down") for _ in range(9)), call_s=0.9 * limit_s)

    outcome = await script.climb()

    assert not outcome.ok
    assert len(script.calls) == 3
    assert outcome.took_ms < 3 * limit_s * 1000


@pytest.mark.req("GO-02")
async def test_two_that_failed_together_do_not_come_back_together() -> None:
    first, second = Script(*[Unavailable("down")] * 3), Script(*[Unavailable("down")] * 3)

    await first.climb(dice=0.1)
    await second.climb(dice=0.9)

    assert first.waits != second.waits


@pytest.mark.req("GO-02", "PR-04")
def test_the_ladder_is_s2s_in_its_order() -> None:
    """At most two identical tries, of transient failures only; then later, smaller, without claims, and a person."""
    assert (*(spec.rung for spec in LADDER), *LATER) == tuple(Rung)
    assert (LADDER[0].attempts, LADDER[0].wait_s, LADDER[0].only_transient) == (2, 0.0, True)


@pytest.mark.req("GO-01", "OB-02")
@pytest.mark.parametrize(
    ("failure", "expected"),
    [(AgentTimeout("late"), "timeout"), (IntegrationError("odd"), "integration"), (ValueError("x"), "integration")],
    ids=["timeout", "integration", "defect"],
)
async def test_exhausted_rungs_report_the_class_of_failure_and_never_raise(failure: Exception, expected: str) -> None:
    """OB-02 taxonomy; an agent's defect must not hang the turn."""
    script = Script(*([failure] * (2 + sum(r.attempts for r in LADDER))))

    outcome = await script.climb()

    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error.error_class == expected


@pytest.mark.req("PV-05")
async def test_a_foreign_errors_text_is_not_kept() -> None:
    """Conventions: a library's message may quote the customer."""
    script = Script(*[ValueError("ana@x.example")] * 9)

    outcome = await script.climb()

    assert "ana" not in outcome.model_dump_json()


@pytest.mark.req("GO-01", "GO-02")
async def test_the_watchdog_ends_an_agent_that_hangs_and_goes_on_with_less_of_it() -> None:
    """A timeout watchdog per invocation: what ran into the whole deadline is not repeated unchanged."""
    calls: list[bool] = []

    async def hang(*, is_reduced: bool) -> str:
        calls.append(is_reduced)
        await asyncio.Event().wait()
        return ""

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, hang, sleep=Script().sleep, now=lambda: 0.0, within_s=0.01)

    assert outcome.error is not None
    assert (outcome.error.error_class, outcome.rungs, calls) == ("timeout", ("reduced_scope",), [False, True])


@pytest.mark.req("GO-02")
async def test_a_timeout_inside_an_agent_is_transient() -> None:
    script = Script(TimeoutError())

    outcome = await script.climb()

    assert (outcome.ok, outcome.rungs) == (True, ("identical",))
