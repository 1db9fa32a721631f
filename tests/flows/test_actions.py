"""What a customer asks to be done: decided by rules, done once under a grant, told as it is; nothing without one."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from orchestrators.names import ActivityName
from shared.adapters.records.actions import ActionRecords
from shared.authority.mint import SealMint
from shared.domain.actions import Action, ActionState
from shared.domain.drafts import Draft, Sentence, SentenceKind
from shared.domain.envelope import WriteEnvelope
from shared.domain.errors import ErrorClass
from shared.domain.grants import SignedGrant
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import CustomerId, approval_case_id
from shared.domain.intents import CustomerIntent
from shared.domain.money import Money
from shared.domain.phrases import Phrase, phrase
from shared.domain.sources import Order
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, Owner, TurnResult
from shared.ports.models import ComposeRequest
from shared.wire import pack
from tests.flows.running import Flows, Sent
from tests.flows.shop import ASKS_FOR_CANCELLATION, GROUNDED, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True, slots=True)
class ClockAt:
    """A clock that stands."""

    at: datetime

    def now(self) -> datetime:
        """Return its moment."""
        return self.at


async def asked(flows: Flows, order: Order, intent: CustomerIntent, words: str) -> tuple[Sent, TurnResult]:
    """Run a turn in which ana asks for something about her order."""
    flows.cast.classifier.then(understood(intent))
    sent = await flows.post(words.format(order=order.order_id), customer=flows.customer)
    return sent, await flows.result(sent)


async def asked_to_cancel(flows: Flows) -> tuple[Sent, TurnResult, Action]:
    """Let ana ask to cancel an order of her own, in phase foundation."""
    await flows.govern(phase="foundation")
    order = await flows.order()
    sent, result = await asked(flows, order, CustomerIntent.ORDER_CANCEL, "please cancel order {order}")
    shown = next(a for a in result.actions if a.type == "cancel_order")
    return sent, result, await flows.action(shown.action_id)


async def asked_for_refund(flows: Flows, order: Order) -> tuple[Sent, TurnResult]:
    """Let ana ask for her money back; a real composer and reviewer answer."""
    actions = ActionRecords(flows.base.documents, flows.base.clock)  # remembers no past of another test
    flows.play_with(composer=flows.base.composer, reviewer=flows.base.reviewer, actions=actions)
    return await asked(flows, order, CustomerIntent.REFUND, "please refund order {order}")


@pytest.mark.req("AX-01", "AX-02", "SU-04", "AX-05", "GO-03", "SC-02")
async def test_in_phase_foundation_a_change_waits_for_a_person_and_the_bot_keeps_the_conversation(flows: Flows) -> None:
    """The turn is acknowledged, its action pending, a case open; only the note is done."""
    sent, result, action = await asked_to_cancel(flows)

    assert (result.outcome, result.case_id) == (Outcome.ACKNOWLEDGED, None)
    assert {(a.type, a.status) for a in result.actions} == {
        ("cancel_order", "pending_approval"),
        ("crm_note", "executed"),
    }
    assert (action.state, action.reason) == (ActionState.PENDING, "a person approves every billing write")
    case = await flows.case(approval_case_id(action.action_id))
    assert (case.action_id, case.triggers) == (action.action_id, (HumanTrigger.CEILING.value,))
    assert (await flows.ticket(sent.conversation)).owner is Owner.BOT
    assert len(await flows.notes(sent.conversation)) == 1
    assert (await flows.order_now(action.proposal.order_id)).status == "processing"


@pytest.mark.req("AX-02", "AX-03", "HD-01")
async def test_an_approved_action_is_done_once_and_the_customer_is_told_where_they_asked(flows: Flows) -> None:
    """Approving wakes the waiting instance; the effect, the case's end and one notice follow."""
    sent, _, action = await asked_to_cancel(flows)
    case = approval_case_id(action.action_id)

    first = await flows.desk("approve", case, {})
    again = await flows.desk("approve", case, {})
    ended = await flows.action_ended(action.action_id)

    assert (first.status_code, again.status_code) == (200, 200), (first.text, again.text)
    assert (ended.state, ended.is_told, ended.starts) == (ActionState.EXECUTED, True, 1)
    assert ended.approved_by.startswith("person:")
    assert (await flows.order_now(action.proposal.order_id)).status == "cancelled"
    texts = [row.text.value for row in await flows.outbox(sent.conversation)]
    assert len(texts) == 2
    assert str(action.proposal.order_id) in texts[1]
    assert (await flows.case(case)).status.value == "resolved"


@pytest.mark.req("AX-02")
async def test_a_rejected_action_is_never_done_and_the_customer_hears_of_it(flows: Flows) -> None:
    """Nothing without an approval."""
    sent, _, action = await asked_to_cancel(flows)

    rejected = await flows.desk("reject", approval_case_id(action.action_id), {"reason": "already packed"})
    ended = await flows.action_ended(action.action_id)
    late = await flows.desk("approve", approval_case_id(action.action_id), {})

    assert (rejected.status_code, late.status_code) == (200, 409)
    assert (ended.state, ended.starts) == (ActionState.REFUSED, 0)
    assert (await flows.order_now(action.proposal.order_id)).status == "processing"
    assert len(await flows.outbox(sent.conversation)) == 2


@pytest.mark.req("AX-02")
async def test_an_action_nobody_decides_about_expires_and_both_sides_are_told(flows: Flows) -> None:
    """Expiry tells the customer and the desk; a late approval is refused."""
    sent, _, action = await asked_to_cancel(flows)
    await flows.edit_action(action.action_id, expires_at=flows.base.clock.now() - timedelta(seconds=1))
    await flows.found(f"a-{action.action_id}")

    late = await flows.desk("approve", approval_case_id(action.action_id), {})
    await flows.hint(action.action_id)
    ended = await flows.action_ended(action.action_id)

    assert late.status_code == 409
    assert (ended.state, ended.is_told) == (ActionState.EXPIRED, True)
    assert len(await flows.outbox(sent.conversation)) == 2
    assert (await flows.case(approval_case_id(action.action_id))).status.value == "resolved"


@pytest.mark.req("AX-02", "GO-03")
@pytest.mark.parametrize(
    ("done", "state", "said"),
    [(True, ActionState.EXECUTED, "have cancelled"), (False, ActionState.REFUSED, "is not carried out")],
    ids=["it was done", "it was not done"],
)
async def test_what_a_person_found_of_an_unclear_action_is_told_once_and_ends_its_case(
    flows: Flows, done: bool, state: ActionState, said: str
) -> None:
    """The desk was told that nobody knows; the customer is told when somebody does, and nothing is called again."""
    sent, _, action = await asked_to_cancel(flows)
    case = approval_case_id(action.action_id)
    await flows.edit_action(action.action_id, state=ActionState.UNCLEAR, reason="the shop cannot be read")
    await flows.found(f"a-{action.action_id}")
    await flows.hint(action.action_id)
    unclear = await flows.action_ended(action.action_id)
    before, open_case = await flows.outbox(sent.conversation), await flows.case(case)

    first = await flows.desk("outcome", case, {"done": done})
    ended = await flows.action_ended(action.action_id)
    again = await flows.desk("outcome", case, {"done": done})

    assert (unclear.state, unclear.is_told, open_case.closed_at) == (ActionState.UNCLEAR, True, None)
    assert (first.status_code, again.status_code) == (200, 200), (first.text, again.text)
    assert (ended.state, ended.is_told, ended.starts) == (state, True, 0)
    notices = (await flows.outbox(sent.conversation))[len(before) :]
    assert [said in row.text.value for row in notices] == [True]
    assert (await flows.case(case)).status.value == "resolved"


@pytest.mark.req("AX-02")
async def test_what_changed_since_the_approval_goes_back_to_the_desk(flows: Flows) -> None:
    """Minting reads the refundable amount again: it is no longer what the person saw."""
    await flows.govern(phase="foundation")
    order = await flows.order(status="delivered")
    flows.cast.classifier.then(understood(CustomerIntent.REFUND))
    result = await flows.result(await flows.post(f"please refund order {order.order_id}"))
    action = await flows.action(next(a.action_id for a in result.actions if a.type == "refund"))
    half = Money(amount_minor=order.total.amount_minor // 2, currency="USD")
    await flows.order(str(order.order_id), status="delivered", refunded=half)

    approved = await flows.desk("approve", approval_case_id(action.action_id), {})
    await flows.action_state(action.action_id, ActionState.PENDING)
    await flows.case_status(approval_case_id(action.action_id), "open")

    returned = await flows.action(action.action_id)
    case = await flows.case(approval_case_id(action.action_id))
    assert approved.status_code == 200
    assert (returned.amount, returned.starts) == (half, 0)
    assert (case.status.value, case.claimed_by) == ("open", None)
    assert "changed" in case.reason


@pytest.mark.req("AX-01", "AX-02", "AX-03", "CO-03", "SU-01")
async def test_within_the_ceilings_a_refund_is_done_in_the_turn_and_the_reply_is_vouched_for_by_it(
    flows: Flows,
) -> None:
    """Phase consolidation: decided by rules, done in the lane, told from the action's own record."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    order = await flows.order(status="delivered", total=Money(amount_minor=1_900, currency="USD"))
    await flows.paid_before(2_000)

    sent, result = await asked_for_refund(flows, order)

    refund = next(a for a in result.actions if a.type == "refund")
    assert result.outcome is Outcome.ANSWERED, result
    assert (refund.status, refund.amount_minor, refund.currency) == ("executed", 1_900, "USD")
    assert result.reply is not None
    assert "19.00" in result.reply.value
    assert f"action:{refund.action_id}" in [source.ref for source in result.sources]
    done = await flows.action(refund.action_id)
    assert (done.state, done.approved_by[:7], done.is_told) == (ActionState.EXECUTED, "policy:", True)
    refunded = (await flows.order_now(order.order_id)).refunded
    assert refunded is not None
    assert refunded.amount_minor == 1_900
    assert len(await flows.outbox(sent.conversation)) == 1


@pytest.mark.req("GO-03", "AX-02")
@pytest.mark.parametrize(
    ("amount_minor", "times", "reason"),
    [(9_900, 1, "above the ceiling"), (2_400, 60, "unusual")],
    ids=["over the single ceiling", "unlike the shop's past"],
)
async def test_a_refund_over_the_ceiling_or_unlike_the_past_waits_for_a_person(
    flows: Flows, amount_minor: int, times: int, reason: str
) -> None:
    """GO-01 ceiling and anomaly monitor: acknowledged, not promised."""
    await flows.govern(phase="consolidation")
    await flows.newcomer()
    order = await flows.order(status="delivered", total=Money(amount_minor=amount_minor, currency="USD"))
    await flows.paid_before(100, times)

    _, result = await asked_for_refund(flows, order)

    refund = next(a for a in result.actions if a.type == "refund")
    assert (result.outcome, refund.status) == (Outcome.ACKNOWLEDGED, "pending_approval")
    assert reason in (await flows.action(refund.action_id)).reason
    assert (await flows.order_now(order.order_id)).refunded is None


@pytest.mark.req("AX-01", "SU-04")
async def test_what_the_shop_would_refuse_is_explained_by_a_person_and_never_tried(flows: Flows) -> None:
    """A shipped order cannot be cancelled: no action is stored, nobody is promised anything."""
    await flows.govern(phase="federation")
    order = await flows.order(status="shipped")

    sent, result = await asked(flows, order, CustomerIntent.ORDER_CANCEL, "please cancel order {order}")

    assert result.outcome is Outcome.ESCALATED
    assert ("cancel_order", "refused") in {(a.type, a.status) for a in result.actions}
    assert (await flows.case(result.case_id)).triggers == (HumanTrigger.ACTION_NEEDS_PERSON.value,)
    assert [r["grant"]["grant"]["action_type"] for r in flows.requests(sent, ActivityName.EXECUTE)] == ["crm_note"]


@pytest.mark.req("AX-03")
async def test_asking_twice_for_the_same_is_one_action(flows: Flows) -> None:
    """Ids come from account, order, lines, type and ordinal, never from the turn: two chats meet one pending action."""
    _, _, first = await asked_to_cancel(flows)
    order = await flows.order_now(first.proposal.order_id)

    _, again = await asked(flows, order, CustomerIntent.ORDER_CANCEL, "cancel order {order} please")

    assert [a.action_id for a in again.actions if a.type == "cancel_order"] == [first.action_id]


@pytest.mark.req("AX-03")
async def test_an_execution_that_is_repeated_writes_one_note(flows: Flows) -> None:
    """A crash between effect and commit runs the activity again: the same action, reported once, done once."""
    sent, _, _ = await asked_to_cancel(flows)
    payload, consumed = flows.calls(sent, ActivityName.EXECUTE)[0], await flows.grants()

    again = [await flows.repeat_agent(ActivityName.EXECUTE, payload) for _ in range(2)]

    statuses = [json.loads(r["value"])["delta"]["actions"][0]["status"] for r in again]
    assert statuses == ["executed", "executed"]
    assert len(await flows.notes(sent.conversation)) == 1
    assert await flows.grants() == consumed


@pytest.mark.req("AX-02", "AX-05", "SU-04", "PR-01")
@pytest.mark.parametrize(
    "flaw", ["forged", "altered", "expired", "other_account", "other_action", "other_amount", "no_token", "read_token"]
)
async def test_a_grant_that_does_not_verify_does_nothing(flows: Flows, flaw: str) -> None:
    """Seal, life, account, action and amount must all be this action's; a write without its token is no message."""
    sent, _, action = await asked_to_cancel(flows)
    approved = action.model_copy(update={"state": ActionState.APPROVED, "approved_by": "person:eve"})
    await flows.edit_action(action.action_id, state=ActionState.APPROVED, approved_by="person:eve")
    good = _minted(flows, approved)
    grants = {
        "forged": good.model_copy(update={"seal": good.seal[:-4] + "0000"}),
        "altered": good.model_copy(update={"grant": good.grant.model_copy(update={"approved_by": "person:mallory"})}),
        "expired": _minted(flows, approved, ClockAt(flows.base.clock.now() - timedelta(minutes=10))),
        "other_account": _minted(flows, approved.model_copy(update={"customer_id": CustomerId("ben")})),
        "other_action": _minted(flows, approved.model_copy(update={"action_id": "0" * 40})),
        "other_amount": _minted(flows, approved.model_copy(update={"amount": Money(amount_minor=1, currency="USD")})),
    }
    template = json.loads(flows.calls(sent, ActivityName.EXECUTE)[0]["envelope"])
    template["payload"]["action"]["action_id"] = action.action_id
    grant = grants.get(flaw, good)
    template["payload"]["grant"] = json.loads(pack(grant))
    template["authority_token"] = None if flaw == "no_token" else grant.seal
    if flaw == "read_token":
        template["payload"] = {"kind": "read"}

    try:
        outcome: dict[str, Any] = await flows.repeat_agent(ActivityName.EXECUTE, {"envelope": json.dumps(template)})
    except Exception as refused:  # noqa: BLE001 - the worker's edge raises what an activity raised
        outcome = {
            "ok": False,
            "error": {"error_class": ErrorClass.SCHEMA if "SchemaError" in str(refused) else str(refused)},
        }

    assert outcome["ok"] is False
    assert outcome["error"]["error_class"] in (ErrorClass.AUTHORITY, ErrorClass.SCHEMA)
    assert (await flows.action(action.action_id)).state is ActionState.APPROVED
    assert (await flows.order_now(action.proposal.order_id)).status == "processing"
    await flows.edit_action(action.action_id, state=ActionState.REFUSED, is_told=True)


def _minted(flows: Flows, action: Action, clock: ClockAt | None = None) -> SignedGrant:
    mint = SealMint(keys=flows.base.seal_keys, clock=clock or flows.base.clock, ids=flows.base.ids)
    return mint.seal_grant(action, policy_version=1)


@pytest.mark.req("PR-01", "PR-02")
async def test_every_message_of_a_turn_is_an_envelope_that_names_what_it_follows_from(flows: Flows) -> None:
    """PR-01: ids, parents, senders, confidence; the only token is the executor's."""
    sent, _, _ = await asked_to_cancel(flows)
    record = flows.requests(sent, ActivityName.RECORD)[0]
    trail = record["trail"]

    asked_ids = {m["msg_id"] for m in trail if m["intent"] == "request"}
    answers = [m for m in trail if m["intent"] != "request"]
    assert len({m["msg_id"] for m in trail}) == len(trail)
    assert all(m["parent_msg_id"] in asked_ids for m in answers)
    assert {m["recipient_agent"] for m in trail if m["is_write"]} == {"action_executor"}
    assert {m["sender_agent"] for m in answers} >= {"intake_classifier", "supervisor", "action_executor"}
    written = WriteEnvelope.model_validate_json(flows.calls(sent, ActivityName.EXECUTE)[0]["envelope"])
    assert written.authority_token == written.payload.grant.seal


@pytest.mark.req("AX-02", "GW-03")
async def test_a_visitor_nobody_knows_gets_nothing_done_about_an_order(flows: Flows) -> None:
    """No identity, no account, no grant: the neutral "I can't find that order" for everybody's orders alike."""

    def compose(request: ComposeRequest) -> Draft:
        text = MaskedText(phrase(Phrase.ORDER_NOT_FOUND_PLAIN, "en"))
        return Draft(sentences=(Sentence(text=text, kind=SentenceKind.NOTICE),), language="en", confidence=0.9)

    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    flows.cast.composer.then(compose)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(ASKS_FOR_CANCELLATION, customer=None)
    result = await flows.result(sent)

    assert (result.outcome, result.actions) == (Outcome.ANSWERED, ())
    assert flows.calls(sent, ActivityName.AUTHORISE) == []
    assert flows.calls(sent, ActivityName.EXECUTE) == []
