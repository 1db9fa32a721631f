"""Every rung of the ladder and every reason for a person, reached by a message over HTTP."""

import secrets
from typing import Any

import pytest

from orchestrators.names import ActivityName
from shared.adapters.records.shop import ShopRecords
from shared.domain.actions import RULES
from shared.domain.case import CaseStatus
from shared.domain.deltas import Escalation
from shared.domain.errors import Unavailable
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ArticleId, approval_case_id
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.phrases import Phrase, phrase
from shared.domain.retries import LADDER
from shared.domain.sources import Profile
from shared.domain.ticket import Outcome, Owner, TicketStatus
from shared.ports.documents import CustomerScope
from tests.flows.running import SCOPE, Flows
from tests.flows.scripted import CALLS_UP_THE_LADDER
from tests.flows.shop import FALSE_DRAFT, GROUNDED, QUESTION, TENANT, TRUE_DRAFT, article, claiming, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOWN = Unavailable("the endpoint is down")
CLIMBED = [spec.rung for spec in LADDER for _ in range(spec.attempts)]
"""The rungs inside an activity, once an attempt."""


@pytest.mark.req("GO-02", "PR-04")
@pytest.mark.parametrize(
    "failures", range(1, len(CLIMBED) + 1), ids=[f"{n}-{rung}" for n, rung in enumerate(CLIMBED, 1)]
)
async def test_each_rung_inside_an_activity_saves_the_turn(flows: Flows, failures: int) -> None:
    """Immediate, identical (transient only) → back-off → reduced scope: the next try answers the customer."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[DOWN] * failures, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert (await flows.record(sent)).rungs[ActivityName.COMPOSE] == failures


@pytest.mark.req("GO-02", "PR-04", "RT-08")
async def test_beyond_them_the_customer_is_told_it_arrived_and_the_ticket_is_held_for_a_person(flows: Flows) -> None:
    """Template acknowledgment without claims → hold needs_review → human queue; unclaimed past its SLA → page."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[DOWN] * CALLS_UP_THE_LADDER)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ACKNOWLEDGED
    assert result.reply is not None
    assert phrase(Phrase.ACKNOWLEDGE, "en") in result.reply.value
    assert result.sources == ()
    assert (await flows.ticket(sent.conversation)).status is TicketStatus.NEEDS_REVIEW
    case = await flows.case(result.case_id)
    assert (case.status, case.triggers, case.reason) == (CaseStatus.OPEN, ("agent_failure",), "no draft")
    assert case.sources != ()
    await flows.let_pass(case.id)
    await flows.case_flow(case.id)
    assert (await flows.case(case.id)).is_paged


# -- the seven reasons of GO-03 ----------------------------------------------------------------------------------------


@pytest.mark.req("GO-03", "AX-02")
async def test_a_refund_above_the_ceiling_brings_a_person_to_the_action(flows: Flows) -> None:
    """1: an approval, while the bot keeps the conversation."""
    await flows.govern(phase="foundation")
    await flows.newcomer()
    order = await flows.order(status="delivered")
    flows.cast.classifier.then(understood(CustomerIntent.REFUND))

    sent = await flows.post(f"please refund order {order.order_id}", customer=flows.customer)
    result = await flows.result(sent)

    action = next(a for a in result.actions if a.type == "refund")
    case = await flows.case(approval_case_id(action.action_id))
    assert (result.outcome, case.triggers) == (Outcome.ACKNOWLEDGED, (HumanTrigger.CEILING.value,))
    assert (await flows.ticket(sent.conversation)).owner is Owner.BOT


@pytest.mark.req("GO-03", "SU-02")
async def test_a_draft_that_stays_ungrounded_brings_a_person(flows: Flows) -> None:
    """2: after the revisions."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[FALSE_DRAFT] * 3)
    flows.cast.reviewer.then(*[GROUNDED] * 3)

    await _brings(flows, QUESTION, HumanTrigger.GROUNDING_FAILURE, "the draft claims what no source says")


@pytest.mark.req("GO-03", "KB-12")
async def test_an_unsure_composer_brings_a_person(flows: Flows) -> None:
    """3: after one wider search."""
    unsure = claiming("You can return unworn items within 30 days of delivery.", confidence=0.2)
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(unsure, unsure)

    await _brings(flows, QUESTION, HumanTrigger.LOW_COMPOSER, "the composer is unsure of its draft")


@pytest.mark.req("GO-03", "ES-01")
@pytest.mark.parametrize(
    ("words", "trigger"),
    [
        ("my lawyer will hear of order 1001", HumanTrigger.LEGAL),
        ("ich gehe damit zur Verbraucherzentrale", HumanTrigger.LEGAL),
        ("je vais saisir la DGCCRF", HumanTrigger.LEGAL),
        ("voy a poner una demanda contra ustedes", HumanTrigger.LEGAL),
        ("tüketici hakem heyetine başvuracağım", HumanTrigger.LEGAL),
    ],
)
async def test_legal_words_bring_a_person_in_every_language(flows: Flows, words: str, trigger: HumanTrigger) -> None:
    """4: the product's own detector, not a script."""
    flows.play_with(escalation_model=flows.base.escalation_model)
    flows.cast.classifier.then(understood(CustomerIntent.COMPLAINT))

    await _brings(flows, words, trigger, "legal or regulatory words")


@pytest.mark.req("GO-03")
async def test_distress_brings_a_person(flows: Flows) -> None:
    """4: as the detector says."""
    flows.cast.classifier.then(understood(CustomerIntent.COMPLAINT))
    flows.cast.escalation.then(Escalation(triggers=(HumanTrigger.DISTRESS,), sentiment=-0.9))

    await _brings(flows, "I am at the end of my tether", HumanTrigger.DISTRESS, "distress")


@pytest.mark.req("GO-03")
async def test_fault_015_the_third_contact_on_one_issue_brings_a_person(flows: Flows) -> None:
    """5: counted per issue."""
    await flows.newcomer()
    flows.cast.classifier.then(*[understood(CustomerIntent.ACCOUNT_ACCESS)] * 3)
    flows.cast.composer.then(*[TRUE_DRAFT] * 2)
    flows.cast.reviewer.then(*[GROUNDED] * 2)
    where = f"c-{secrets.token_hex(6)}"

    for _ in range(2):
        await flows.send(QUESTION, conversation=where)
    result = await flows.send(QUESTION, conversation=where)

    assert result.triggers == (HumanTrigger.THIRD_CONTACT,)


@pytest.mark.req("GO-03", "RT-01", "AX-05")
@pytest.mark.parametrize("flag", ["is_vip", "is_churn_risk"])
async def test_a_vip_or_a_customer_about_to_leave_meets_a_person_before_anything_is_proposed(
    flows: Flows, flag: str
) -> None:
    """6: no automation, not even a proposal."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    scope = CustomerScope(TENANT, flows.customer)
    await ShopRecords(flows.base.documents).put_customer(scope, Profile(customer_id=flows.customer, **{flag: True}))
    order = await flows.order(status="delivered")
    flows.cast.classifier.then(understood(CustomerIntent.REFUND))

    sent = await flows.post(f"please refund order {order.order_id}", customer=flows.customer)
    result = await flows.result(sent)

    assert [t.removeprefix("is_") for t in (flag,)] == [str(t) for t in result.triggers]
    assert (result.actions, flows.calls(sent, ActivityName.AUTHORISE)) == ((), [])
    assert RULES[ActionType.REFUND].is_billing


@pytest.mark.req("GO-03", "SU-05")
async def test_two_sources_that_contradict_each_other_bring_a_person_with_both_passages(flows: Flows) -> None:
    """7: nothing is sent, whichever of them is right."""
    subject = "Kiln firing lessons"
    written = (
        article("kiln-1", subject, "Kiln lessons last 3 hours."),
        article("kiln-2", "Our kiln", "A kiln lesson lasts 5 hours."),
    )
    for each in written:
        await flows.base.articles.put(SCOPE, each)
        await flows.base.articles.reembed(SCOPE, ArticleId(each.article_id), flows.base.embedder)
    flows.cast.classifier.then(understood(CustomerIntent.PRODUCT_QUESTION))
    flows.cast.composer.then(claiming("Kiln lessons last 3 hours.", about="kiln-1"))
    flows.cast.reviewer.then(GROUNDED)

    case = await _brings(flows, "How long does a kiln lesson last?", HumanTrigger.CONFLICTING_SOURCES, "contradict")

    assert {p.ref.split("@")[0] for p in case.passages} == {"article:kiln-1", "article:kiln-2"}
    assert {"3 hours" in p.text or "5 hours" in p.text for p in case.passages} == {True}
    for each in written:
        await flows.base.articles.delete(SCOPE, ArticleId(each.article_id))


async def _brings(flows: Flows, words: str, trigger: HumanTrigger, reason: str) -> Any:
    sent = await flows.post(words)
    result = await flows.result(sent)
    case = await flows.case(result.case_id)
    assert (result.outcome, result.triggers[0]) == (Outcome.ESCALATED, trigger)
    assert reason in case.reason
    assert len(await flows.outbox(sent.conversation)) == 1
    return case
