"""Real messages against a shop made of real data: grounded, private, and never without an outcome.

Sends what two shop bots could not answer, a seeded sample of labelled messages, and questions about real orders by
their owners and by others. Prints the outcomes by intent and leaves thirty replies to read in the file REPLIES names.
Where the data is absent the test says "not run". Source: issue "Real input", ME-07, SU-01, faults 046, 069.
"""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from shared.domain.ids import CustomerId, OrderId, SourceRef, TenantId
from shared.domain.sources import Order
from shared.ports.documents import CustomerScope, TenantScope
from tests.surface.product import tau_retail
from tests.surface.product.oracle import (
    Evidence,
    order_evidence,
    unsupported_by_expressions,
    unsupported_by_reader,
)
from tests.surface.product.product import RunningProduct, running_product
from tests.surface.product.storefront import Sent, Storefront
from tests.surface.product.tau_retail import RealShop

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED: Final = 20_260_302
LABELLED: Final = 300
ORDER_QUESTIONS: Final = 60
IN_FLIGHT: Final = 16
MINUTES: Final = 3.0
"""Longest the messages may take on two cores. Source: issue "It must show"."""
REPLIES: Final = Path(__file__).parents[3] / "build" / "real_input_replies.md"

TEMPLATES: Final = (
    "Where is my order {id}?",
    "What is the status of order #{id}?",
    "Has order {id} shipped yet?",
    "when will {id} arrive",
    "Which items are in my order {id}?",
    "How much did I pay for order #{id}?",
)
OUTCOMES: Final = {"answered", "clarification", "escalated", "acknowledged", "superseded", "human_owned"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, who sent it, and what came back."""

    kind: str
    """unlabelled, labelled, owner or other"""
    text: str
    customer: CustomerId | None
    label: str
    order: OrderId | None
    sent: Sent


@dataclass(frozen=True, slots=True)
class Run:
    """The whole run."""

    product: RunningProduct
    shop: RealShop
    asked: tuple[Asked, ...]
    where_absent: tuple[Sent, ...]
    """What the questions of others got in a shop with the same articles where the order does not exist."""
    took_s: float

    def answered(self) -> list[Asked]:
        """Return what was answered."""
        return [a for a in self.asked if a.sent.outcome == "answered"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Run]:
    """Seed the real shop, send everything, and keep what came back."""
    path = tau_retail.data_dir()
    shop = tau_retail.load(path)
    async with running_product(tmp_path_factory.mktemp("real")) as product:
        storefront = await product.new_tenant(shop.tenant_id, shop.policy, shop.articles)
        await _put_account_data(product, shop, shop.tenant_id, set(shop.shoppers))
        began = time.perf_counter()
        asked = await _send_all(storefront, _messages(path, shop))
        took_s = time.perf_counter() - began
        result = Run(product, shop, asked, await _where_absent(product, shop, asked), took_s)
        _print(result)
        _write_replies(result)
        yield result


@pytest.mark.req("GW-06", "CL-01", "RT-05")
async def test_every_message_gets_an_outcome_and_none_a_server_error(run: Run) -> None:
    """No 5xx, no turn without an outcome, and no customer's message is ever an administrator's."""
    failed = [(a.text, a.sent.status, a.sent.body) for a in run.asked if a.sent.status != 200]
    nothing = [(a.text, a.sent.body) for a in run.asked if a.sent.outcome not in OUTCOMES]
    admin = [a.text for a in run.asked if a.sent.body.get("intent") == "admin_assistance"]

    assert failed == []
    assert nothing == []
    assert admin == []


@pytest.mark.req("CO-03", "SU-01", "SU-02", "KB-10")
async def test_every_value_of_every_answer_is_vouched_for(run: Run) -> None:
    """Amount, date, duration, percentage, identifier, URL, e-mail: each equals one in a cited source, the owner's own
    record, tenant policy or the customer's own words. Two judges that share no code."""
    found = []
    for asked in run.answered():
        evidence = await _evidence(run, asked)
        missing = unsupported_by_reader(asked.sent.reply, evidence) + unsupported_by_expressions(
            asked.sent.reply, evidence
        )
        if missing:
            found.append((asked.text, asked.sent.reply, asked.sent.body["sources"], missing))

    assert found == []


@pytest.mark.req("ME-07", "AC-01", "GW-03")
async def test_no_order_is_shown_to_anyone_but_its_owner(run: Run) -> None:
    """Order numbers, tracking numbers, streets, names and addresses of others appear in no reply and no source."""
    by_tracking = {s.tracking_number: o for o in run.shop.orders.values() for s in o.shipments if s.tracking_number}
    leaks = []
    for asked in run.asked:
        reply, own = asked.sent.reply, asked.customer
        refs = [str(s["ref"]).removeprefix("order:") for s in asked.sent.body.get("sources", ())]
        typed = set(re.findall(r"W\d{7}", asked.text.upper()))
        for number in set(re.findall(r"W\d{7}", reply.upper())) - typed | set(refs):
            order = run.shop.orders.get(OrderId(number))
            if order is not None and order.customer_id != own:
                leaks.append(("order", number, own, reply))
        for tracking in re.findall(r"\d{10,}", reply):
            if tracking in by_tracking and by_tracking[tracking].customer_id != own:
                leaks.append(("tracking", tracking, own, reply))
        for shopper in run.shop.shoppers.values():
            if shopper.id != own and any(
                secret in reply and secret not in asked.text for secret in (shopper.name, shopper.email, shopper.street)
            ):
                leaks.append(("person", shopper.id, own, reply))

    assert leaks == []


@pytest.mark.req("RT-04", "AC-01")
async def test_owners_hear_of_their_orders(run: Run) -> None:
    """Nine in ten at least: a person may still be asked about one."""
    owners = [a for a in run.asked if a.kind == "owner"]

    told = [a for a in owners if a.sent.outcome == "answered" and str(a.order) in a.sent.reply]

    assert len(told) >= 0.9 * len(owners), [(a.text, a.sent.body) for a in owners if a not in told]


@pytest.mark.req("AC-01", "GW-03")
async def test_another_ones_order_reads_like_an_absent_one(run: Run) -> None:
    """The same words of the same shopper in a shop that has no such order get the very same reply."""
    others = [a for a in run.asked if a.kind == "other"]

    different = []
    for asked, there in zip(others, run.where_absent, strict=True):
        seen = [(s.outcome, s.reply, s.body.get("sources")) for s in (asked.sent, there)]
        if seen[0] != seen[1]:
            different.append((asked.text, *seen))

    assert different == []


@pytest.mark.req("SC-01")
async def test_the_run_stays_within_its_time(run: Run) -> None:
    """Sixteen in flight on two cores."""
    assert run.took_s <= MINUTES * 60


async def _where_absent(product: RunningProduct, shop: RealShop, asked: Iterable[Asked]) -> tuple[Sent, ...]:
    """Ask what others asked in a twin of the shop that holds the askers' own records and nobody else's."""
    twin = TenantId("real-shop-twin")
    others = [a for a in asked if a.kind == "other"]
    storefront = await product.new_tenant(twin, shop.policy, shop.articles)
    asked_for = {a.order for a in others}
    without = replace(shop, orders={id: order for id, order in shop.orders.items() if id not in asked_for})
    await _put_account_data(product, without, twin, {a.customer for a in others if a.customer is not None})
    return tuple(await asyncio.gather(*(storefront.send(a.text, customer=a.customer) for a in others)))


async def _put_account_data(
    product: RunningProduct, shop: RealShop, tenant: TenantId, customers: set[CustomerId]
) -> None:
    for profile in shop.profiles():
        if profile.customer_id in customers:
            await product.shop.put_customer(CustomerScope(tenant, profile.customer_id), profile)
    for order in shop.orders.values():
        if order.customer_id in customers:
            await product.shop.put_order(CustomerScope(tenant, order.customer_id), order)
    for customer, event in shop.billing_events():
        if customer in customers:
            await product.shop.put_billing_event(CustomerScope(tenant, customer), event)


def _messages(path: Path, shop: RealShop) -> list[tuple[str, str, CustomerId | None, str, OrderId | None]]:
    """Return (kind, text, customer, label, order), the same on every run."""
    dice = random.Random(SEED)
    shoppers = [s for s in shop.shoppers.values() if s.orders]
    messages: list[tuple[str, str, CustomerId | None, str, OrderId | None]] = []
    for row in tau_retail.texts(path, "intents_unlabelled.dev.jsonl"):
        messages.append(("unlabelled", row["text"], _anyone(dice, shoppers), "", None))
    for row in dice.sample(tau_retail.texts(path, "intents.dev.jsonl"), LABELLED):
        messages.append(("labelled", row["text"], _anyone(dice, shoppers), row["intent"], None))
    for n, order in enumerate(dice.sample(sorted(shop.orders.values(), key=lambda o: o.order_id), ORDER_QUESTIONS)):
        text = TEMPLATES[n % len(TEMPLATES)].format(id=order.order_id)
        other = dice.choice([s.id for s in shoppers if s.id != order.customer_id])
        messages.append(("owner", text, order.customer_id, "", order.order_id))
        messages.append(("other", text, other if n % 3 else None, "", order.order_id))
    return messages


def _anyone(dice: random.Random, shoppers: list[tau_retail.Shopper]) -> CustomerId | None:
    """Return a shopper, or nobody: a third of the visitors are not signed in."""
    return dice.choice(shoppers).id if dice.random() > 1 / 3 else None


async def _send_all(
    storefront: Storefront, messages: Iterable[tuple[str, str, CustomerId | None, str, OrderId | None]]
) -> tuple[Asked, ...]:
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(kind: str, text: str, customer: CustomerId | None, label: str, order: OrderId | None) -> Asked:
        async with slots:
            return Asked(kind, text, customer, label, order, await storefront.send(text, customer=customer))

    return tuple(await asyncio.gather(*(one(*message) for message in messages)))


async def _evidence(run: Run, asked: Asked) -> Evidence:
    """Return what may vouch for the reply: only cited articles, only the asker's own records."""
    scope = TenantScope(run.shop.tenant_id)
    texts = [asked.text, run.shop.policy.model_dump_json()]
    for source in asked.sent.body["sources"]:
        article = await run.product.services.articles.version(scope, SourceRef(source["ref"]))
        if article is not None:
            texts += [article.title.value, article.content.value, *article.attributes.values()]
    own: list[Order] = [o for o in run.shop.orders.values() if o.customer_id == asked.customer]
    records, moments = order_evidence(own)
    return Evidence(texts=(*texts, *records), moments=moments, currency=tau_retail.CURRENCY)


def _print(run: Run) -> None:
    table: dict[str, Counter[str]] = {}
    for asked in run.asked:
        table.setdefault(str(asked.sent.body.get("intent")), Counter())[asked.sent.outcome or "none"] += 1
    columns = sorted({outcome for counts in table.values() for outcome in counts})
    print(f"\n{len(run.asked)} messages in {run.took_s:.1f} s, {IN_FLIGHT} in flight")
    print(f"{'intent':<26}" + "".join(f"{c:>15}" for c in columns))
    for intent, counts in sorted(table.items()):
        print(f"{intent:<26}" + "".join(f"{counts[c]:>15}" for c in columns))
    for kind in ("unlabelled", "labelled", "owner", "other"):
        print(kind, dict(Counter(a.sent.outcome for a in run.asked if a.kind == kind)))
    reasons = Counter(t for a in run.asked for t in (a.sent.body.get("escalation") or {}).get("triggers", ()))
    print("triggers", dict(reasons.most_common()))


def _write_replies(run: Run) -> None:
    """Leave thirty replies for a person to read: would you send them?"""
    dice = random.Random(SEED)
    replied = [a for a in run.asked if a.sent.reply]
    answered = [a for a in replied if a.sent.outcome == "answered"]
    rest = [a for a in replied if a.sent.outcome != "answered"]
    picked = dice.sample(answered, min(22, len(answered))) + dice.sample(rest, min(8, len(rest)))
    lines = [f"# Thirty replies of the real-input run ({len(run.asked)} messages)", ""]
    for asked in picked:
        refs = ", ".join(str(s["ref"]) for s in asked.sent.body["sources"]) or "none"
        case = asked.sent.body.get("escalation") or {}
        lines += [
            f"## {asked.text}",
            f"{asked.kind}; {'signed in' if asked.customer else 'anonymous'}; label {asked.label or '–'}; "
            f"intent {asked.sent.body.get('intent')}; {asked.sent.outcome}; sources: {refs}; "
            f"triggers: {', '.join(case.get('triggers', ())) or 'none'}",
            "",
            asked.sent.reply,
            "",
        ]
    REPLIES.parent.mkdir(exist_ok=True)
    REPLIES.write_text("\n".join(lines), encoding="utf-8")
