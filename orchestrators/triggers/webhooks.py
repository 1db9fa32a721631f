"""Shopify's webhooks: the signature is proven, the event is put into the inbox, and that is all.

Never fetches, embeds or waits: the answer is due within a second (fault 062). Headers are not signed, so the shop the
body names decides, a body under another topic is refused, and what follows from an event is only ever to ask the shop.
Source: SH-01, apis.md §1.2–1.8, faults 054, 057, 060, 061, 062.
"""

import json
import logging
import re
from datetime import datetime
from typing import Final, Literal

from orchestrators.triggers.contract import Call
from orchestrators.triggers.models import Shown
from orchestrators.triggers.parsing import KIB, read_json
from orchestrators.triggers.problems import Problem, ProblemKind
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.shopify_signatures import NOT_SIGNED
from shared.domain.errors import SchemaError
from shared.domain.ids import digest
from shared.domain.shop_events import (
    Concern,
    ShopEvent,
    Topic,
    concern_of,
    granted_scopes,
    is_shop_domain,
    named_shop,
    read_event,
    read_moment,
)
from shared.ports.documents import CustomerScope, TenantScope

WEBHOOK_BYTES: Final = 8 * 1024 * KIB
"""Largest body: a product of 2,048 variants takes some 2 MB. Unit: bytes. Value ours."""

_HEADER_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_log = logging.getLogger(__name__)


class WebhookTaken(Shown):
    """What became of a delivery."""

    status: Literal["accepted", "repeated", "ignored"]
    """ignored: nothing here depends on the topic, the shop removed the app, or whom it is about was erased."""


async def receive_webhook(call: Call) -> Answer:
    """Take a signed delivery into the inbox. Raises: Problem (400, 401, 413)."""
    payload = _payload(call)
    topic = _topic(call)
    if topic is None:
        return _answer("ignored")
    domain = _shop_domain(call, topic, payload)
    scope = await call.services.installations.tenant_of(domain)
    if scope is None:
        return _of_unknown_shop(call, topic)
    is_compliance = concern_of(topic) is Concern.COMPLIANCE
    if not is_compliance and not await call.services.installations.is_connected(scope, domain):
        return _answer("ignored")
    triggered_at = read_moment(call.headers.get("x-shopify-triggered-at"))
    try:
        event = read_event(
            topic,
            payload,
            event_id=_header_id(call, "x-shopify-event-id") or _header_id(call, "x-shopify-webhook-id") or _hash(call),
            webhook_id=_header_id(call, "x-shopify-webhook-id"),
            triggered_at=triggered_at,
        )
        if await _is_of_erased(call, scope, event):
            return _answer("ignored")
        is_new = await call.services.inbox.accept(scope, domain, event, call.raw_body)
        await _of_installation(call, scope, domain, event, payload)
    except SchemaError as error:
        return await _unreadable(call, scope, topic, error)
    return _answer("accepted" if is_new else "repeated")


def _payload(call: Call) -> dict[str, object]:
    try:
        payload: dict[str, object] = json.loads(read_json(call.raw_body, max_bytes=WEBHOOK_BYTES))
    except Problem:
        _log.error("a webhook with a valid signature is not JSON we read (request %s)", call.trace_id)
        raise
    return payload


def _topic(call: Call) -> Topic | None:
    """Return the topic; None for one nothing here depends on. Raises: Problem (400) without one."""
    said = call.headers.get("x-shopify-topic", "").strip().lower()
    if not said:
        raise Problem(ProblemKind.INVALID_HEADER, "X-Shopify-Topic is missing.")
    try:
        return Topic(said)
    except ValueError:
        return None


def _shop_domain(call: Call, topic: Topic, payload: dict[str, object]) -> str:
    """Return the shop: of the header, of the signed body where there is none; never both when they differ (054)."""
    of_header = call.headers.get("x-shopify-shop-domain", "").strip().lower()
    of_body = named_shop(topic, payload)
    if of_header and of_body and of_header != of_body:
        _log.error("a signed %s names another shop than its header (request %s)", topic.value, call.trace_id)
        raise Problem(ProblemKind.INVALID_HEADER, "X-Shopify-Shop-Domain is not the shop of the signed body.")
    domain = of_body or of_header
    if not is_shop_domain(domain):
        raise Problem(ProblemKind.INVALID_HEADER, "Neither X-Shopify-Shop-Domain nor the body names a shop.")
    return domain


def _of_unknown_shop(call: Call, topic: Topic) -> Answer:
    """Answer for a shop nobody ever connected: a privacy request finds nothing to do, everything else is refused."""
    _log.error("a signed %s is of a shop no tenant has (request %s)", topic.value, call.trace_id)
    if concern_of(topic) is Concern.COMPLIANCE:
        return _answer("ignored")
    raise Problem(ProblemKind.SIGNATURE_INVALID, NOT_SIGNED)


async def _is_of_erased(call: Call, scope: TenantScope, event: ShopEvent) -> bool:
    """Tell whether the event is of somebody who was erased: then not even its ids are kept (fault 060)."""
    if event.customer_id is None or concern_of(event.topic) is not Concern.RECORD:
        return False
    return await call.services.tombstones.is_erased(CustomerScope(scope.tenant_id, event.customer_id))


async def _of_installation(
    call: Call, scope: TenantScope, domain: str, event: ShopEvent, payload: dict[str, object]
) -> None:
    """Record what an event says of our own installation; recording it twice changes nothing."""
    match event.topic:
        case Topic.APP_UNINSTALLED:
            at: datetime = event.changed_at or call.services.clock.now()
            if await call.services.installations.uninstall(scope, domain, at=at):
                _log.warning("tenant %s removed the app from its shop", scope.tenant_id)
        case Topic.APP_SCOPES_UPDATE:
            await call.services.installations.record_scopes(scope, domain, granted_scopes(payload))
        case _:
            return


async def _unreadable(call: Call, scope: TenantScope, topic: Topic, error: SchemaError) -> Answer:
    """Keep an event we cannot read as a dead letter: refusing it would cost the subscription, not mend the event.

    A privacy request is refused instead: to acknowledge one is to promise it. Raises: Problem (400).
    """
    await call.services.dead_letters.put(scope, "shopify_webhook", _hash(call)[:40], type(error).__name__)
    _log.error("a signed %s of tenant %s is unreadable: %s", topic.value, scope.tenant_id, error)
    if concern_of(topic) is Concern.COMPLIANCE:
        raise Problem(ProblemKind.INVALID_HEADER, "The signed body is not one of X-Shopify-Topic.")
    return _answer("accepted")


def _header_id(call: Call, name: str) -> str:
    """Return an id of a header; empty when it is absent or no id."""
    said = call.headers.get(name, "")
    return said if _HEADER_ID.fullmatch(said) else ""


def _hash(call: Call) -> str:
    return digest(call.raw_body.decode("utf-8", "replace"))


def _answer(status: Literal["accepted", "repeated", "ignored"]) -> Answer:
    return json_answer(WebhookTaken(status=status))
