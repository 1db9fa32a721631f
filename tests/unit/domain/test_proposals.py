"""From a request to typed proposals: the whole order, clearly named lines, or nothing at all."""

from datetime import UTC, datetime

import pytest

from shared.domain.actions import LineRef, RefundProposal
from shared.domain.deltas import Account, Classification, Entities, Metadata, Snapshot, TurnState
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId, OrderId, TenantId
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.proposals import build_proposals
from shared.domain.sources import Order, OrderLine
from shared.domain.text import MaskedText

ANA = CustomerId("ana")


def a_line(title: str, sku: str, quantity: int = 1) -> OrderLine:
    """Build a line of 10 euro apiece."""
    return OrderLine(title=title, sku=sku, quantity=quantity, unit_price=Money(amount_minor=1_000, currency="EUR"))


def asking(message: str, *named: str, missing: tuple[str, ...] = ()) -> TurnState:
    """Build the state of ana's request about her orders 1001 and 1002."""
    lines = (a_line("Walnut tray", "TR-1"), a_line("Linen napkin", "NA-2", 2), a_line("Linen tablecloth", "TC-3"))
    orders = tuple(
        Order(
            order_id=OrderId(number),
            customer_id=ANA,
            status="delivered",
            lines=lines,
            total=Money(amount_minor=4_000, currency="EUR"),
        )
        for number in ("1001", "1002")
    )
    return TurnState(
        snapshot=Snapshot(
            conversation_id=ConversationId("c1"),
            tenant_id=TenantId("t1"),
            message=MaskedText(message),
            metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC)),
            message_id=MessageId("m1"),
            instance_id=InstanceId("t-1"),
            customer_id=ANA,
        ),
        classification=Classification(
            customer_intent=CustomerIntent.REFUND,
            confidence=0.9,
            entities=Entities(order_refs=tuple(OrderId(n) for n in (*named, *missing))),
        ),
        account=Account(orders=orders, missing_order_refs=tuple(OrderId(m) for m in missing)),
    )


@pytest.mark.req("AX-01")
@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("please refund order 1001", ()),
        ("refund order 1001, i paid 40.00 euro", ()),
        ("refund the walnut tray of order 1001", (LineRef(line_id="TR-1", quantity=1),)),
        ("refund the walnut tray, the napkin and the tablecloth of 1001", ()),
    ],
)
def test_a_clear_request_becomes_one_proposal_an_order(message: str, lines: tuple[LineRef, ...]) -> None:
    """The whole order unless lines are clearly named; naming all of them is the whole order."""
    proposals = build_proposals(asking(message, "1001"), ActionType.REFUND)

    assert proposals == (RefundProposal(order_id=OrderId("1001"), lines=lines),)


@pytest.mark.req("AX-01")
@pytest.mark.parametrize(
    "state",
    [
        asking("refund 15 euro of order 1001", "1001"),
        asking("refund the linen of order 1001", "1001"),
        asking("refund orders 1001 and 9999", "1001", missing=("9999",)),
        asking("refund it"),
    ],
    ids=["part of the sum", "a word two lines share", "one order of somebody else", "no order"],
)
def test_an_unclear_request_becomes_none(state: TurnState) -> None:
    """Money may move without a person: what is not clear is a person's to sort out."""
    assert build_proposals(state, ActionType.REFUND) is None


def test_part_of_an_order_cannot_be_cancelled() -> None:
    """Shops cancel orders, not lines (apis.md §1.10)."""
    assert build_proposals(asking("cancel the walnut tray of 1001", "1001"), ActionType.CANCEL_ORDER) is None


def test_two_orders_are_two_proposals() -> None:
    """Each order is an action of its own, with its own id and its own ceiling check."""
    proposals = build_proposals(asking("refund orders 1001 and 1002", "1001", "1002"), ActionType.REFUND)

    assert proposals is not None
    assert [p.order_id for p in proposals] == ["1001", "1002"]
