"""Turns that end with a person, or nearly: an agent that is down, a thin answer, an unclear or a third message."""

import pytest

from agents.intake_classifier import CONTEXT_CHARS
from orchestrators.activities.turn import WINDOW_TURNS
from orchestrators.names import ActivityName
from orchestrators.routing import CANNOT_LOOK
from shared.adapters.records.shop import ShopRecords
from shared.domain.errors import Unavailable
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import OrderId
from shared.domain.intents import CustomerIntent
from shared.domain.sources import Order
from shared.domain.ticket import Outcome
from shared.ports.documents import CustomerScope
from shared.retrieval.ladder import HybridSearch
from tests.flows.running import Flows
from tests.flows.scripted import CALLS_UP_THE_LADDER, DownEmbedder
from tests.flows.shop import GROUNDED, QUESTION, RETURNS_SENTENCE, TRUE_DRAFT, UNRELATED, claiming, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNSURE = claiming(RETURNS_SENTENCE, confidence=0.3)
UNCLEAR = understood(CustomerIntent.GENERAL_INQUIRY, confidence=0.4)


class DownSearch:
    """An ArticleSearch that does not answer at all."""

    async def search(self, *arguments: object, **named: object) -> object:
        """Raise as a store that is down."""
        raise Unavailable("the search is down")


class ShopWithoutOrders(ShopRecords):
    """The shop's system while its order look-up is down."""

    async def order(self, scope: CustomerScope, order: OrderId) -> Order | None:
        """Raise as an integration that is down."""
        raise Unavailable("orders are down")

    async def recent_orders(self, scope: CustomerScope, limit: int) -> tuple[Order, ...]:
        """Raise as an integration that is down."""
        raise Unavailable("orders are down")


@pytest.mark.req("GO-02", "PR-04")
async def test_a_classifier_that_is_down_brings_a_person_after_the_ladder(flows: Flows) -> None:
    """Every rung is tried; nothing is guessed and nothing is composed."""
    flows.cast.classifier.then(*[Unavailable("down")] * CALLS_UP_THE_LADDER)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.AGENT_FAILURE,)
    assert (await flows.record(sent)).rungs[ActivityName.CLASSIFY] == CALLS_UP_THE_LADDER - 1


@pytest.mark.req("GO-02", "ES-01")
async def test_an_escalation_detector_that_is_down_brings_a_person(flows: Flows) -> None:
    """Without a word on distress or threat nobody can tell that the bot may answer."""
    flows.cast.classifier.then(understood())
    flows.cast.escalation.then(*[Unavailable("down")] * CALLS_UP_THE_LADDER)

    result = await flows.send(QUESTION)

    assert result.triggers == (HumanTrigger.AGENT_FAILURE,)


@pytest.mark.req("KB-09", "RK-01")
async def test_a_search_without_vectors_answers_by_words_and_says_so(flows: Flows) -> None:
    """The embedding endpoint is down: the ladder's next rung serves and the path is in the record."""
    embedder = flows.base.embedder
    down = DownEmbedder(embedder.model, embedder.dimension)
    flows.play_with(search=HybridSearch(flows.base.articles, down, clock=flows.base.clock))
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert (await flows.record(sent)).path == "keyword_only"


@pytest.mark.req("KB-09", "RT-06", "RK-01", "PR-04")
async def test_without_any_search_the_message_is_acknowledged_and_a_person_answers(flows: Flows) -> None:
    """No source, no draft; what could not be looked up is not "nothing found": no claim, no promise, a case."""
    flows.play_with(search=DownSearch())
    flows.cast.classifier.then(understood())

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert (result.outcome, result.triggers) == (Outcome.ACKNOWLEDGED, (HumanTrigger.AGENT_FAILURE,))
    assert (await flows.case(result.case_id)).reason == CANNOT_LOOK
    assert (await flows.record(sent)).path == ""


@pytest.mark.req("AC-01", "PR-04")
async def test_while_orders_cannot_be_read_a_person_answers_and_nobody_is_told_there_is_no_order(flows: Flows) -> None:
    """ "I cannot find it" would be a claim about a record that nobody has looked at."""
    flows.play_with(accounts=ShopWithoutOrders(flows.base.documents))
    flows.cast.classifier.then(understood(CustomerIntent.ORDER_STATUS))

    sent = await flows.post("where is order 1001?")
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.AGENT_FAILURE,)


@pytest.mark.req("RT-06", "KB-12")
async def test_a_thin_search_is_widened_once_and_then_a_person_answers(flows: Flows) -> None:
    """One wider search with the neighbouring intents; below 0.5 still: no draft at all."""
    flows.cast.classifier.then(understood(CustomerIntent.PRODUCT_QUESTION))

    sent = await flows.post(UNRELATED)
    result = await flows.result(sent)

    widened = [c for c in flows.requests(sent, ActivityName.RETRIEVE) if c["is_widened"]]
    assert len(widened) == 1
    assert result.triggers == (HumanTrigger.LOW_RETRIEVAL,)
    assert (await flows.case(result.case_id)).draft is None


@pytest.mark.req("KB-12", "GO-03")
async def test_an_unsure_composer_gets_wider_sources_once_and_may_then_answer(flows: Flows) -> None:
    """KB-12: adjacent intents widen retrieval when the composer's confidence is low."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(UNSURE, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert len([c for c in flows.requests(sent, ActivityName.RETRIEVE) if c["is_widened"]]) == 1


@pytest.mark.req("GO-03", "KB-12")
async def test_a_composer_that_stays_unsure_brings_a_person_with_its_draft(flows: Flows) -> None:
    """Below its threshold twice: nothing to review, a person decides."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(UNSURE, UNSURE)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.LOW_COMPOSER,)
    case = await flows.case(result.case_id)
    assert case.draft is not None
    assert RETURNS_SENTENCE in case.draft.value
    assert all(RETURNS_SENTENCE not in row.text.value for row in await flows.outbox(sent.conversation))


@pytest.mark.req("RT-05")
async def test_an_unclear_message_is_asked_about_once_and_then_a_person_comes(flows: Flows) -> None:
    """One clarification an issue; the follow-up sees what was said before it."""
    flows.cast.classifier.then(UNCLEAR, UNCLEAR)

    first = await flows.post("it does the thing again")
    asked = await flows.result(first)
    second = await flows.post("you know, the thing", conversation=first.conversation)
    handed = await flows.result(second)

    assert asked.outcome is Outcome.CLARIFICATION
    assert handed.triggers == (HumanTrigger.AMBIGUOUS,)
    assert "it does the thing again" in flows.cast.classifier.seen[1].summary
    assert len(await flows.outbox(first.conversation)) == 2


@pytest.mark.req("RT-05")
async def test_a_clarification_that_helped_leads_to_an_answer(flows: Flows) -> None:
    """The second message is clear, so no person is needed."""
    flows.cast.classifier.then(UNCLEAR, understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    first = await flows.post("it does the thing again")
    await flows.result(first)
    result = await flows.send(QUESTION, conversation=first.conversation)

    assert result.outcome is Outcome.ANSWERED


@pytest.mark.req("GO-03")
async def test_fault_015_the_third_contact_on_one_issue_brings_a_person_however_sure_each_turn_was(
    flows: Flows,
) -> None:
    """Two answers did not solve it; the third is not another answer."""
    flows.cast.classifier.then(*[understood(CustomerIntent.RETURN_EXCHANGE)] * 3)
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)
    first = await flows.post(QUESTION)
    results = [await flows.result(first)]

    for _ in range(2):
        results.append(await flows.send(QUESTION, conversation=first.conversation))

    assert [r.outcome for r in results] == [Outcome.ANSWERED, Outcome.ANSWERED, Outcome.ESCALATED]
    assert results[-1].triggers == (HumanTrigger.THIRD_CONTACT,)


@pytest.mark.req("ME-05")
async def test_fault_017_after_twelve_turns_a_classification_still_sees_the_new_message_and_a_bounded_summary(
    flows: Flows,
) -> None:
    """A long chat on one topic does not drown the change of topic, nor make each turn dearer."""
    sizing = understood(CustomerIntent.PRODUCT_QUESTION)
    flows.cast.classifier.then(*[sizing] * 12, understood(CustomerIntent.GENERAL_INQUIRY, is_social=True))
    flows.cast.composer.then(*[TRUE_DRAFT] * 12)
    flows.cast.reviewer.then(*[GROUNDED] * 12)
    first = await flows.post(QUESTION)
    await flows.result(first)
    for _ in range(11):
        await flows.send(QUESTION, conversation=first.conversation)

    await flows.send("thanks, that is all", conversation=first.conversation)

    last = flows.cast.classifier.seen[-1]
    assert last.message.value == "thanks, that is all"
    assert 0 < len(last.summary) <= CONTEXT_CHARS
    windows = [len(request.snapshot.context.history) for request in flows.cast.composer.seen]
    assert max(windows) == windows[-1] == windows[-3] == 2 * WINDOW_TURNS
