"""Whoever asked hears how it ended: money that moved is said in the turn, and every conversation gets what it was
promised, whatever else went wrong and whoever has it meanwhile."""

from datetime import timedelta

import pytest

from shared.adapters.records.actions import ActionRecords
from shared.domain.actions import Action, ActionState
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import approval_case_id
from shared.domain.intents import CustomerIntent
from shared.domain.money import Money
from shared.domain.sources import Order
from shared.domain.ticket import Outcome, Owner, TicketStatus, TurnResult
from shared.ports.documents import CustomerScope
from tests.flows.running import SCOPE, Flows, Sent
from tests.flows.shop import understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRICE = Money(amount_minor=1_900, currency="USD")
"""What every order here costs."""


async def asked_for_refunds(flows: Flows, *orders: Order) -> tuple[Sent, TurnResult]:
    """Let a customer ask for the money of these orders, of which the ceilings allow each."""
    await flows.paid_before(2_000)
    actions = ActionRecords(flows.base.documents, flows.base.clock)
    flows.play_with(composer=flows.base.composer, reviewer=flows.base.reviewer, actions=actions)
    refs = tuple(order.order_id for order in orders)
    flows.cast.classifier.then(understood(CustomerIntent.REFUND, entities={"order_refs": refs}))
    sent = await flows.post("please refund " + " and ".join(f"order {ref}" for ref in refs), customer=flows.customer)
    return sent, await flows.result(sent)


async def asked_to_cancel(flows: Flows, order: Order) -> tuple[Sent, TurnResult]:
    """Let the customer ask, in a conversation of its own, to cancel the order."""
    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    sent = await flows.post(f"please cancel order {order.order_id}", customer=flows.customer)
    return sent, await flows.result(sent)


async def waiting_cancellation(flows: Flows) -> tuple[Sent, Action]:
    """Let a cancellation wait for a person's decision."""
    await flows.govern(phase="foundation")
    await flows.newcomer()
    sent, result = await asked_to_cancel(flows, await flows.order())
    return sent, await flows.action(next(a.action_id for a in result.actions if a.type == "cancel_order"))


async def taken_over(flows: Flows, sent: Sent) -> str:
    """Let a person take the conversation over, on the customer's wish; return their case."""
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))
    handed = await flows.send("a person please", conversation=sent.conversation, customer=flows.customer)
    assert handed.triggers == (HumanTrigger.EXPLICIT_WISH.value,)
    return str(handed.case_id)


async def approve(flows: Flows, action: Action) -> None:
    """Approve as a person does who has read what the customer wrote since."""
    case = approval_case_id(action.action_id)
    newest = (await flows.base.tickets.ticket(SCOPE, action.conversation_id) or pytest.fail("no ticket")).last_seq
    answer = await flows.desk("approve", case, {"read_up_to": newest})
    assert answer.status_code == 200, answer.text


async def said(flows: Flows, sent: Sent) -> list[str]:
    """Return what the customer was sent in the conversation."""
    return [row.text.value for row in await flows.outbox(sent.conversation)]


@pytest.mark.req("AX-01", "AX-03")
async def test_a_refund_beside_a_refused_one_is_told_in_the_same_message(flows: Flows) -> None:
    """Two orders, one of them refunded before: a person explains the one, the other is money that moved."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    paid = await flows.order(status="delivered", total=PRICE)
    over = await flows.order(status="refunded", total=PRICE, refunded=PRICE)

    sent, result = await asked_for_refunds(flows, paid, over)

    done = next(a for a in result.actions if a.status == "executed" and a.type == "refund")
    texts = await said(flows, sent)
    assert (result.outcome, len(texts)) == (Outcome.ESCALATED, 1)
    assert texts[0].count("19.00") == texts[0].count(str(paid.order_id)) == 1
    assert str(over.order_id) not in texts[0]
    assert (await flows.action(done.action_id)).is_told


@pytest.mark.req("AX-01", "AX-03", "SU-02")
async def test_what_was_done_is_told_when_the_reply_about_it_does_not_pass(flows: Flows) -> None:
    """The shop bans the words the reply would be made of: a person takes over, and the money is told all the same."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    current = await flows.base.tenants.policy(SCOPE)
    strict = current.model_copy(update={"banned_phrases": ("refunded",)})
    await flows.base.tenants.save_policy(SCOPE, strict, over_version=current.version, author="test")
    order = await flows.order(status="delivered", total=PRICE)

    sent, result = await asked_for_refunds(flows, order)

    done = next(a for a in result.actions if a.type == "refund")
    texts = await said(flows, sent)
    assert (result.outcome, done.status, len(texts)) == (Outcome.ESCALATED, "executed", 1)
    assert "19.00" in texts[0]
    assert (await flows.action(done.action_id)).is_told


@pytest.mark.req("AX-03")
async def test_what_was_done_beside_what_waits_is_told_and_only_what_waits_is_called_waiting(flows: Flows) -> None:
    """One refund within the ceiling, one above it."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    small = await flows.order(status="delivered", total=PRICE)
    large = await flows.order(status="delivered", total=Money(amount_minor=99_000, currency="USD"))

    sent, result = await asked_for_refunds(flows, small, large)

    [text] = await said(flows, sent)
    assert result.outcome is Outcome.ACKNOWLEDGED
    assert "19.00" in text
    assert "990" not in text
    assert text.count(str(small.order_id)) == text.count(str(large.order_id)) == 1


@pytest.mark.req("AX-03")
async def test_every_conversation_that_was_promised_an_answer_gets_it_once(flows: Flows) -> None:
    """Three conversations ask for one pending action; each hears of its end, however often it is told."""
    first, action = await waiting_cancellation(flows)
    order = await flows.order_now(action.proposal.order_id)
    second, _ = await asked_to_cancel(flows, order)
    third, _ = await asked_to_cancel(flows, order)

    await approve(flows, action)
    ended = await flows.action_ended(action.action_id)
    await flows.edit_action(action.action_id, is_told=False, updated_at=ended.updated_at - timedelta(minutes=5))
    await flows.sweep()
    await flows.action_told(action.action_id)

    texts = [await said(flows, sent) for sent in (first, second, third)]
    assert [len(told) for told in texts] == [2, 2, 2]
    assert {told[1] for told in texts} == {texts[0][1]}


@pytest.mark.req("AX-03", "HD-01")
async def test_a_person_sees_how_it_ended_and_the_customer_hears_of_it_when_the_bot_is_back(flows: Flows) -> None:
    """Approved while a person had the conversation: their case shows it, nothing counts as told before it is."""
    sent, action = await waiting_cancellation(flows)
    case = await taken_over(flows, sent)
    before = await said(flows, sent)

    await approve(flows, action)
    ended = await flows.action_ended(action.action_id)

    shown = next(p for p in (await flows.case(case)).proposed if p.action_id == action.action_id)
    assert (ended.state, ended.is_told, ended.held_until is None) == (ActionState.EXECUTED, False, False)
    assert (shown.status.value, shown.amount_minor) == ("executed", action.amount.amount_minor if action.amount else 0)
    assert await said(flows, sent) == before

    await flows.desk("claim", case)
    assert (await flows.desk("release", case, {})).status_code == 200
    await flows.action_told(action.action_id)

    told = (await said(flows, sent))[len(before) :]
    assert len(told) == 1
    assert str(action.proposal.order_id) in told[0]


@pytest.mark.req("AX-03")
async def test_a_release_whose_hint_is_lost_is_found_by_the_sweep_and_not_before_its_time(flows: Flows) -> None:
    """What a person's conversation holds up is looked at ever more rarely, not by every sweep."""
    sent, action = await waiting_cancellation(flows)
    await taken_over(flows, sent)
    await approve(flows, action)
    await flows.action_ended(action.action_id)
    now = flows.base.clock.now()
    records = flows.base.actions
    assert action.action_id not in {a.action_id for a in await records.held(now, 100)}
    assert action.action_id not in {a.action_id for a in await records.untold(now, 100)}

    await flows.edit_ticket(sent.conversation, owner=Owner.BOT, status=TicketStatus.OPEN)
    await flows.edit_action(action.action_id, held_until=now - timedelta(seconds=1))
    await flows.sweep()
    await flows.action_told(action.action_id)

    assert any("cancelled" in text for text in await said(flows, sent))


@pytest.mark.req("AX-03")
async def test_an_action_of_unknown_end_is_told_when_its_end_is_known(flows: Flows) -> None:
    """That the desk knows of the doubt is not that the customer knows of the end."""
    sent, action = await waiting_cancellation(flows)
    await flows.edit_action(action.action_id, state=ActionState.UNCLEAR, starts=1, is_told=True)

    account = CustomerScope(SCOPE.tenant_id, flows.customer)
    found = await flows.base.actions.found(account, action.action_id, by="person:eve", effect=None)
    assert not found.is_told
    await flows.edit_action(action.action_id, updated_at=found.updated_at - timedelta(minutes=5))
    await flows.sweep()
    await flows.action_told(action.action_id)

    assert len(await said(flows, sent)) == 2
