"""Asking the merchant to accept a return: the goods the customer has, no money, and the merchant's decision.

Each line of it bears the action's mark, in the note the merchant reads. Source: SH-03, AX-03, apis.md §1.10
(returnRequest as the safe default).
"""

from datetime import datetime
from typing import Final

from pydantic import Field, JsonValue

from shared.adapters.shopify.marks import bears_mark, to_mark
from shared.adapters.shopify.money_orders import OwnerNode
from shared.adapters.shopify.operations import Answer, Connection, Operation
from shared.adapters.shopify.refunds import merge
from shared.adapters.shopify.shops import from_gid
from shared.adapters.shopify.standing import ParcelNode
from shared.adapters.shopify.writing import Impossible, ShopWriting, demand, unseen
from shared.domain.actions import Action, Effect, LineRef, Quote, RequestReturnProposal
from shared.domain.errors import IntegrationError, OutcomeUnknown
from shared.domain.grants import Grant
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined

MAX_PARCELS: Final = 10
"""Parcels read of one order. Value ours."""
MAX_PIECES: Final = 25
"""Lines read of one parcel. Value ours: below an operation's 1,000 points."""
MAX_RETURNS: Final = 25
"""Returns read of one order; with more of them nobody but a person knows what was done. Value ours."""
NOTE: Final = "Asked for in the support chat."
"""What the merchant reads beside the mark; never the customer's words."""


class _NamedNode(Answer):
    id: str


class _PieceNode(Answer):
    id: str
    line_item: _NamedNode


class _ReturnableNode(Answer):
    quantity: int
    fulfillment_line_item: _PieceNode


class _ReturnableParcel(Answer):
    fulfillment: ParcelNode
    returnable_fulfillment_line_items: Connection[_ReturnableNode]


class _NotedNode(Answer):
    customer_note: str | None = None


class _ReturnNode(Answer):
    id: str
    created_at: datetime
    return_line_items: Connection[_NotedNode]


class _ReturnOrder(Answer):
    id: str
    customer: OwnerNode | None = None
    cancelled_at: datetime | None = None
    returns: Connection[_ReturnNode]


class _ReadAnswer(Answer):
    order: _ReturnOrder | None = None
    returnable_fulfillments: Connection[_ReturnableParcel]


class _Payload(Answer):
    made: _ReturnNode | None = Field(default=None, alias="return")


class _RequestAnswer(Answer):
    return_request: _Payload


_RETURN_FIELDS: Final = "id createdAt returnLineItems(first: 1) { nodes { customerNote } }"
RETURNABLE: Final = Operation(
    "returnable",
    "query Returnable($id: ID!) { order(id: $id) { id customer { legacyResourceId } cancelledAt"
    f" returns(first: {MAX_RETURNS}) {{ nodes {{ {_RETURN_FIELDS} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    f" returnableFulfillments(orderId: $id, first: {MAX_PARCELS}) {{ nodes {{"
    " fulfillment { status displayStatus deliveredAt }"
    f" returnableFulfillmentLineItems(first: {MAX_PIECES}) {{ nodes {{ quantity"
    " fulfillmentLineItem { id lineItem { id } } } pageInfo { hasNextPage endCursor } } }"
    " pageInfo { hasNextPage endCursor } } }",
    _ReadAnswer,
    cost=150.0,
)
REQUEST: Final = Operation(
    "returnRequest",
    "mutation RequestReturn($input: ReturnRequestInput!) { returnRequest(input: $input)"
    f" {{ return {{ {_RETURN_FIELDS} }} userErrors {{ code field message }} }} }}",
    _RequestAnswer,
    cost=20.0,
    effect="return",
)


class Returns:
    """Return requests of one customer's order."""

    def __init__(self, shop: ShopWriting) -> None:
        self._shop = shop

    async def quote(self, scope: CustomerScope, proposal: RequestReturnProposal) -> Quote | None:
        """Return which lines could come back; None when the order is not this customer's. Raises: Impossible."""
        found = await self._read(scope, proposal)
        if found is None:
            return None
        lines = _weigh(found, proposal)
        return Quote(order_id=proposal.order_id, owner=scope.customer_id, is_possible=True, lines=lines)

    async def find(self, scope: CustomerScope, proposal: RequestReturnProposal, action: Action) -> Effect | None:
        """Return the action's return request; None when it is certain that there is none. Raises: IntegrationError."""
        found = await self._read(scope, proposal)
        if found is None:
            raise unseen(action.action_id)
        return _made(found, action.action_id)

    async def do(self, scope: CustomerScope, grant: Grant, proposal: RequestReturnProposal) -> Effect:
        """File the request. Raises: Declined, NotCalled, OutcomeUnknown, IntegrationError."""
        found = await self._shop.before(self._read(scope, proposal))
        if found is None or found.order is None:
            raise Declined("there is no such order of this customer")
        done = _made(found, grant.action_id)
        if done is not None:
            return done
        try:
            pieces = _pick(found, _weigh(found, proposal))
        except Impossible as no:
            raise Declined(str(no)) from None
        note = f"{NOTE} {to_mark(grant.action_id)}"
        lines: list[JsonValue] = [
            {"fulfillmentLineItemId": piece, "quantity": n, "returnReason": "UNKNOWN", "customerNote": note}
            for piece, n in pieces
        ]
        variables: dict[str, JsonValue] = {"input": {"orderId": found.order.id, "returnLineItems": lines}}
        made = (await self._shop.write(scope, REQUEST, variables)).return_request.made
        if made is None:
            raise OutcomeUnknown("returnRequest: the answer shows no return")
        return Effect(reference=from_gid(made.id), at=made.created_at)

    async def _read(self, scope: CustomerScope, proposal: RequestReturnProposal) -> _ReadAnswer | None:
        gid = await self._shop.order_gid(scope, proposal.order_id)
        if gid is None:
            return None
        answer = await self._shop.query(scope, RETURNABLE, {"id": gid})
        owner = answer.order.customer if answer.order is not None else None
        return answer if owner is not None and owner.legacy_resource_id == scope.customer_id else None


def _made(found: _ReadAnswer, action_id: str) -> Effect | None:
    assert found.order is not None
    for made in found.order.returns.nodes:
        if any(bears_mark(line.customer_note, action_id) for line in made.return_line_items.nodes):
            return Effect(reference=from_gid(made.id), at=made.created_at)
    if found.order.returns.page_info.has_next_page:
        raise IntegrationError(f"order {from_gid(found.order.id)!r} has more than {MAX_RETURNS} returns")
    return None


def _weigh(found: _ReadAnswer, proposal: RequestReturnProposal) -> tuple[LineRef, ...]:
    """Return the lines that would come back: those asked for, or all the customer has. Raises: Impossible."""
    assert found.order is not None
    demand(found.order.cancelled_at is None, "the order is cancelled")
    left: dict[str, int] = {}
    for line, _, quantity in _pieces(found):
        left[line] = left.get(line, 0) + quantity
    for line, quantity in merge(proposal.lines).items():
        demand(quantity <= left.get(line, 0), "only goods the customer has can come back, and only once")
    demand(bool(left), "only goods the customer has can come back, and only once")
    return proposal.lines or tuple(LineRef(line_id=line, quantity=n) for line, n in left.items())


def _pick(found: _ReadAnswer, lines: tuple[LineRef, ...]) -> list[tuple[str, int]]:
    """Return how many to take of which parcel's lines: the shop knows goods by the parcel they came in."""
    wanted = merge(lines)
    picked: list[tuple[str, int]] = []
    for line, piece, quantity in _pieces(found):
        taken = min(quantity, wanted.get(line, 0))
        if taken:
            picked.append((piece, taken))
            wanted[line] -= taken
    return picked


def _pieces(found: _ReadAnswer) -> list[tuple[str, str, int]]:
    """Return (line, parcel's line, how many) of all goods the customer has and may send back. Raises: Impossible."""
    parcels = found.returnable_fulfillments
    is_whole = not parcels.page_info.has_next_page
    is_whole &= not any(p.returnable_fulfillment_line_items.page_info.has_next_page for p in parcels.nodes)
    demand(is_whole, "the order has more parcels or lines than are read: a person files it")
    return [
        (from_gid(node.fulfillment_line_item.line_item.id), node.fulfillment_line_item.id, node.quantity)
        for parcel in parcels.nodes
        if parcel.fulfillment.has_arrived
        for node in parcel.returnable_fulfillment_line_items.nodes
        if node.quantity > 0
    ]
