"""Sending an order elsewhere, as long as nothing of it has left.

The shop keeps no note of who changed an address, so the address itself tells whether it was done: writing the same
one again changes nothing. Its fields need Level 2 approval; where they are withheld nothing is changed, because nobody
could find out afterwards. Source: SH-03, AX-03, apis.md §1.10, §1.15.
"""

import re
import unicodedata
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from shared.adapters.shopify.money_orders import OwnerNode
from shared.adapters.shopify.operations import Answer, Operation
from shared.adapters.shopify.shops import from_gid
from shared.adapters.shopify.standing import ParcelNode, has_left
from shared.adapters.shopify.writing import Impossible, ShopWriting, demand, unseen
from shared.domain.actions import Action, Address, ChangeAddressProposal, Effect, Quote
from shared.domain.errors import IntegrationError, OutcomeUnknown
from shared.domain.grants import Grant
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined

_REGION: Final = re.compile(r"[A-Z0-9]{1,3}")
"""A region's code, as ISO 3166-2 has it after the country's. Source: apis.md §1.10 (MailingAddressInput)."""
_NOISE: Final = re.compile(r"[\W_]+")


class _AddressNode(Answer):
    first_name: str | None = None
    last_name: str | None = None
    address1: str | None = None
    address2: str | None = None
    city: str | None = None
    zip: str | None = None
    province_code: str | None = None
    country_code_v2: str | None = None
    phone: str | None = None


class _AddressOrder(Answer):
    id: str
    customer: OwnerNode | None = None
    updated_at: datetime
    cancelled_at: datetime | None = None
    display_fulfillment_status: str = ""
    fulfillments: tuple[ParcelNode, ...] = ()
    shipping_address: _AddressNode | None = None


class _ReadAnswer(Answer):
    order: _AddressOrder | None = None


class _UpdatedNode(Answer):
    id: str
    updated_at: datetime


class _Payload(Answer):
    order: _UpdatedNode | None = None


class _UpdateAnswer(Answer):
    order_update: _Payload


ADDRESS: Final = Operation(
    "orderAddress",
    "query OrderAddress($id: ID!) { order(id: $id) { id customer { legacyResourceId } updatedAt cancelledAt"
    " displayFulfillmentStatus fulfillments(first: 10) { status }"
    " shippingAddress { firstName lastName address1 address2 city zip provinceCode countryCodeV2 phone } } }",
    _ReadAnswer,
    cost=10.0,
)
UPDATE: Final = Operation(
    "orderUpdate",
    "mutation ChangeAddress($input: OrderInput!)"
    " { orderUpdate(input: $input) { order { id updatedAt } userErrors { field message } } }",
    _UpdateAnswer,
    # No effect named: a refused update shows the order too.
    cost=12.0,
)


class Addresses:
    """The delivery address of one customer's order."""

    def __init__(self, shop: ShopWriting) -> None:
        self._shop = shop

    async def quote(self, scope: CustomerScope, proposal: ChangeAddressProposal) -> Quote | None:
        """Return whether the address can still change; None when the order is not theirs. Raises: Impossible."""
        order = await self._read(scope, proposal)
        if order is None:
            return None
        _weigh(order, proposal)
        return Quote(order_id=proposal.order_id, owner=scope.customer_id, is_possible=True)

    async def find(self, scope: CustomerScope, proposal: ChangeAddressProposal, action: Action) -> Effect | None:
        """Return that the order goes there; None when it goes elsewhere. Raises: Unavailable, IntegrationError."""
        order = await self._read(scope, proposal)
        if order is None:
            raise unseen(action.action_id)
        if order.shipping_address is None:
            raise IntegrationError(f"the address of action {action.action_id!r} is not shown")
        return _made(order, proposal.address)

    async def do(self, scope: CustomerScope, grant: Grant, proposal: ChangeAddressProposal) -> Effect:
        """Overwrite the address. Raises: Declined, NotCalled, OutcomeUnknown, IntegrationError."""
        address = proposal.address
        if address is None:
            raise Declined("an address is missing")
        order = await self._shop.before(self._read(scope, proposal))
        if order is None:
            raise Declined("there is no such order of this customer")
        done = _made(order, address)
        if done is not None:
            return done
        try:
            _weigh(order, proposal)
        except Impossible as no:
            raise Declined(str(no)) from None
        phone = order.shipping_address.phone if order.shipping_address is not None else None
        given: dict[str, JsonValue] = {"id": order.id, "shippingAddress": _to_input(address, phone)}
        updated = (await self._shop.write(scope, UPDATE, {"input": given})).order_update.order
        if updated is None:
            raise OutcomeUnknown("orderUpdate: the answer shows no order")
        return Effect(reference=from_gid(updated.id), at=updated.updated_at)

    async def _read(self, scope: CustomerScope, proposal: ChangeAddressProposal) -> _AddressOrder | None:
        gid = await self._shop.order_gid(scope, proposal.order_id)
        if gid is None:
            return None
        order = (await self._shop.query(scope, ADDRESS, {"id": gid})).order
        owner = order.customer if order is not None else None
        return order if owner is not None and owner.legacy_resource_id == scope.customer_id else None


def _weigh(order: _AddressOrder, proposal: ChangeAddressProposal) -> None:
    """Raises: Impossible unless the address can still change."""
    demand(order.cancelled_at is None, "the order is cancelled")
    demand(not has_left(order.display_fulfillment_status, order.fulfillments), "the order has left already")
    demand(order.shipping_address is not None, "the shop shows no delivery address of it")
    region = proposal.address.region if proposal.address is not None else ""
    demand(not region or _REGION.fullmatch(region) is not None, "the region has to be given as its code")


def _made(order: _AddressOrder, address: Address | None) -> Effect | None:
    there = order.shipping_address
    if there is None or address is None:
        return None
    is_there = _plain(
        " ".join(filter(None, (there.first_name, there.last_name))),
        there.address1,
        there.address2,
        there.city,
        there.zip,
        there.country_code_v2,
        there.province_code if address.region else "",
    ) == _plain(
        address.recipient,
        address.line1,
        address.line2,
        address.city,
        address.postal_code,
        address.country,
        address.region,
    )
    return Effect(reference=from_gid(order.id), at=order.updated_at) if is_there else None


def _plain(*fields: str | None) -> tuple[str, ...]:
    """Return the fields without what a shop changes of its own accord: case, spacing, punctuation."""
    return tuple(_NOISE.sub("", unicodedata.normalize("NFKC", field or "").casefold()) for field in fields)


def _to_input(address: Address, phone: str | None) -> dict[str, JsonValue]:
    first, _, last = address.recipient.strip().rpartition(" ")
    given: dict[str, JsonValue] = {
        "firstName": first,
        "lastName": last,
        "address1": address.line1,
        "address2": address.line2,
        "city": address.city,
        "zip": address.postal_code,
        "countryCode": address.country,
    }
    if address.region:
        given["provinceCode"] = address.region
    if phone:
        # Carriers ask for one, and what is left out may be wiped.
        given["phone"] = phone
    return given
