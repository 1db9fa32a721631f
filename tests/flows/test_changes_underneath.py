"""What changes while a turn is under way: articles, owners, newer messages, the store itself."""

import secrets
from collections.abc import Awaitable, Callable

import pytest

from orchestrators.names import ActivityName
from shared.domain.actions import CrmNoteProposal, Effect
from shared.domain.drafts import CheckVerdict
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ArticleId, ConversationId
from shared.domain.intents import CustomerIntent
from shared.domain.retries import MAX_REISSUES
from shared.domain.ticket import Outcome, Owner, TicketStatus
from shared.domain.transitions import TicketOp
from shared.domain.verified import VerifiedGrant
from shared.ports.integrations import CrmWriter
from shared.ports.models import ReviewRequest
from tests.flows.running import SCOPE, Flows
from tests.flows.scripted import Gate
from tests.flows.shop import (
    ASKS_FOR_CANCELLATION,
    GROUNDED,
    QUESTION,
    RETURNS_SENTENCE,
    TRUE_DRAFT,
    article,
    claiming,
    understood,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SENTENCE = "Lamps carry a warranty of two years."
SNAPSHOTS = MAX_REISSUES + 1
"""Snapshots a turn may work on: the first and its reissues (PR-03)."""


TOPICS = (
    "Mending copper lanterns at home",
    "Tuning a ukulele by ear",
    "Feeding sourdough in winter",
    "Folding kites from rice paper",
    "Dyeing wool with walnut shells",
    "Waxing wooden skis",
    "Pruning olive trees in pots",
    "Sharpening garden shears",
    "Cleaning fountain pens",
    "Storing tulip bulbs",
)
"""Titles with nothing in common, so that a deleted article's question finds no other test's article."""
_TITLES: dict[str, str] = {}


async def publish(flows: Flows, content: str = SENTENCE, *, id: str | None = None) -> tuple[ArticleId, str]:
    """Publish an article of the test's own and return its id and title."""
    known = id or secrets.token_hex(8)
    title = _TITLES.setdefault(known, TOPICS[len(_TITLES) % len(TOPICS)])
    written = await flows.base.articles.put(SCOPE, article(known, title, content))
    await flows.base.articles.reembed(SCOPE, written.article_id, flows.base.embedder)
    return written.article_id, title


def reviewing_while(
    change: Callable[[], Awaitable[object]],
) -> Callable[[ReviewRequest], Awaitable[tuple[CheckVerdict, ...]]]:
    """Return a reviewer's step during which something changes: after composing, before delivering."""

    async def review(request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        await change()
        return GROUNDED

    return review


class HeldCrm:
    """A CrmWriter whose system is slow until the gate opens."""

    def __init__(self, inner: CrmWriter, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    async def add_note(
        self, verified: VerifiedGrant, proposal: CrmNoteProposal, *, conversation: ConversationId
    ) -> Effect:
        """Wait, then write the note."""
        await self._gate.pass_through()
        return await self._inner.add_note(verified, proposal, conversation=conversation)


@pytest.mark.req("KB-10", "PR-03", "SU-03")
async def test_an_article_that_changes_under_a_draft_is_read_and_reviewed_again(flows: Flows) -> None:
    """The pinned version is compared right before sending; the answer that goes out cites the new one."""
    id, title = await publish(flows)
    new = "Lamps carry a warranty of three years."
    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(claiming(SENTENCE, about=id), claiming(new, about=id))
    flows.cast.reviewer.then(reviewing_while(lambda: publish(flows, new, id=id)), GROUNDED)

    sent = await flows.post(title)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert [s.ref for s in result.sources] == [f"article:{id}@2"]
    assert [SENTENCE in row.text.value for row in await flows.outbox(sent.conversation)] == [False]
    await flows.base.articles.delete(SCOPE, id)  # it contradicts what the other tests publish (SU-05)


@pytest.mark.req("KB-10", "SU-03")
async def test_fault_022_an_article_that_is_deleted_under_a_draft_answers_nothing(flows: Flows) -> None:
    """The draft that cites it fails the re-check, the fresh snapshot no longer finds it, a person answers."""
    id, title = await publish(flows)
    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(claiming(SENTENCE, about=id))
    flows.cast.reviewer.then(reviewing_while(lambda: flows.base.articles.delete(SCOPE, id)))

    sent = await flows.post(title)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.LOW_RETRIEVAL,)
    assert all(SENTENCE not in row.text.value for row in await flows.outbox(sent.conversation))


@pytest.mark.req("GO-01", "RK-03", "PR-03", "PR-04")
async def test_fault_007_articles_that_keep_changing_end_in_a_person_after_three_snapshots(flows: Flows) -> None:
    """No endless reissue: a bounded number of model calls, then the queue, with what was drafted."""
    id, title = await publish(flows)
    flows.cast.classifier.then(*[understood()] * SNAPSHOTS)
    flows.cast.composer.then(*[claiming(SENTENCE, about=id)] * SNAPSHOTS)
    for n in range(SNAPSHOTS):
        flows.cast.reviewer.then(reviewing_while(lambda n=n: publish(flows, f"{SENTENCE} Edition {n}.", id=id)))

    sent = await flows.post(title)
    result = await flows.result(sent)

    assert result.triggers == (HumanTrigger.LOOP,)
    assert flows.cast.calls == 3 * SNAPSHOTS
    case = await flows.case(result.case_id)
    assert case.draft is not None
    assert SENTENCE in case.draft.value
    assert (await flows.ticket(sent.conversation)).status is TicketStatus.NEEDS_REVIEW


@pytest.mark.req("GO-01", "RK-03", "PR-03", "PR-04")
async def test_fault_007_a_ticket_that_keeps_changing_ends_in_a_person_too(flows: Flows) -> None:
    """Even the handoff finds another version than its snapshot's: it needs none, a person is never stale."""
    flows.cast.classifier.then(*[understood()] * SNAPSHOTS)
    flows.cast.composer.then(*[TRUE_DRAFT] * SNAPSHOTS)
    where = f"c-{secrets.token_hex(6)}"
    flows.cast.reviewer.then(*[reviewing_while(lambda: flows.edit_ticket(ConversationId(where)))] * SNAPSHOTS)

    result = await flows.send(QUESTION, conversation=where)

    assert result.triggers == (HumanTrigger.LOOP,)
    assert flows.cast.calls == 3 * SNAPSHOTS
    assert len(await flows.outbox(where)) == 1


@pytest.mark.req("PR-03")
async def test_a_ticket_that_changes_once_gets_a_fresh_snapshot_and_an_answer(flows: Flows) -> None:
    """A desk edit makes the draft stale; the turn is worked again and answers once."""
    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    where = f"c-{secrets.token_hex(6)}"
    flows.cast.reviewer.then(reviewing_while(lambda: flows.edit_ticket(ConversationId(where))), GROUNDED)

    result = await flows.send(QUESTION, conversation=where)

    assert result.outcome is Outcome.ANSWERED
    assert len(await flows.outbox(where)) == 1


@pytest.mark.req("PR-03", "ME-05")
async def test_fault_011_a_conversation_closed_under_its_turn_is_answered_all_the_same(flows: Flows) -> None:
    """The customer's message was there before the close: the reply wins and the conversation is open again."""
    where = f"c-{secrets.token_hex(6)}"

    async def close() -> None:
        await flows.base.tickets.move(SCOPE, ConversationId(where), TicketOp.CLOSE)

    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(reviewing_while(close), GROUNDED)

    result = await flows.send(QUESTION, conversation=where)

    assert result.outcome is Outcome.ANSWERED
    ticket = await flows.ticket(where)
    assert (ticket.status, ticket.closed_at) == (TicketStatus.OPEN, None)


@pytest.mark.req("PR-03", "ME-05", "HD-01")
async def test_a_conversation_closed_under_its_turn_can_still_reach_a_person(flows: Flows) -> None:
    """Closing must not lose a turn that ends with a person."""
    where, gate = f"c-{secrets.token_hex(6)}", Gate()
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT), gate=gate)
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))
    sent = await flows.post("let me talk to a person", conversation=where)
    await gate.reached()
    await flows.base.tickets.move(SCOPE, ConversationId(where), TicketOp.CLOSE)

    gate.open()
    result = await flows.result(sent)

    assert result.outcome is Outcome.ESCALATED
    ticket = await flows.ticket(where)
    assert (ticket.owner, ticket.closed_at) == (Owner.PERSON, None)


@pytest.mark.req("HD-01", "PR-03", "ES-02")
async def test_fault_004_a_draft_that_comes_after_the_person_is_attached_and_not_sent(flows: Flows) -> None:
    """The customer asks for a person while the bot composes; the desk claims; the late draft is the person's to use."""
    gate = Gate()
    flows.cast.classifier.then(understood(), understood(CustomerIntent.HUMAN_AGENT))
    flows.cast.composer.then(TRUE_DRAFT, gate=gate)
    flows.cast.reviewer.then(GROUNDED)
    slow = await flows.post(QUESTION)
    await gate.reached()
    wish = await flows.send("let me talk to a person", conversation=slow.conversation)
    assert (await flows.desk("claim", str(wish.case_id))).status_code == 200

    gate.open()
    result = await flows.result(slow)

    assert result.outcome is Outcome.HUMAN_OWNED
    assert result.reply is None
    assert len(await flows.outbox(slow.conversation)) == 1
    case = await flows.case(wish.case_id)
    assert case.draft is not None
    assert RETURNS_SENTENCE in case.draft.value


@pytest.mark.req("HD-01", "PR-03")
async def test_fault_004_a_draft_that_never_passed_is_attached_as_well(flows: Flows) -> None:
    """The turn wanted a person itself and found one: its draft goes to the case that is there, and opens no second."""
    gate = Gate()
    unsure = claiming(RETURNS_SENTENCE, confidence=0.2)
    flows.cast.classifier.then(understood(), understood(CustomerIntent.HUMAN_AGENT))
    flows.cast.composer.then(unsure, gate=gate).then(unsure)
    slow = await flows.post(QUESTION)
    await gate.reached()
    wish = await flows.send("let me talk to a person", conversation=slow.conversation)

    gate.open()
    result = await flows.result(slow)

    assert result.outcome is Outcome.HUMAN_OWNED
    assert result.case_id == wish.case_id
    case = await flows.case(wish.case_id)
    assert case.draft is not None
    assert RETURNS_SENTENCE in case.draft.value


@pytest.mark.req("HD-01", "ES-02")
async def test_fault_005_what_a_person_owns_is_only_appended_until_it_is_released(flows: Flows) -> None:
    """No model is asked and nothing is sent; after the release the bot answers again."""
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT), understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    first = await flows.post("let me talk to a person")
    case = (await flows.result(first)).case_id

    more = await flows.send("thanks, one more thing", conversation=first.conversation)

    assert more.outcome is Outcome.HUMAN_OWNED
    assert len(await flows.outbox(first.conversation)) == 1
    assert len(flows.cast.classifier.seen) == 1
    thread = await flows.base.tickets.thread(SCOPE, first.conversation)
    assert [row.seq for row in thread] == [1, 3]
    assert (await flows.desk("release", str(case))).status_code == 200
    assert (await flows.send(QUESTION, conversation=first.conversation)).outcome is Outcome.ANSWERED


@pytest.mark.req("PR-03", "GW-04")
async def test_fault_012_a_burst_of_three_gets_one_reply_that_has_seen_all_three(flows: Flows) -> None:
    """The earlier turns, too thin to answer, end superseded, without a case or a word, and name a successor."""
    gate, lines = Gate(), ("hi there", "about what I bought", "can I return unworn items?")
    flows.cast.classifier.then(*[understood()] * 3, gate=gate)
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    where, sent = f"c-{secrets.token_hex(6)}", []
    for n, line in enumerate(lines, start=1):
        sent.append(await flows.post(line, conversation=where))
        await flows.cast.classifier.asked(n)

    gate.open()
    results = [await flows.result(one) for one in sent]

    assert [r.outcome for r in results] == [Outcome.SUPERSEDED, Outcome.SUPERSEDED, Outcome.ANSWERED]
    assert {r.superseded_by for r in results[:2]} <= {one.message for one in sent[1:]}
    assert [row.seq for row in await flows.outbox(where)] == [(await flows.turn(sent[2])).seq]
    assert flows.cast.composer.seen[0].snapshot.message.value.split("\n") == list(lines)
    assert len(await flows.chain(where)) == 3


@pytest.mark.req("PR-03", "AX-03")
async def test_a_message_after_the_commit_waits_for_the_next_turn(flows: Flows) -> None:
    """A turn that has begun to act is not superseded: the later one waits, then answers for itself."""
    gate = Gate()
    flows.play_with(crm=HeldCrm(flows.base.crm, gate))
    flows.cast.classifier.then(
        understood(CustomerIntent.ORDER_CANCEL), *[understood(CustomerIntent.GENERAL_INQUIRY, is_social=True)] * 2
    )
    first = await flows.post(ASKS_FOR_CANCELLATION)
    await gate.reached()
    later = await flows.post("thanks a million", conversation=first.conversation)
    await flows.called(later, ActivityName.DELIVER, times=2)

    gate.open()
    results = [await flows.result(first), await flows.result(later)]

    assert [r.outcome for r in results] == [Outcome.ACKNOWLEDGED, Outcome.ANSWERED]
    assert [row.text for row in await flows.outbox(first.conversation)] == [r.reply for r in results]
