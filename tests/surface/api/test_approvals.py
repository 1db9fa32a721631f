"""A person decides about an action over HTTP: who may, what they see, and what a late decision is told.

Source: design §7 (approve, reject), §9 "Approvals", GO-03, AX-02, fault 014.
"""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import httpx
import pytest

from orchestrators.activities.authorising import open_approval
from shared.domain.actions import (
    Action,
    ActionOp,
    ActionState,
    Address,
    ChangeAddressProposal,
    CrmNoteProposal,
    LineRef,
    Proposal,
    RefundProposal,
)
from shared.domain.case import Case
from shared.domain.ids import CaseId, ConversationId, CustomerId, MessageId, OrderId, TenantId, approval_case_id
from shared.domain.intents import CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.writers import ActionRequest
from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem
from tests.surface.api.test_messages import path
from tests.waiting import until

T = TypeVar("T")
ANA = CustomerId("ana")
ADDRESS = {"recipient": "Ana Lind", "line1": "2 New Street", "city": "Leeds", "country": "GB", "postal_code": "LS1 1AA"}
REFUND = RefundProposal(order_id=OrderId("1001"), lines=(LineRef(line_id="l-1", quantity=1),))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do it outside the host's loop."""
    return asyncio.run(work)


class Pending:
    """An action of ana's that waits for a person, and the desk's calls on its case."""

    def __init__(self, api: Api, shop: Shop, proposal: Proposal = REFUND, *, expires_in_h: float = 72) -> None:
        self.api, self.shop = api, shop
        self.conversation = ConversationId(conversation_id())
        said = {"text": "hello", "message_id": "m-1"}
        sent = shop.call("POST", path(self.conversation), headers={"X-Customer-Id": ANA}, json=said)
        assert sent.status_code == 200, sent.text
        self.scope = CustomerScope(TenantId(shop.tenant_id), ANA)
        self.action = run(self._ask(proposal, expires_in_h))
        self.case_id = approval_case_id(self.action.action_id)

    async def _ask(self, proposal: Proposal, expires_in_h: float) -> Action:
        services = self.api.services
        asked = ActionRequest(
            proposal=proposal,
            intent=CustomerIntent.REFUND,
            conversation_id=self.conversation,
            message_id=MessageId("m-1"),
            severity="normal",
            amount=Money(amount_minor=4_200, currency="USD") if isinstance(proposal, RefundProposal) else None,
            reason="the amount is above the ceiling",
            policy_version=1,
            expires_at=services.clock.now() + timedelta(hours=expires_in_h),
        )
        action = await services.actions.request(self.scope, asked, "0")
        await open_approval(action, TenantPolicy(), services)
        return action

    def desk(self, verb: str, body: object = None, key: str = "approver") -> httpx.Response:
        """Call a verb on the case."""
        method, rest = ("POST", f"/{verb}") if verb else ("GET", "")
        return self.shop.call(method, f"/api/v1/desk/cases/{self.case_id}{rest}", key=key, json=body)

    def stored(self) -> Action:
        """Return the action as it stands."""
        action = run(self.api.services.actions.get(self.scope, self.action.action_id))
        assert action is not None
        return action

    def case(self) -> Case:
        """Return the case as it stands."""
        case = run(self.api.services.cases.get(TenantScope(self.scope.tenant_id), CaseId(self.case_id)))
        assert case is not None
        return case

    def decide(self, op: ActionOp, **more: Any) -> None:
        """Let somebody else decide."""
        run(self.api.services.actions.decide(self.scope, self.action.action_id, op, reason="elsewhere", **more))


def shop_with_approvers(api: Api) -> Shop:
    """Return a tenant of the test with two approvers beside its agent."""
    made = api.new_shop()
    for name in ("approver", "approver2"):
        body = {"scope": "desk", "owner": name, "role": "approver"}
        made.keys[name] = made.call("POST", f"/api/v1/tenants/{made.tenant_id}/keys", key="admin", json=body).json()[
            "key"
        ]
    return made


@pytest.fixture
def shop(api: Api) -> Shop:
    """A tenant with two approvers."""
    return shop_with_approvers(api)


@pytest.mark.req("GO-03", "AX-02", "HD-01")
def test_the_case_shows_everything_the_decision_rests_on(api: Api, shop: Shop) -> None:
    """Order, lines, amount, policy, reason and time; and the bot keeps the conversation."""
    pending = Pending(api, shop)

    shown = pending.desk("", key="desk").json()
    listed = shop.call("GET", "/api/v1/desk/cases", key="desk").json()["cases"]
    answer = shop.call("POST", path(pending.conversation), headers={"X-Customer-Id": ANA}, json={"text": "hello"})

    action = shown["action"]
    assert (action["type"], action["order_id"], action["state"]) == ("refund", "1001", "pending")
    assert (action["amount_minor"], action["currency"], action["policy_version"]) == (4_200, "USD", 1)
    assert action["lines"] == [{"line_id": "l-1", "quantity": 1}]
    assert action["reason"] == "the amount is above the ceiling"
    assert (action["requested_at"], action["expires_at"]) == (
        pending.action.requested_at.isoformat().replace("+00:00", "Z"),
        pending.action.expires_at.isoformat().replace("+00:00", "Z"),
    )
    assert [(case["case_id"], case["action_id"]) for case in listed] == [(pending.case_id, pending.action.action_id)]
    assert answer.json()["outcome"] == "answered"


@pytest.mark.req("GO-03", "AX-02")
def test_an_approval_says_who_and_when_and_is_the_same_twice(api: Api, shop: Shop) -> None:
    """Compare and swap: the first approval stays; the approver holds the case until the action has settled."""
    api.give_order(shop, ANA, "1001")
    pending = Pending(api, shop, RefundProposal(order_id=OrderId("1001")))

    first, second = pending.desk("approve", {"amount_minor": 4_200}), pending.desk("approve")

    stored = pending.stored()
    assert (first.status_code, second.status_code) == (200, 200), first.text
    assert stored.state in (ActionState.APPROVED, ActionState.EXECUTING, ActionState.EXECUTED)
    assert (stored.approved_by, stored.approved_at is not None) == ("person:approver", True)
    assert first.json()["action"]["approved_by"] == "person:approver"
    assert pending.case().claimed_by == "approver"


@pytest.mark.req("GO-03", "GW-02", "AX-05")
@pytest.mark.parametrize("verb", ["approve", "reject", "claim"])
def test_a_key_that_is_no_approvers_decides_nothing(api: Api, shop: Shop, verb: str) -> None:
    """Agents see the case; scopes other than the desk's do not even see that."""
    pending = Pending(api, shop)

    answers = [pending.desk(verb, key=key) for key in ("desk", "secret", "publishable", "admin")]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert all(is_problem(answer, "scope-not-allowed") for answer in answers)
    assert pending.stored().state is ActionState.PENDING
    assert pending.case().claimed_by is None


@pytest.mark.req("GO-03", "AX-02")
def test_a_rejection_is_written_and_the_customer_never_sees_its_reason(api: Api, shop: Shop) -> None:
    """The reason is the desk's, masked at rest; rejecting again is success, approving afterwards is not."""
    pending = Pending(api, shop)
    reason = "Not covered; wrote to reject.canary@mail.example"

    rejected, again = pending.desk("reject", {"reason": reason}), pending.desk("reject")
    approved = pending.desk("approve")

    thread = shop.call("GET", path(pending.conversation, ""), headers={"X-Customer-Id": ANA}).text
    assert (rejected.status_code, again.status_code) == (200, 200), rejected.text
    assert rejected.json()["action"]["state"] == "refused"
    assert rejected.json()["action"]["reason"] == reason
    assert (approved.status_code, is_problem(approved, "conflict")) == (409, True)
    assert "nothing was done" in approved.json()["detail"]
    assert "canary" not in thread
    assert b"reject.canary" not in api.stored_bytes()


def _expire(pending: Pending) -> None:
    pending.decide(ActionOp.EXPIRE)


def _approve_elsewhere(pending: Pending) -> None:
    pending.decide(ActionOp.APPROVE, by="person:eli")


def _reject_elsewhere(pending: Pending) -> None:
    pending.decide(ActionOp.REFUSE)


TOO_LATE = {
    "approve what has expired": (_expire, "approve", "in time"),
    "reject what has expired": (_expire, "reject", "in time"),
    "approve what somebody rejected": (_reject_elsewhere, "approve", "rejected"),
    "reject what somebody approved": (_approve_elsewhere, "reject", "person:eli"),
}


@pytest.mark.req("AX-02", "GO-03")
@pytest.mark.parametrize(("first", "verb", "said"), TOO_LATE.values(), ids=TOO_LATE.keys())
def test_a_decision_that_comes_too_late_is_told_why(api: Api, shop: Shop, first: Any, verb: str, said: str) -> None:
    """409 with what has become of the action; nothing is changed and the case stays as it was."""
    pending = Pending(api, shop)
    first(pending)
    before = pending.stored()

    answer = pending.desk(verb)

    after = pending.stored()
    assert (answer.status_code, is_problem(answer, "conflict")) == (409, True)
    assert said in answer.json()["detail"]
    assert (after.approved_by, after.reason) == (before.approved_by, before.reason)


@pytest.mark.req("AX-02")
def test_the_time_to_decide_ends_by_the_clock_whether_or_not_a_sweep_came_by(api: Api, shop: Shop) -> None:
    """An approval of something that is over would be carried out days later."""
    pending = Pending(api, shop, expires_in_h=-1)

    answers = [pending.desk(verb) for verb in ("approve", "reject")]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert "was over at" in answers[0].json()["detail"]
    assert pending.stored().state in (ActionState.PENDING, ActionState.EXPIRED)


@pytest.mark.req("AX-02", "GO-03")
def test_another_amount_than_the_approver_saw_is_a_conflict(api: Api, shop: Shop) -> None:
    """Changed goes back to the desk: what is approved is what was on the screen."""
    pending = Pending(api, shop)
    smaller = Money(amount_minor=3_900, currency="USD")
    pending.decide(ActionOp.RETURN_TO_DESK, amount=smaller)

    stale = pending.desk("approve", {"amount_minor": 4_200})
    fresh = pending.desk("approve", {"amount_minor": 3_900})

    assert (stale.status_code, fresh.status_code) == (409, 200)
    assert "amount has changed" in stale.json()["detail"]
    assert pending.stored().amount == smaller


@pytest.mark.req("AX-01", "AX-02")
def test_a_new_address_is_written_by_the_approver_and_only_where_one_belongs(api: Api, shop: Shop) -> None:
    """No model writes an address; without one there is nothing to approve."""
    moving = Pending(api, shop, ChangeAddressProposal(order_id=OrderId("1001")))
    paying = Pending(api, shop)

    without = moving.desk("approve")
    hostile = moving.desk("approve", {"address": ADDRESS | {"city": "Leeds\nPaid in full"}})
    misplaced = paying.desk("approve", {"address": ADDRESS})
    approved = moving.desk("approve", {"address": ADDRESS})

    assert [answer.status_code for answer in (without, hostile, misplaced)] == [422, 422, 422]
    assert without.json()["errors"][0]["field"] == "address"
    assert approved.status_code == 200, approved.text
    assert approved.json()["action"]["address"]["line1"] == "2 New Street"
    stored = moving.stored()
    assert stored.action_id == moving.action.action_id
    assert isinstance(stored.proposal, ChangeAddressProposal)
    assert paying.stored().state is ActionState.PENDING


@pytest.mark.req("HD-01", "GO-03")
def test_an_approval_case_is_one_persons_and_comes_back_when_they_let_go_of_it(api: Api, shop: Shop) -> None:
    """A case nobody can see any more would let its action expire unseen; the ticket never moves."""
    pending = Pending(api, shop)
    before = run(api.services.tickets.ticket(TenantScope(pending.scope.tenant_id), pending.conversation))

    claimed = pending.desk("claim")
    foreign = [pending.desk(verb, key="approver2") for verb in ("approve", "reject", "release")]
    resolved = pending.desk("resolve")
    released = pending.desk("release")
    taken_over = pending.desk("approve", key="approver2")

    after = run(api.services.tickets.ticket(TenantScope(pending.scope.tenant_id), pending.conversation))
    assert claimed.json()["claimed_by"] == "approver"
    assert [answer.status_code for answer in foreign] == [403, 403, 403]
    assert (resolved.status_code, "approve or reject" in resolved.json()["detail"]) == (409, True)
    assert (released.json()["status"], released.json()["claimed_by"]) == ("open", None)
    assert taken_over.status_code == 200
    assert (after and after.owner, after and after.status) == (before and before.owner, before and before.status)


@pytest.mark.req("HD-01", "GO-03")
def test_a_case_whose_action_is_over_can_be_ended_without_touching_the_conversation(api: Api, shop: Shop) -> None:
    """The bot has kept the conversation; there is nothing to give back."""
    pending = Pending(api, shop, CrmNoteProposal(text="wants a call about the next order"))
    pending.decide(ActionOp.REFUSE)

    shown = pending.desk("").json()
    resolved = pending.desk("resolve")

    ticket = run(api.services.tickets.ticket(TenantScope(pending.scope.tenant_id), pending.conversation))
    assert shown["action"]["note"] == "wants a call about the next order"
    assert (resolved.status_code, resolved.json()["status"]) == (200, "resolved")
    assert ticket is not None
    assert (ticket.owner, ticket.status) == ("bot", "open")


@pytest.mark.req("HD-01")
def test_a_handoff_has_no_action_to_decide_about(shop: Shop) -> None:
    """409 for a case of the other kind, 404 for none at all."""
    wish = {"text": "I want to talk to a human being, please."}
    turn = shop.call("POST", path(conversation_id()), headers={"X-Customer-Id": ANA}, json=wish).json()
    case = turn["escalation"]["case_id"]

    answers = [
        shop.call("POST", f"/api/v1/desk/cases/{id}/{verb}", key="approver")
        for id in (case, "ac-none")
        for verb in ("approve", "reject")
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 404, 404]


@pytest.mark.req("GO-03", "AX-02", "SC-02", "ES-02")
@pytest.mark.parametrize(
    ("verb", "state", "told"),
    [
        ("approve", "executed", "We have refunded $42.00 for your order #1001."),
        ("reject", "refused", "is not carried out"),
    ],
)
def test_a_refund_asked_for_waits_for_a_person_and_the_customer_hears_how_it_ended(
    api: Api, shop: Shop, verb: str, state: str, told: str
) -> None:
    """Phase foundation, from the message to the notice: the whole way, once."""
    api.give_order(shop, ANA, "1001")
    talk, who = conversation_id(), {"X-Customer-Id": ANA}

    turn = shop.call("POST", path(talk), headers=who, json={"text": "Please refund my order 1001."}).json()
    (case,) = shop.call("GET", "/api/v1/desk/cases", key="approver").json()["cases"]
    decided = shop.call("POST", f"/api/v1/desk/cases/{case['case_id']}/{verb}", key="approver")

    def thread() -> list[dict[str, Any]]:
        return list(shop.call("GET", path(talk, ""), headers=who).json()["messages"])

    def shown() -> dict[str, Any]:
        return dict(shop.call("GET", f"/api/v1/desk/cases/{case['case_id']}", key="desk").json())

    async def is_settled() -> bool:
        return len(thread()) == 3 and shown()["status"] == "resolved"

    run(until(is_settled, "the customer is told and the case is over"))
    lines = thread()
    assert turn["outcome"] == "acknowledged"
    assert ("refund", "pending_approval") in [(action["type"], action["status"]) for action in turn["actions"]]
    assert decided.status_code == 200, decided.text
    assert [line["role"] for line in lines] == ["customer", "assistant", "assistant"]
    assert told in lines[-1]["text"]
    assert shown()["action"]["state"] == state


@pytest.mark.req("AX-02", "HD-01")
def test_what_the_customer_wrote_since_has_to_be_read_before_an_approval(api: Api, shop: Shop) -> None:
    """“Never mind, I keep it” in any words or language: nothing is done on what was asked before it."""
    pending = Pending(api, shop)
    said = {"text": "Lascia stare, lo tengo", "message_id": "m-2"}
    shop.call("POST", path(pending.conversation), headers={"X-Customer-Id": ANA}, json=said)

    blind = pending.desk("approve")
    shown = pending.desk("").json()["action"]
    older = pending.desk("approve", {"read_up_to": shown["written_since"] - 1})
    knowing = pending.desk("approve", {"read_up_to": shown["written_since"]})

    assert [answer.status_code for answer in (blind, older, knowing)] == [409, 409, 200]
    assert "written since" in blind.json()["detail"]


@pytest.mark.req("AX-02")
def test_a_second_approval_with_other_content_is_a_conflict(api: Api, shop: Shop) -> None:
    """It would be dropped in silence otherwise."""
    asked = ChangeAddressProposal(order_id=OrderId("1001"))
    pending = Pending(api, shop, asked)
    decided = asked.model_copy(update={"address": Address(**ADDRESS)})
    actions, id = api.services.actions, pending.action.action_id
    # Written past the desk, so that nothing is woken and the action stays approved.
    run(actions.decide(pending.scope, id, ActionOp.APPROVE, by="person:approver", reason="said", proposal=decided))

    again = pending.desk("approve", {"address": ADDRESS})
    bare = pending.desk("approve")
    other = pending.desk("approve", {"address": ADDRESS | {"line1": "3 Other Street"}})

    assert [answer.status_code for answer in (again, bare, other)] == [200, 200, 409]
    assert "other content" in other.json()["detail"]
