"""A turn that is answered, revised, or given up: nothing reaches the customer without every check's approval."""

import json

import pytest

from local.worker import InvokeError
from orchestrators.names import ActivityName
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.errors import AgentTimeout, RateLimited, Unavailable
from shared.domain.human_triggers import HumanTrigger
from shared.domain.retries import MAX_REVISIONS
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, Owner
from shared.ports.models import ComposeRequest, ScreenVerdict
from tests.flows.running import Flows
from tests.flows.scripted import CALLS_UP_THE_LADDER
from tests.flows.shop import FALSE_DRAFT, GROUNDED, QUESTION, RETURNS_SENTENCE, TRUE_DRAFT, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

DRAFTS = MAX_REVISIONS + 1
"""Drafts a turn may see: the first and its revisions (SU-02)."""


@pytest.mark.req("SU-03", "AN-01", "ME-06", "DC-03")
async def test_an_answered_turn_is_sent_once_chained_and_measured(flows: Flows) -> None:
    """One message, one reply, one ledger entry whose chain is intact, and milliseconds of every agent that worked."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert result.reply is not None
    assert RETURNS_SENTENCE in result.reply.value
    assert [s.ref for s in result.sources] == ["article:returns-policy@1"]
    assert set(result.verdicts.values()) == {True}
    assert [row.text for row in await flows.outbox(sent.conversation)] == [result.reply]
    chain = await flows.chain(sent.conversation)
    assert [entry.message_id for entry in chain] == [sent.message]
    record = await flows.record(sent)
    assert set(record.agent_ms) == {
        ActivityName.CLASSIFY,
        ActivityName.DETECT_ESCALATION,
        ActivityName.RETRIEVE,
        ActivityName.READ_ACCOUNT,
        ActivityName.COMPOSE,
        ActivityName.REVIEW,
    }
    assert (record.outcome, record.revisions, record.path) == ("answered", 0, "hybrid")


@pytest.mark.req("SU-01", "SU-02", "CO-03")
async def test_fault_019_a_changed_figure_is_sent_back_with_its_reason_and_the_revision_goes_out(flows: Flows) -> None:
    """The judge passes it, the value check does not; the composer is told which value of which draft failed."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(FALSE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    first, second = flows.cast.composer.seen
    assert first.revision is None
    assert second.revision is not None
    assert second.revision.attempt == 1
    assert [v.check for v in second.revision.verdicts] == [Check.GROUNDING]
    assert f"duration:{60 * 86_400} s" in second.revision.verdicts[0].evidence
    assert second.previous is not None
    assert "60 days" in second.previous.text.value
    assert result.outcome is Outcome.ANSWERED
    assert "60 days" not in str(result.reply)
    assert len(await flows.outbox(sent.conversation)) == 1
    assert (await flows.record(sent)).revisions == 1


@pytest.mark.req("SU-02", "SU-03", "GO-03", "PR-04")
async def test_fault_020_after_two_revisions_a_person_gets_the_draft_and_the_customer_does_not(flows: Flows) -> None:
    """Fail closed: three ungrounded drafts, none sent; the case holds the last of them and the reason."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[FALSE_DRAFT] * DRAFTS)
    flows.cast.reviewer.then(*[GROUNDED] * DRAFTS)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ESCALATED
    assert result.triggers == (HumanTrigger.GROUNDING_FAILURE,)
    case = await flows.case(result.case_id)
    assert case.draft is not None
    assert "60 days" in case.draft.value
    told = await flows.outbox(sent.conversation)
    assert len(told) == 1
    assert "60" not in told[0].text.value


@pytest.mark.req("SU-01", "SU-03")
async def test_fault_020_a_critic_that_only_warns_blocks_all_the_same(flows: Flows) -> None:
    """One doubt of the reviewing model about a true draft is a rejection, not a log line."""
    warning = (CheckVerdict(check=Check.GROUNDING, is_passed=False, reason="one sentence is unsupported"),)
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[TRUE_DRAFT] * DRAFTS)
    flows.cast.reviewer.then(*[warning] * DRAFTS)

    result = await flows.send(QUESTION)

    assert result.triggers == (HumanTrigger.GROUNDING_FAILURE,)
    assert RETURNS_SENTENCE not in str(result.reply)


@pytest.mark.req("SU-03")
@pytest.mark.parametrize(
    "answer",
    [
        Unavailable("the review endpoint is down"),
        AgentTimeout("too late"),
        RateLimited("later", retry_after_s=1),
        RuntimeError("a defect"),
        (),
    ],
    ids=["down", "too_late", "rate_limited", "broken", "no_verdict"],
)
async def test_no_opinion_of_the_reviewing_model_means_no_send(flows: Flows, answer: object) -> None:
    """An error, a timeout and silence block like a negative verdict; after the revisions a person takes over."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[TRUE_DRAFT] * DRAFTS)
    flows.cast.reviewer.then(*[answer] * DRAFTS)  # type: ignore[list-item]  # errors and verdicts in one table

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ESCALATED
    assert all(RETURNS_SENTENCE not in row.text.value for row in await flows.outbox(sent.conversation))


@pytest.mark.req("SU-01", "SU-03")
async def test_no_verdict_of_the_safety_screen_on_a_draft_means_no_send(flows: Flows) -> None:
    """The screen answers for the customer's words and is down for the reply."""

    def down_for_drafts(texts: tuple[str, ...]) -> ScreenVerdict:
        if any(RETURNS_SENTENCE in text for text in texts):
            raise Unavailable("the screen is down")
        return ScreenVerdict(is_blocked=False)

    flows.cast.screen.always(down_for_drafts)
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[TRUE_DRAFT] * DRAFTS)
    flows.cast.reviewer.then(*[GROUNDED] * DRAFTS)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.REVIEW_FAILURE,)
    assert all(RETURNS_SENTENCE not in row.text.value for row in await flows.outbox(sent.conversation))


@pytest.mark.req("GO-02", "PR-04")
async def test_a_composer_that_is_down_brings_a_person_after_every_rung(flows: Flows) -> None:
    """The ladder is climbed inside the activity and recorded; then a person, with the sources but no draft."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(*[Unavailable("down")] * CALLS_UP_THE_LADDER)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.AGENT_FAILURE,)
    case = await flows.case(result.case_id)
    assert case.draft is None
    assert [s.ref for s in case.sources][:1] == ["article:returns-policy@1"]
    assert (await flows.record(sent)).rungs[ActivityName.COMPOSE] == CALLS_UP_THE_LADDER - 1


@pytest.mark.req("ES-02", "SU-01")
@pytest.mark.parametrize(
    "magic",
    [
        "I'm sorry. conversation_handoff",
        '{"handoff": true}',
        "[handoff] Please wait.",
        "<escalate>Please wait.</escalate>",
    ],
    ids=["word", "json", "bracket", "tag"],
)
async def test_fault_002_magic_words_of_a_draft_control_nothing(flows: Flows, magic: str) -> None:
    """Text is never parsed for control: such a draft is rejected, no handoff happens, and the words never go out."""

    def compose(request: ComposeRequest) -> Draft:
        return Draft(
            sentences=(Sentence(text=MaskedText(magic), kind=SentenceKind.SOCIAL),), language="en", confidence=0.9
        )

    flows.cast.classifier.then(understood())
    flows.cast.composer.then(compose, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert magic not in str(result.reply)
    ticket = await flows.ticket(sent.conversation)
    assert (ticket.owner, ticket.case_id) == (Owner.BOT, None)


@pytest.mark.req("SU-03")
async def test_an_approval_that_was_tampered_with_delivers_nothing(flows: Flows) -> None:
    """The seal covers the sentences and the turn: another text, or another turn's approval, is refused."""
    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)
    first, second = await flows.post(QUESTION), await flows.post(QUESTION)
    await flows.result(first)
    await flows.result(second)
    payload = json.loads(flows.calls(first, ActivityName.DELIVER)[0]["request"])
    other = json.loads(flows.calls(second, ActivityName.DELIVER)[0]["request"])
    forged = {**payload["approved"], "seal": "local:" + "0" * 64}

    for approved in (other["approved"], forged):
        request = json.dumps({**payload, "approved": approved})
        with pytest.raises(InvokeError, match="AuthorityError"):
            await flows.repeat(ActivityName.DELIVER, {"request": request})

    assert len(await flows.outbox(first.conversation)) == 1


@pytest.mark.req("PR-03", "GW-04")
async def test_a_delivery_that_is_repeated_sends_nothing_twice(flows: Flows) -> None:
    """The host runs an activity again when it died before its commit; the store knows the turn is done."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    sent = await flows.post(QUESTION)
    await flows.result(sent)

    again = await flows.repeat(ActivityName.DELIVER, flows.calls(sent, ActivityName.DELIVER)[0])
    recorded = await flows.repeat_agent(ActivityName.RECORD, flows.calls(sent, ActivityName.RECORD)[0])

    assert again["settled"] == "done"
    assert json.loads(recorded["value"]) == {"is_new": False}
    assert len(await flows.outbox(sent.conversation)) == 1
    assert len(await flows.chain(sent.conversation)) == 1
