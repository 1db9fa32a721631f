"""What a shop tells us by webhook: the closed set of topics, and the few facts we take from a payload.

Pure. A payload is a hint, never the truth about a product or order; of a person it yields ids only. Headers are not
signed, so whatever a payload can say itself is taken from it, and a topic that does not fit its payload is refused.
Source: SH-01, apis.md §1.2–1.8, faults 054, 065.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, assert_never

from shared.domain.errors import SchemaError
from shared.domain.ids import CustomerId

_DOMAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com")
"""A shop's permanent domain. Source: apis.md §1.14."""
_NUMBER: Final = re.compile(r"[0-9]{1,20}")
"""A Shopify id: 64 bits, decimal."""


class Topic(StrEnum):
    """The topics we subscribe to."""

    PRODUCTS_CREATE = "products/create"
    PRODUCTS_UPDATE = "products/update"
    PRODUCTS_DELETE = "products/delete"
    INVENTORY_LEVELS_UPDATE = "inventory_levels/update"
    ORDERS_CREATE = "orders/create"
    ORDERS_UPDATED = "orders/updated"
    ORDERS_CANCELLED = "orders/cancelled"
    REFUNDS_CREATE = "refunds/create"
    CUSTOMERS_CREATE = "customers/create"
    CUSTOMERS_UPDATE = "customers/update"
    CUSTOMERS_DELETE = "customers/delete"
    APP_UNINSTALLED = "app/uninstalled"
    APP_SCOPES_UPDATE = "app/scopes_update"
    CUSTOMERS_DATA_REQUEST = "customers/data_request"
    CUSTOMERS_REDACT = "customers/redact"
    SHOP_REDACT = "shop/redact"


class Concern(StrEnum):
    """What a topic is about, and so who deals with it."""

    PRODUCT = "product"
    STOCK = "stock"
    RECORD = "record"
    """An order, a refund or a customer: nothing of them is kept here, so there is nothing to refresh."""
    APP = "app"
    """Our own installation."""
    COMPLIANCE = "compliance"


def concern_of(topic: Topic) -> Concern:
    """Return what the topic is about."""
    match topic:
        case Topic.PRODUCTS_CREATE | Topic.PRODUCTS_UPDATE | Topic.PRODUCTS_DELETE:
            return Concern.PRODUCT
        case Topic.INVENTORY_LEVELS_UPDATE:
            return Concern.STOCK
        case Topic.ORDERS_CREATE | Topic.ORDERS_UPDATED | Topic.ORDERS_CANCELLED | Topic.REFUNDS_CREATE:
            return Concern.RECORD
        case Topic.CUSTOMERS_CREATE | Topic.CUSTOMERS_UPDATE | Topic.CUSTOMERS_DELETE:
            return Concern.RECORD
        case Topic.APP_UNINSTALLED | Topic.APP_SCOPES_UPDATE:
            return Concern.APP
        case Topic.CUSTOMERS_DATA_REQUEST | Topic.CUSTOMERS_REDACT | Topic.SHOP_REDACT:
            return Concern.COMPLIANCE
        case _:
            assert_never(topic)


@dataclass(frozen=True, slots=True)
class ShopEvent:
    """One event as delivered once; two deliveries of one event differ in `webhook_id` at most."""

    topic: Topic
    resource_id: str
    """What it is about: numeric id; inventory item and location for a stock level."""
    event_id: str
    webhook_id: str
    """Empty when the delivery did not say."""
    changed_at: datetime | None
    """By the shop's clock: the payload's `updated_at`; of a deletion and of our installation, whose payloads do not
    say when, the moment a header says the event fired. None when nobody said."""
    customer_id: CustomerId | None = None
    """Whom a record is about, so that erasure can find and drop it (fault 060)."""


def is_shop_domain(text: str) -> bool:
    """Tell whether the text is a shop's permanent domain, in lower case."""
    return _DOMAIN.fullmatch(text) is not None


def named_shop(topic: Topic, payload: Mapping[str, object]) -> str | None:
    """Return the shop the signed body itself names, in lower case; None for topics that name none (fault 054)."""
    match concern_of(topic):
        case Concern.COMPLIANCE:
            named = payload.get("shop_domain")
        case Concern.APP:
            named = payload.get("myshopify_domain")
        case _:
            named = None
    return named.lower() if isinstance(named, str) else None


def read_event(
    topic: Topic, payload: Mapping[str, object], *, event_id: str, webhook_id: str, triggered_at: datetime | None
) -> ShopEvent:
    """Return the event. Raises: SchemaError when the payload is not one of the topic, naming no value of it."""
    if concern_of(topic) is Concern.COMPLIANCE:
        _check_compliance(topic, payload)
    return ShopEvent(
        topic=topic,
        resource_id=_resource_id(topic, payload),
        event_id=event_id,
        webhook_id=webhook_id,
        changed_at=_changed_at(topic, payload, triggered_at),
        customer_id=_customer_id(topic, payload),
    )


def granted_scopes(payload: Mapping[str, object]) -> tuple[str, ...]:
    """Return the scopes the shop now grants. Raises: SchemaError."""
    current = payload.get("current")
    if not isinstance(current, list) or not all(isinstance(scope, str) for scope in current):
        raise SchemaError("app/scopes_update lists no current scopes")
    return tuple(sorted(str(scope) for scope in current))


def read_moment(text: object) -> datetime | None:
    """Return a moment with its zone, in UTC; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _changed_at(topic: Topic, payload: Mapping[str, object], triggered_at: datetime | None) -> datetime | None:
    if topic is Topic.PRODUCTS_DELETE or concern_of(topic) is Concern.APP:
        return triggered_at
    return read_moment(payload.get("updated_at"))


def _resource_id(topic: Topic, payload: Mapping[str, object]) -> str:
    match topic:
        case Topic.INVENTORY_LEVELS_UPDATE:
            item = _number(payload.get("inventory_item_id"), "inventory_item_id")
            return f"{item}-{_number(payload.get('location_id'), 'location_id')}"
        case Topic.SHOP_REDACT:
            return _number(payload.get("shop_id"), "shop_id")
        case Topic.CUSTOMERS_DATA_REQUEST | Topic.CUSTOMERS_REDACT:
            return _person_id(payload) or _number(payload.get("shop_id"), "shop_id")
        case _:
            return _own_id(payload)


def _own_id(payload: Mapping[str, object]) -> str:
    """Return the id of the payload's resource: of its gid, which no reader of JSON numbers can have rounded."""
    gid = payload.get("admin_graphql_api_id")
    tail = gid.rpartition("/")[2] if isinstance(gid, str) and gid.startswith("gid://shopify/") else ""
    return tail if _NUMBER.fullmatch(tail) else _number(payload.get("id"), "id")


def _customer_id(topic: Topic, payload: Mapping[str, object]) -> CustomerId | None:
    match topic:
        case Topic.CUSTOMERS_CREATE | Topic.CUSTOMERS_UPDATE | Topic.CUSTOMERS_DELETE:
            return CustomerId(_own_id(payload))
        case _:
            person = _person_id(payload)
            return CustomerId(person) if person else None


def _check_compliance(topic: Topic, payload: Mapping[str, object]) -> None:
    """Refuse a signed body sent on under another topic: a person's erasure must never read as the whole shop's."""
    names_person = isinstance(payload.get("customer"), dict)
    if names_person != (topic is not Topic.SHOP_REDACT):
        raise SchemaError(f"the body is not one of {topic.value}")
    if ("data_request" in payload) != (topic is Topic.CUSTOMERS_DATA_REQUEST):
        raise SchemaError(f"the body is not one of {topic.value}")


def _person_id(payload: Mapping[str, object]) -> str:
    """Return the id of the customer a payload names; empty when it names none, or one by e-mail alone."""
    customer = payload.get("customer")
    id = customer.get("id") if isinstance(customer, dict) else None
    text = str(id) if isinstance(id, int | str) and not isinstance(id, bool) else ""
    return text if _NUMBER.fullmatch(text) else ""


def _number(value: object, name: str) -> str:
    """Return a numeric id as text. Raises: SchemaError."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not _NUMBER.fullmatch(text):
        raise SchemaError(f"the payload has no usable {name}")
    return text
