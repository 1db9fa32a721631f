"""An order's facts as sentences in the customer's language, each a pure rendering of the record.

Never says more than the record holds; text inside the record is data and is cleaned, never followed.
Source: RT-04, CO-05, design §9.
"""

import re
from enum import StrEnum
from typing import Final

from shared.domain.phrases.catalog import phrase_language
from shared.domain.phrases.order_texts import ORDER_TEXTS, STATUS_ALIASES, STATUS_LABELS
from shared.domain.phrases.rendering import render_date, render_money
from shared.domain.sources import Order, Shipment

MAX_ITEMS: Final = 5
"""Order lines named in one sentence. Source: ours."""
MAX_DATA_CHARS: Final = 80
"""Longest stretch of a record's free text shown. Unit: characters. Source: ours."""


class OrderFact(StrEnum):
    """One thing an order's record can say."""

    STATUS = "status"
    PLACED = "placed"
    ITEMS = "items"
    TOTAL = "total"
    SHIPMENT = "shipment"
    TRACKING_URL = "tracking_url"
    ETA = "eta"
    DELIVERED = "delivered"
    REFUND = "refund"
    NO_REFUND = "no_refund"
    SUMMARY = "summary"


def canonical_status(status: str) -> str:
    """Return the shop's word for a state as one of ours, or unchanged when we do not know it."""
    key = re.sub(r"[\s-]+", "_", status.strip().lower())
    return STATUS_ALIASES.get(key, key)


def status_label(status: str, language: str) -> str:
    """Return the state as a customer would say it; an unknown state is shown as the shop says it."""
    labels = STATUS_LABELS.get(canonical_status(status))
    return labels[phrase_language(language)] if labels else _data(status).replace("_", " ")


def order_sentences(order: Order, language: str) -> dict[OrderFact, tuple[str, ...]]:
    """Return every sentence the record supports, by fact; a fact the record does not hold is absent."""
    base = phrase_language(language)
    state = canonical_status(order.status)
    facts: dict[OrderFact, tuple[str, ...]] = {OrderFact.STATUS: (_status(order, state, language),)}

    def put(fact: OrderFact, *sentences: str) -> None:
        if sentences:
            facts[fact] = sentences

    if order.placed_at:
        put(OrderFact.PLACED, ORDER_TEXTS["placed"][base].format(date=render_date(order.placed_at, language)))
    if order.lines:
        put(OrderFact.ITEMS, ORDER_TEXTS["items"][base].format(items=_items(order)))
    put(OrderFact.TOTAL, ORDER_TEXTS["total"][base].format(amount=render_money(order.total, language)))
    put(OrderFact.SHIPMENT, *(t for s in order.shipments if (t := _shipment(s, base))))
    put(
        OrderFact.TRACKING_URL,
        *(ORDER_TEXTS["tracking_url"][base].format(url=s.tracking_url) for s in order.shipments if _is_link(s)),
    )
    dated = {"en": language}.get(base, base)
    expected = [s.expected_on for s in order.shipments if s.expected_on and not s.delivered_at]
    if state not in ("delivered", "cancelled", "returned"):
        put(OrderFact.ETA, *(ORDER_TEXTS["eta"][base].format(date=render_date(d, dated)) for d in expected))
    arrived = [s.delivered_at for s in order.shipments if s.delivered_at]
    put(OrderFact.DELIVERED, *(ORDER_TEXTS["delivered"][base].format(date=render_date(d, dated)) for d in arrived))
    if order.refunded and order.refunded.amount_minor > 0:
        put(OrderFact.REFUND, ORDER_TEXTS["refund"][base].format(amount=render_money(order.refunded, language)))
    elif state != "refunded":
        put(OrderFact.NO_REFUND, ORDER_TEXTS["no_refund"][base])
    put(OrderFact.SUMMARY, _summary(order, language))
    return facts


def _status(order: Order, state: str, language: str) -> str:
    base = phrase_language(language)
    key = f"status_part_{state}" if _is_partly(order, state) else f"status_{state}"
    frame = ORDER_TEXTS.get(key, ORDER_TEXTS["status" if state in STATUS_LABELS else "status_other"])[base]
    return frame.format(id=order.order_id, label=status_label(order.status, language))


def _is_partly(order: Order, state: str) -> bool:
    """Tell whether the state holds for a part of the order only, by the shop's own word or by the amounts."""
    paid_back = order.refunded
    is_less = paid_back is not None and 0 < paid_back.amount_minor < order.total.amount_minor
    return (state == "refunded" and is_less) or (state in ("shipped", "refunded") and "partial" in order.status.lower())


def _summary(order: Order, language: str) -> str:
    base = phrase_language(language)
    label = status_label(order.status, language)
    if order.placed_at is None:
        return ORDER_TEXTS["summary_undated"][base].format(id=order.order_id, label=label)
    return ORDER_TEXTS["summary"][base].format(
        id=order.order_id, date=render_date(order.placed_at, language), label=label
    )


def _items(order: Order) -> str:
    shown = [
        f"{line.quantity} × {_data(line.title)}{f' ({_data(line.variant)})' if line.variant else ''}"
        for line in order.lines
    ]
    return ", ".join(shown[:MAX_ITEMS]) + (" …" if len(shown) > MAX_ITEMS else "")


def _shipment(shipment: Shipment, base: str) -> str:
    carrier, tracking = _data(shipment.carrier), _data(shipment.tracking_number)
    key = "shipment" if carrier and tracking else "carrier" if carrier else "tracking" if tracking else ""
    return ORDER_TEXTS[key][base].format(carrier=carrier, tracking=tracking) if key else ""


def _is_link(shipment: Shipment) -> bool:
    return re.fullmatch(r"https://[^\s<>\"']{1,500}", shipment.tracking_url) is not None


def _data(text: str) -> str:
    """Return a record's free text as one short printable run."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:MAX_DATA_CHARS].rstrip()
