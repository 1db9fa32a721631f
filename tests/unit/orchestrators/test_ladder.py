"""The ladder inside an activity: what is retried, what is not, and that it never raises."""

import asyncio
from dataclasses import replace

import pytest

from orchestrators.activities.ladder import climb
from shared.domain.agents import SPECS, AgentName
from shared.domain.errors import AgentTimeout, IntegrationError, RateLimited, SchemaError, Unavailable
from shared.domain.retries import LADDER


class Script:
    """An agent that fails as scripted, then answers; and a sleep that notes how long it was asked to wait."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls: list[bool] = []
        self.waits: list[float] = []

    async def attempt(self, *, is_reduced: bool) -> str:
        """Fail with the next failure, or answer."""
        self.calls.append(is_reduced)
        if self.failures:
            raise self.failures.pop(0)
        return "fine"

    async def sleep(self, seconds: float) -> None:
        """Note the wait."""
        self.waits.append(seconds)


@pytest.mark.req("GO-02")
async def test_a_first_success_climbs_nothing() -> None:
    """GO-02."""
    script = Script()

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert (outcome.ok, outcome.rungs, script.calls) == (True, (), [False])


@pytest.mark.req("GO-02", "PR-04")
async def test_a_transient_failure_is_retried_twice_at_once_then_with_back_off_then_reduced() -> None:
    """S2 §5 "Retry logic": immediate (max 2) → back-off → reduced scope."""
    script = Script(*(Unavailable("down") for _ in range(4)))

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert outcome.ok
    assert outcome.rungs == ("identical", "identical", "backoff", "reduced_scope")
    assert script.calls == [False, False, False, False, True]
    assert script.waits == [0.2]


@pytest.mark.req("GO-02")
async def test_a_lasting_failure_is_not_repeated_unchanged() -> None:
    """S2 §5: identical parameters for transient faults only."""
    script = Script(SchemaError("bad"), SchemaError("bad"))

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert not outcome.ok
    assert outcome.rungs == ("reduced_scope",)


@pytest.mark.req("GO-02")
async def test_a_rate_limit_is_waited_out() -> None:
    """Fault 094: wait at least what was asked."""
    script = Script(RateLimited("slow down", retry_after_s=2.0))

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert outcome.ok
    assert script.waits == [2.0]


@pytest.mark.req("GO-01", "OB-02")
@pytest.mark.parametrize(
    ("failure", "expected"),
    [(AgentTimeout("late"), "timeout"), (IntegrationError("odd"), "integration"), (ValueError("x"), "integration")],
    ids=["timeout", "integration", "defect"],
)
async def test_exhausted_rungs_report_the_class_of_failure_and_never_raise(failure: Exception, expected: str) -> None:
    """OB-02 taxonomy; an agent's defect must not hang the turn."""
    script = Script(*([failure] * (2 + sum(r.attempts for r in LADDER))))

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error.error_class == expected


@pytest.mark.req("PV-05")
async def test_a_foreign_errors_text_is_not_kept() -> None:
    """Conventions: a library's message may quote the customer."""
    script = Script(*[ValueError("ana@x.example")] * 9)

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, script.attempt, sleep=script.sleep)

    assert "ana" not in outcome.model_dump_json()


@pytest.mark.req("GO-01")
async def test_the_watchdog_ends_an_agent_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """GO-01: a timeout watchdog per invocation."""
    spec = SPECS[AgentName.INTAKE_CLASSIFIER]
    monkeypatch.setitem(SPECS, AgentName.INTAKE_CLASSIFIER, replace(spec, timeout_s=0.01))

    async def hang(*, is_reduced: bool) -> str:
        await asyncio.Event().wait()
        return ""

    outcome = await climb(AgentName.INTAKE_CLASSIFIER, hang, sleep=Script().sleep)

    assert outcome.error is not None
    assert outcome.error.error_class == "timeout"
