"""Every turn that tells the customer something leaves a proof: made in its flow, chained, readable over HTTP."""

from typing import Any

import pytest

from shared.domain.agents import AgentName
from shared.domain.drafts import Check
from shared.domain.ids import digest
from shared.domain.ticket import Outcome
from tests.flows.running import Flows, Sent
from tests.flows.shop import GROUNDED, QUESTION, RETURNS_SENTENCE, TRUE_DRAFT, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def proof(flows: Flows, sent: Sent) -> dict[str, Any]:
    """Return the proof of a turn as the desk reads it."""
    path = f"/api/v1/conversations/{sent.conversation}/turns/{sent.message}/proof"
    answer = await flows.http.get(path, headers={"X-Api-Key": flows.keys["desk"]})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.req("PR-01", "KB-10", "ME-06", "CO-03")
async def test_an_answered_turn_is_proven_down_to_the_characters_of_its_article(flows: Flows) -> None:
    """Each claim has its span, each check its verdict, each hop its message."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    await flows.result(sent)
    found = await proof(flows, sent)

    claims = [s for s in found["sentences"] if s["kind"] == "claim"]
    assert [c["text"] for c in claims] == [RETURNS_SENTENCE]
    (source,) = claims[0]["sources"]
    assert (source["ref"], source["quote"], source["still_current"]) == (
        "article:returns-policy@1",
        RETURNS_SENTENCE,
        True,
    )
    assert source["text_hash"] == digest(RETURNS_SENTENCE)
    assert {v["check"]: v["passed"] for v in found["verdicts"]} == dict.fromkeys(map(str, Check), True)
    assert (found["evidence"], found["is_approved"], found["ledger"]["intact"]) == ("readable", True, True)
    asked = [m["recipient_agent"] for m in found["messages"] if m["intent"] == "request"]
    assert set(asked) >= {AgentName.INTAKE_CLASSIFIER, AgentName.RESPONSE_COMPOSER, AgentName.SUPERVISOR}
    answered = {m["parent_msg_id"] for m in found["messages"] if m["intent"] != "request"}
    assert answered == {m["msg_id"] for m in found["messages"] if m["intent"] == "request"}


@pytest.mark.req("ME-06", "ES-02")
async def test_a_handoff_is_proven_by_the_text_the_customer_was_told(flows: Flows) -> None:
    """A fixed text of ours cites nothing."""
    flows.cast.classifier.then(understood())

    sent = await flows.post("Let me talk to a human being, please.")
    result = await flows.result(sent)
    found = await proof(flows, sent)

    assert result.outcome is Outcome.ESCALATED
    assert result.reply is not None
    assert [s["text"] for s in found["sentences"]] == [result.reply.value]
    assert (found["is_approved"], found["triggers"]) == (False, list(result.triggers))


@pytest.mark.req("ME-06", "PR-03")
async def test_each_turn_of_a_conversation_follows_from_the_one_before(flows: Flows) -> None:
    """One chain; every entry's proof opens, whoever the customer was taken for."""
    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)

    first = await flows.post(QUESTION, customer=None)
    await flows.result(first)
    second = await flows.post(QUESTION, conversation=first.conversation, customer=None)
    await flows.result(second)

    before, after = await proof(flows, first), await proof(flows, second)
    assert after["ledger"]["previous_hash"] == before["ledger"]["entry_hash"]
    assert (before["ledger"]["position"], after["ledger"]["position"]) == (1, 2)
    assert before["evidence"] == after["evidence"] == "readable"
