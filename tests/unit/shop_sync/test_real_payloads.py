"""Payloads nobody here wrote: each is proven by its own vector, taken, recognised when repeated, and leaks nothing.

Reads the folder `VOUCH_DATA` names (../shared/data); a test that finds no such folder says "not run". Nothing of the
data is quoted here; its file says that numeric ids lost precision when published, so ids are read from the gids.
Source: SH-01, issue "Knowledge and the shop".
"""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrators.triggers.shopify_signatures import is_signed_body
from shared.domain.ids import digest
from shared.domain.shop_events import Topic
from shared.ports.documents import Container
from tests.unit.shop_sync.conftest import Desk, signature
from tests.unit.shop_sync.small_shop import DOMAIN

EXEMPLARS = {"products/*": "products/update", "orders/*": "orders/updated", "customers/*": "customers/update"}
EXEMPLARS |= {"refunds/*": "refunds/create", "inventory_levels/*": "inventory_levels/update"}
"""Topic under which a payload is sent whose own was not recorded."""


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """The payloads, or a skip: what did not run proves nothing."""
    path = Path(os.environ.get("VOUCH_DATA", Path(__file__).parents[4] / "shared" / "data"))
    file = path / "shopify" / "webhooks.dev.jsonl"
    if not file.exists():
        pytest.skip(f"not run: the public data is not at {path} (VOUCH_DATA); its requirement ids stay unproven")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def body_of(row: dict[str, Any]) -> bytes:
    """Return the bytes the row's vector was computed over."""
    return json.dumps(row["payload"], ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.req("SH-01")
def test_every_vector_of_the_data_holds_and_none_holds_for_another_body(rows: list[dict[str, Any]]) -> None:
    """Constant-time comparison or not, it is the same HMAC."""
    signatures = [row["hmac"]["x_shopify_hmac_sha256"] for row in rows]

    assert all(is_signed_body(body_of(r), s, [r["hmac"]["secret"]]) for r, s in zip(rows, signatures, strict=True))
    assert not any(
        is_signed_body(body_of(r) + b"\n", s, [r["hmac"]["secret"]]) for r, s in zip(rows, signatures, strict=True)
    )
    assert not any(is_signed_body(body_of(r), s, ["another secret"]) for r, s in zip(rows, signatures, strict=True))


@pytest.mark.req("SH-01", "PV-05")
async def test_every_payload_is_taken_once_and_nothing_of_a_person_is_stored(
    desk: Desk, rows: list[dict[str, Any]]
) -> None:
    """Twice each; afterwards no name, e-mail or address of the payloads stands in the store in plain."""
    desk.services.settings = replace(desk.services.settings, shopify_client_secrets=("hush",))
    outcomes: Counter[str] = Counter()
    for number, row in enumerate(sorted(rows, key=lambda row: row["topic"] == "app/uninstalled")):
        topic = row["topic"].partition(" ")[0]
        topic = EXEMPLARS.get(topic, topic)
        if "shop_domain" in row["payload"]:
            row["payload"]["shop_domain"] = DOMAIN
        raw = body_of(row)
        sent = {"X_Shopify_Hmac_Sha256": signature(raw, "hush"), "X_Shopify_Event_Id": f"e{number}"}
        statuses = []
        for _ in range(2):
            answer = await desk.deliver(topic, raw, **sent)
            assert answer.status_code == 200, (row["id"], answer.get_body())
            statuses.append(json.loads(answer.get_body())["status"])
        outcomes[statuses[0]] += 1
        if topic in set(Topic) - {"app/uninstalled"} and not _is_dead(desk, raw):
            assert statuses == ["accepted", "repeated"], row["id"]

    print(dict(outcomes), f"{len(desk.rows(Container.DEAD_LETTERS))} unreadable")
    stored = json.dumps(desk.rows(), ensure_ascii=False)
    people = {value for row in rows for value in _contacts(row["payload"])}
    assert people
    assert not {value for value in people if value in stored}
    assert outcomes["accepted"] >= 20


@pytest.mark.req("SH-01")
async def test_ids_of_real_payloads_are_those_of_their_gids(desk: Desk, rows: list[dict[str, Any]]) -> None:
    """The number beside it was rounded on the way."""
    desk.services.settings = replace(desk.services.settings, shopify_client_secrets=("hush",))
    products = [row for row in rows if row["topic"] in ("products/create", "products/update")]
    for row in products:
        await desk.deliver(row["topic"], body_of(row), X_Shopify_Hmac_Sha256=row["hmac"]["x_shopify_hmac_sha256"])

    waiting = {work["subject_id"] for work in desk.rows(kind="catalog_work")}
    assert waiting == {row["payload"]["admin_graphql_api_id"].rpartition("/")[2] for row in products}


def _is_dead(desk: Desk, raw: bytes) -> bool:
    return any(row["item_id"] == digest(raw.decode())[:40] for row in desk.rows(Container.DEAD_LETTERS))


def _contacts(value: Any) -> set[str]:
    """Return every e-mail address and personal name in a payload."""
    if isinstance(value, list):
        return {found for item in value for found in _contacts(item)}
    if not isinstance(value, dict):
        return set()
    own = {v for k, v in value.items() if k in ("email", "first_name", "last_name", "address1") and isinstance(v, str)}
    return {v for v in own if len(v) > 3} | {found for item in value.values() for found in _contacts(item)}
