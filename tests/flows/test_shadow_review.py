"""A second validator judges a sample beside the review: whether it agrees is kept, and nothing else of it counts."""

import pytest

from orchestrators.names import ActivityName
from shared.domain.drafts import Check, CheckVerdict
from shared.domain.ticket import Outcome
from tests.flows.running import Flows
from tests.flows.scripted import ScriptedReviewer
from tests.flows.shop import GROUNDED, QUESTION, TRUE_DRAFT, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

STRICT = (CheckVerdict(check=Check.TONE, is_passed=False, reason="too dry"),)


@pytest.mark.req("SU-06", "SC-02")
@pytest.mark.parametrize(("says", "kept"), [(GROUNDED, "agree"), (STRICT, "differ")], ids=["agrees", "differs"])
async def test_the_shadows_verdict_is_compared_and_changes_nothing(
    flows: Flows, says: tuple[CheckVerdict, ...], kept: str
) -> None:
    """Its drift is measured; the customer gets what the review in charge approved."""
    await flows.govern(phase="consolidation", shadow_sample=1.0, audit_sample=1.0)
    shadow = ScriptedReviewer("shadow").then(says)
    flows.play_with(shadow_reviewer=shadow)
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    record = await flows.record(sent)
    assert result.outcome is Outcome.ANSWERED
    assert (record.shadow, record.is_audited, record.is_first) == (kept, True, True)
    assert len(flows.calls(sent, ActivityName.SHADOW_REVIEW)) == 1


@pytest.mark.req("SU-06")
async def test_a_shadow_that_fails_costs_nobody_anything(flows: Flows) -> None:
    """No second opinion is no disagreement."""
    await flows.govern(phase="consolidation", shadow_sample=1.0)
    flows.play_with(shadow_reviewer=ScriptedReviewer("shadow").then(*[RuntimeError("broken")] * 9))
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert (await flows.record(sent)).shadow in ("", "differ")
    await flows.govern(phase="foundation")


@pytest.mark.req("SU-06")
async def test_without_a_sample_nothing_is_shadowed(flows: Flows) -> None:
    """Phase foundation draws nobody."""
    await flows.govern(phase="foundation")
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    await flows.result(sent)

    assert (await flows.record(sent)).shadow == ""
    assert flows.calls(sent, ActivityName.SHADOW_REVIEW) == []
