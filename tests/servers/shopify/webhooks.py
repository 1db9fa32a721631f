"""Webhooks as a shop sends them: headers of apis.md §1.2, signed over the raw body."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from datetime import datetime
from typing import Any

import httpx


def sign(raw: bytes, secret: str) -> str:
    """Return the X-Shopify-Hmac-Sha256 of a body."""
    return base64.b64encode(hmac.new(secret.encode(), raw, hashlib.sha256).digest()).decode()


def webhook_headers(
    topic: str,
    shop_domain: str,
    raw: bytes,
    secret: str,
    *,
    webhook_id: str | None = None,
    event_id: str | None = None,
    triggered_at: datetime | None = None,
) -> dict[str, str]:
    """Return the headers of a delivery; ids are fresh unless given."""
    return {
        "Content-Type": "application/json",
        "X-Shopify-Topic": topic,
        "X-Shopify-Shop-Domain": shop_domain,
        "X-Shopify-API-Version": "2026-10",
        "X-Shopify-Webhook-Id": webhook_id or str(uuid.uuid4()),
        "X-Shopify-Event-Id": event_id or str(uuid.uuid4()),
        "X-Shopify-Triggered-At": triggered_at.isoformat() if triggered_at else "2026-03-02T09:00:00.000000000Z",
        "X-Shopify-Hmac-Sha256": sign(raw, secret),
    }


async def send_webhook(
    url: str, topic: str, shop_domain: str, payload: dict[str, Any] | bytes, secret: str, **ids: Any
) -> httpx.Response:
    """Deliver a payload once and return the receiver's answer; bytes are sent as they are."""
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    async with httpx.AsyncClient(timeout=5) as client:
        return await client.post(url, content=raw, headers=webhook_headers(topic, shop_domain, raw, secret, **ids))
