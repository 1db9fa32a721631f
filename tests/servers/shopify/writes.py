"""The mutations: what the shop changes, what it refuses, and its memory of idempotency keys."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo, get_directive_values

from tests.servers.shopify.reads import check_access
from tests.servers.shopify.shop import Effect, Shop, UsedKey
from tests.servers.shopify.state import (
    CreditAccount,
    CreditTransaction,
    Customer,
    Job,
    Order,
    Refund,
    RefundedLine,
    Return,
    ReturnedLine,
    Thing,
    Transaction,
)

KEY_HOURS = 24
IDEMPOTENT = frozenset({"refundCreate"})
"""Mutations that fail without @idempotent since 2026-04."""


async def resolve_write(name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> dict[str, Any]:
    """Carry a mutation out and return its payload."""
    context = info.context
    shop: Shop = context.shop
    check_access(shop, "Mutation", name)
    if name not in IDEMPOTENT:
        await context.faults.wait(name)
        return _WRITES[name](shop, args, info)
    key = _key(info)
    fingerprint = json.dumps([name, args], sort_keys=True, default=str)
    used = shop.keys.get(key)
    if used is not None and shop.now() < used.at + timedelta(hours=KEY_HOURS):
        if used.fingerprint != fingerprint:
            raise _refuse("IDEMPOTENCY_KEY_PARAMETER_MISMATCH")
        if used.is_running:
            raise _refuse("IDEMPOTENCY_CONCURRENT_REQUEST")
        if isinstance(used.result, Refund):
            return {"order": used.result.order, "refund": used.result, "userErrors": []}
    entry = shop.keys[key] = UsedKey(fingerprint, shop.now())
    try:
        await context.faults.wait(name)
        payload = _WRITES[name](shop, args, info)
    finally:
        entry.is_running = False
    result = payload.get("refund")
    if isinstance(result, Thing):
        entry.result = result
    else:
        # Nothing was made: the key is free again.
        del shop.keys[key]
    return payload


def _key(info: GraphQLResolveInfo) -> str:
    directive = info.schema.get_directive("idempotent")
    assert directive is not None
    values = get_directive_values(directive, info.field_nodes[0], info.variable_values)
    if not values or not values["key"]:
        raise GraphQLError(
            "The @idempotent directive is required for this mutation.", extensions={"code": "BAD_REQUEST"}
        )
    return str(values["key"])


def _refuse(code: str) -> GraphQLError:
    return GraphQLError(code.replace("_", " ").capitalize(), extensions={"code": code})


def _user_error(message: str, *field: str) -> dict[str, Any]:
    return {"field": list(field), "message": message}


def refund_create(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Refund lines and money; without transactions or refund methods no money moves."""
    given = args["input"]
    order = shop.find(given["orderId"])
    if not isinstance(order, Order):
        return {"userErrors": [_user_error("Order does not exist", "orderId")]}
    by_gid = {line.gid: line for line in order.lines}
    lines: list[RefundedLine] = []
    for i, wanted in enumerate(given.get("refundLineItems") or ()):
        line = by_gid.get(wanted["lineItemId"])
        if line is None or not 0 < wanted["quantity"] <= line.refundable:
            message = "Quantity cannot refund more items than were purchased"
            return {"order": order, "userErrors": [_user_error(message, "refundLineItems", str(i), "quantity")]}
        lines.append(RefundedLine(line, wanted["quantity"], wanted.get("restockType") or "NO_RESTOCK"))
    if order.presentment_currency != order.currency and given.get("currency") != order.presentment_currency:
        return {
            "order": order,
            "userErrors": [_user_error("Currency must be the order's presentment currency", "currency")],
        }
    moved: list[Transaction] = []
    is_above = False
    left = {paid.gid: (paid, amount) for paid, amount in order.tenders()}
    for i, wanted in enumerate(given.get("transactions") or ()):
        parent, most = left.get(wanted.get("parentId") or "", (None, Decimal(0)))
        amount = Decimal(str(wanted["amount"])) / order.rate
        is_above = is_above or amount > most
        if wanted["kind"] != "REFUND" or parent is None or wanted["orderId"] != order.gid:
            return {"order": order, "userErrors": [_user_error("Transaction is invalid", "transactions", str(i))]}
        moved.append(
            Transaction(
                shop.number(),
                "REFUND",
                amount,
                shop.now(),
                gateway=wanted["gateway"],
                status=shop.refund_status,
                parent=parent,
            )
        )
    credit = (
        sum((_amount(m) for m in given.get("refundMethods") or () if m.get("storeCreditRefund")), Decimal(0))
        / order.rate
    )
    total = sum((t.amount for t in moved), credit)
    is_above = (is_above or total > order.refundable) and not given.get("allowOverRefunding")
    if any(t.amount <= 0 for t in moved) or is_above:
        message = "Refund amount is greater than the amount that can be refunded"
        return {"order": order, "userErrors": [_user_error(message, "transactions")]}
    refund = Refund(shop.number(), order, shop.now(), lines, moved, credit, given.get("note"))
    for refunded in lines:
        refunded.line.refunded += refunded.quantity
    order.transactions += moved
    order.refunds.append(refund)
    order.updated_at = shop.now()
    if credit and order.customer is not None:
        _credit(shop, order.customer, credit, order.currency)
    shop.effects.append(Effect("refund", order.name, total, {"refund": refund, "note": refund.note}))
    return {"order": order, "refund": refund, "userErrors": []}


def _amount(method: dict[str, Any]) -> Decimal:
    return Decimal(str(method["storeCreditRefund"]["amount"]["amount"]))


def order_cancel(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Start to cancel an order; the work is done later, and cannot be undone."""
    order = shop.find(args["orderId"])

    def refused(message: str, code: str = "INVALID") -> dict[str, Any]:
        error = {"field": ["orderId"], "message": message}
        return {"orderCancelUserErrors": [{**error, "code": code}], "userErrors": [error]}

    if not isinstance(order, Order):
        return refused("Order does not exist", "NOT_FOUND")
    if order.cancelled_at is not None:
        return refused("Order has already been cancelled")
    if any(line.fulfilled for line in order.lines):
        return refused("Cannot cancel an order with fulfillments")
    if any(r.status in ("REQUESTED", "OPEN") for r in order.returns):
        return refused("Cannot cancel an order with open returns")
    method = args.get("refundMethod") or {}
    if method.get("storeCreditRefund") is not None and order.customer is None:
        return refused("Order has no customer", "STORE_CREDIT_REFUND_MISSING_CUSTOMER")

    def work() -> None:
        if order.cancelled_at is not None or shop.jobs_fail:
            return
        order.cancelled_at = order.updated_at = shop.now()
        order.cancel_reason = args["reason"]
        order.staff_note = args.get("staffNote")
        for line in order.lines:
            line.removed = line.quantity - line.refunded
        amount = order.refundable
        if amount and method.get("originalPaymentMethodsRefund"):
            moved = [
                Transaction(
                    shop.number(),
                    "REFUND",
                    share,
                    shop.now(),
                    gateway=paid.gateway,
                    status=shop.refund_status,
                    parent=paid,
                )
                for paid, share in order.spread(amount)
            ]
            order.transactions += moved
            order.refunds.append(Refund(shop.number(), order, shop.now(), [], moved, note="cancelled"))
        elif amount and method.get("storeCreditRefund") is not None:
            assert order.customer is not None
            order.refunds.append(Refund(shop.number(), order, shop.now(), [], [], amount, note="cancelled"))
            _credit(shop, order.customer, amount, order.currency)
        else:
            amount = Decimal(0)
        details = {"reason": args["reason"], "restock": args["restock"], "staff_note": args.get("staffNote")}
        shop.effects.append(Effect("cancel", order.name, amount, details))

    job = Job(shop.number(), shop.now() + timedelta(seconds=shop.job_takes_s), work)
    shop.jobs.append(job)
    return {"job": job, "orderCancelUserErrors": [], "userErrors": []}


def order_update(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Overwrite what is given of an order's address, note, tags and e-mail."""
    given = args["input"]
    order = shop.find(given["id"])
    if not isinstance(order, Order):
        return {"userErrors": [_user_error("Order does not exist", "id")]}
    address = given.get("shippingAddress")
    if address is not None:
        if not (address.get("address1") or "").strip() or not address.get("countryCode"):
            return {"order": order, "userErrors": [_user_error("Address is incomplete", "shippingAddress", "address1")]}
        order.shipping_address = {("countryCodeV2" if k == "countryCode" else k): v for k, v in address.items()}
        shop.effects.append(Effect("address", order.name, Decimal(0), dict(address)))
    for name in ("note", "email"):
        if given.get(name) is not None:
            setattr(order, name, given[name])
    if given.get("tags") is not None:
        order.tags = list(given["tags"])
    order.updated_at = shop.now()
    return {"order": order, "userErrors": []}


def return_request(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Ask for a return; the merchant approves or declines it."""
    given = args["input"]
    order = shop.find(given["orderId"])
    if not isinstance(order, Order):
        error = {**_user_error("Order does not exist", "input", "orderId"), "code": "NOT_FOUND"}
        return {"userErrors": [error]}
    shipped = {f.gid: f for parcel in order.fulfillments if parcel.status == "SUCCESS" for f in parcel.lines}
    lines: list[ReturnedLine] = []
    for i, wanted in enumerate(given["returnLineItems"]):
        fulfilled = shipped.get(wanted["fulfillmentLineItemId"])
        if fulfilled is None or not 0 < wanted["quantity"] <= fulfilled.quantity - fulfilled.returned:
            error = _user_error("Quantity is not available for return", "input", "returnLineItems", str(i), "quantity")
            return {"userErrors": [{**error, "code": "INVALID"}]}
        reason, note = wanted.get("returnReason") or "UNKNOWN", wanted.get("customerNote") or ""
        lines.append(ReturnedLine(shop.number(), fulfilled, wanted["quantity"], reason, note))
    if not lines:
        return {"userErrors": [{**_user_error("Nothing to return", "input", "returnLineItems"), "code": "INVALID"}]}
    for line in lines:
        line.fulfilled.returned += line.quantity
    made = Return(shop.number(), order, f"{order.name}-R{len(order.returns) + 1}", shop.now(), lines)
    order.returns.append(made)
    order.updated_at = shop.now()
    shop.effects.append(Effect("return_request", order.name, Decimal(0), {"return": made}))
    return {"return": made, "userErrors": []}


def store_credit(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Give a customer store credit; asked twice, it is given twice."""
    owner = shop.find(args["id"])
    customer = owner.owner if isinstance(owner, CreditAccount) else owner
    given = args["creditInput"]["creditAmount"]
    amount = Decimal(str(given["amount"]))
    code, message, where = "", "", "id"
    if not isinstance(customer, Customer):
        code, message = "OWNER_NOT_FOUND", "Owner does not exist"
    elif amount <= 0:
        code, message, where = "NEGATIVE_OR_ZERO_AMOUNT", "Amount must be above zero", "creditInput"
    if code:
        return {"userErrors": [{**_user_error(message, where), "code": code}]}
    made = _credit(shop, customer, amount, given["currencyCode"], args["creditInput"].get("expiresAt"))
    shop.effects.append(Effect("store_credit", "", amount, {"customer": customer, "transaction": made}))
    return {"storeCreditAccountTransaction": made, "userErrors": []}


def _credit(
    shop: Shop, customer: Customer, amount: Decimal, currency: str, expires_at: str | None = None
) -> CreditTransaction:
    account = next((a for a in customer.credits if a.currency == currency), None)
    if account is None:
        account = CreditAccount(shop.number(), customer, currency)
        customer.credits.append(account)
    account.balance += amount
    made = CreditTransaction(shop.number(), account, amount, account.balance, shop.now(), expires_at)
    account.transactions.append(made)
    return made


def subscribe(shop: Shop, args: dict[str, Any], info: GraphQLResolveInfo) -> dict[str, Any]:
    """Subscribe a uri to a topic; the same pair again is refused."""
    made = {"topic": args["topic"], "uri": args["webhookSubscription"]["uri"]}
    if made in shop.subscriptions:
        message = "Address for this topic has already been taken"
        return {"userErrors": [_user_error(message, "webhookSubscription", "callbackUrl")]}
    shop.subscriptions.append(made)
    return {"webhookSubscription": made, "userErrors": []}


_WRITES = {
    "webhookSubscriptionCreate": subscribe,
    "refundCreate": refund_create,
    "orderCancel": order_cancel,
    "orderUpdate": order_update,
    "returnRequest": return_request,
    "storeCreditAccountCredit": store_credit,
}
