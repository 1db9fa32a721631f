"""What the shop answers to each field that is more than an attribute: connections, money, look-ups, withheld fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo

from tests.servers.shopify.search import parse_search
from tests.servers.shopify.shop import Shop
from tests.servers.shopify.state import (
    BulkOperation,
    CreditAccount,
    Customer,
    Fulfillment,
    Line,
    Order,
    Refund,
    Variant,
    bag,
    money,
    to_amount,
)

PAGE = 250
WALK_STOP = 25_000
VARIANTS_OF_ONE_PRODUCT = 2000
ORDER_WINDOW_DAYS = 60
REASONS = tuple(
    {"id": f"gid://shopify/ReturnReasonDefinition/{i}", "handle": handle, "name": name, "deleted": False}
    for i, (handle, name) in enumerate((("unwanted", "Changed my mind"), ("defective", "Damaged")), 1)
)

SCOPE_OF = {
    "Query.product": "read_products",
    "Query.products": "read_products",
    "Query.inventoryItem": "read_inventory",
    "Query.order": "read_orders",
    "Query.orders": "read_orders",
    "Query.customer": "read_customers",
    "Query.returnableFulfillments": "read_returns",
    "Order.customer": "read_customers",
    "Order.returns": "read_returns",
    "Customer.storeCreditAccounts": "read_store_credit_accounts",
    "StoreCreditAccount.transactions": "read_store_credit_account_transactions",
    "Mutation.refundCreate": "write_orders",
    "Mutation.orderCancel": "write_orders",
    "Mutation.orderUpdate": "write_orders",
    "Mutation.returnRequest": "write_returns",
    "Mutation.storeCreditAccountCredit": "write_store_credit_account_transactions",
}
PROTECTED_LEVEL = {"Query.customer": 1, "Order.customer": 1}
LEVEL_2_FIELDS = {
    ("Customer", "firstName"), ("Customer", "lastName"), ("Order", "email"), ("Order", "phone"),
    ("Order", "shippingAddress"),
}  # fmt: skip


def check_access(shop: Shop, parent: str, name: str) -> None:
    """Refuse a field without its scope or approval, as the API does: null, with an error beside it."""
    key = f"{parent}.{name}"
    scope = SCOPE_OF.get(key)
    held = set(shop.scopes) | {s.replace("write_", "read_") for s in shop.scopes}
    if (scope and scope not in held) or shop.protected_data_level < PROTECTED_LEVEL.get(key, 0):
        raise GraphQLError(f"Access denied for {name} field.", extensions={"code": "ACCESS_DENIED"})


def connect(
    info: GraphQLResolveInfo,
    items: Sequence[Any],
    *,
    first: int | None = None,
    after: str | None = None,
    most: int = PAGE,
) -> dict[str, Any]:
    """Return a page of a connection, which ends at WALK_STOP objects; in a bulk query, all of it."""
    items = list(items) if info.context.is_bulk else list(items[:WALK_STOP])
    if info.context.is_bulk:
        first = len(items)
    elif first is None:
        raise GraphQLError("you must provide one of first or last", extensions={"code": "BAD_REQUEST"})
    elif not 0 < first <= most:
        raise GraphQLError(f"first must be 1 to {most}", extensions={"code": "BAD_REQUEST"})
    start = int(after) + 1 if after else 0
    page = items[start : start + first]
    end = start + len(page)
    return {
        "nodes": page,
        "edges": [{"cursor": str(start + i), "node": item} for i, item in enumerate(page)],
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": str(start) if page else None,
            "endCursor": str(end - 1) if page else None,
        },
    }


def resolve_read(parent: str, name: str, source: Any, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    """Return a field's value."""
    shop: Shop = info.context.shop
    check_access(shop, parent, name)
    if (parent, name) in LEVEL_2_FIELDS and shop.protected_data_level < 2:
        return None
    match parent, source:
        case "Query", _:
            return _root(shop, name, info, args)
        case _, Order():
            found = _order(shop, source, name, info, args)
        case _, Line():
            found = _line(shop, source, name)
        case "InventoryItem", Variant():
            found = _item(source, name, info, args)
        case _, Variant():
            found = _variant(shop, source, name)
        case _, Fulfillment():
            found = _fulfillment(source, name, info, args)
        case _, Refund():
            found = _refund(source, name, info, args)
        case _, Customer():
            found = _customer(shop, source, name, info, args)
        case _, CreditAccount():
            found = _credit_account(source, name, info, args)
        case _:
            found = _other(shop, parent, source, name, info, args)
    return _plain(source, name) if found is MISSING else found


MISSING = object()


def _root(shop: Shop, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "shop":
            return {
                "id": "gid://shopify/Shop/1", "name": shop.name, "currencyCode": shop.currency,
                "myshopifyDomain": shop.domain,
            }  # fmt: skip
        case "products":
            return connect(info, shop.products, first=args.get("first"), after=args.get("after"))
        case "orders":
            return _orders(shop, info, args)
        case "order":
            found = shop.find(args["id"])
            return found if isinstance(found, Order) and _is_readable(shop, found) else None
        case "bulkOperation":
            return _look_at_bulk(shop, args["id"])
        case "returnableFulfillments":
            return connect(info, _returnable(shop, args["orderId"]), first=args.get("first"), after=args.get("after"))
        case "webhookSubscriptions":
            return connect(info, shop.subscriptions, first=args.get("first"), after=args.get("after"))
        case "returnReasonDefinitions":
            return connect(info, REASONS, first=args.get("first"), after=args.get("after"))
        case _:
            return shop.find(args["id"])


def _is_readable(shop: Shop, order: Order) -> bool:
    return "read_all_orders" in shop.scopes or order.created_at >= shop.now() - timedelta(days=ORDER_WINDOW_DAYS)


def _orders(shop: Shop, info: GraphQLResolveInfo, args: dict[str, Any]) -> dict[str, Any]:
    try:
        test = parse_search(args.get("query") or "any:any", ignored=shop.ignored_search_fields)
    except ValueError as error:
        raise GraphQLError(str(error), extensions={"code": "BAD_REQUEST"}) from None
    found = [order for order in shop.orders if test(order) and _is_readable(shop, order)]
    key = "updated_at" if args.get("sortKey") == "UPDATED_AT" else "created_at"
    found.sort(key=lambda order: (getattr(order, key), order.number), reverse=bool(args.get("reverse")))
    return connect(info, found, first=args.get("first"), after=args.get("after"))


def _order(shop: Shop, order: Order, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    first = args.get("first")
    amounts = {
        "totalPriceSet": order.total, "totalShippingPriceSet": order.shipping, "totalRefundedSet": order.refunded,
        "totalReceivedSet": order.received, "currentTotalPriceSet": order.total - order.refunded,
    }  # fmt: skip
    if name in amounts:
        return bag(amounts[name], order)
    match name:
        case "currencyCode":
            return order.currency
        case "presentmentCurrencyCode":
            return order.presentment_currency
        case "displayFinancialStatus":
            return order.financial_status()
        case "displayFulfillmentStatus":
            return order.delivery_status()
        case "returnStatus":
            return order.return_status()
        case "cancellation":
            return None if order.cancelled_at is None else {"staffNote": order.staff_note}
        case "refundable":
            return order.refundable > 0
        case "processedAt":
            return order.created_at
        case "closedAt" | "phone":
            return None
        case "paymentGatewayNames":
            return [order.gateway]
        case "lineItems":
            return connect(info, [_with(line, order) for line in order.lines], first=first, after=args.get("after"))
        case "fulfillments":
            return order.fulfillments[:first]
        case "transactions":
            return [_with(t, order) for t in order.transactions][:first]
        case "refunds":
            return order.refunds[:first]
        case "returns":
            return connect(info, order.returns, first=first, after=args.get("after"))
        case "suggestedRefund":
            return suggest(order, args)
        case _:
            return MISSING


def _with(thing: Any, order: Order) -> Any:
    """Tie a line or transaction to its order, whose currency its amounts are shown in."""
    thing.order = order
    return thing


def suggest(order: Order, args: dict[str, Any]) -> dict[str, Any]:
    """Return what could be paid back for some lines."""
    by_gid = {line.gid: line for line in order.lines}
    wanted = [
        (by_gid[g["lineItemId"]], g["quantity"]) for g in args.get("refundLineItems") or () if g["lineItemId"] in by_gid
    ]
    if args.get("suggestFullRefund"):
        wanted = [(line, line.refundable) for line in order.lines if line.refundable]
    subtotal = sum((line.discounted_unit_price * min(n, line.refundable) for line, n in wanted), Decimal(0))
    is_shipping = args.get("refundShipping") or args.get("suggestFullRefund")
    shipping = order.shipping if is_shipping else Decimal(args.get("shippingAmount") or 0)
    amount = min(subtotal + shipping, order.refundable)
    left = dict(order.tenders())
    suggested = [
        {
            "amountSet": bag(share, order), "gateway": paid.gateway, "kind": "SUGGESTED_REFUND",
            "maximumRefundableSet": bag(left[paid], order), "parentTransaction": _with(paid, order),
        }
        for paid, share in order.spread(amount)
    ]  # fmt: skip
    return {
        "amountSet": bag(amount, order),
        "maximumRefundableSet": bag(order.refundable, order),
        "subtotalSet": bag(subtotal, order),
        "discountedSubtotalSet": bag(subtotal, order),
        "shipping": {"amountSet": bag(shipping, order), "maximumRefundableSet": bag(order.shipping, order)},
        "suggestedTransactions": suggested,
        "refundLineItems": [
            {
                "lineItem": _with(line, order), "quantity": n, "restockType": "NO_RESTOCK",
                "subtotalSet": bag(line.discounted_unit_price * n, order),
            }
            for line, n in wanted
        ],
    }  # fmt: skip


def _line(shop: Shop, line: Any, name: str) -> Any:
    match name:
        case "name":
            return line.title
        case "currentQuantity":
            return line.quantity - line.refunded - line.removed
        case "refundableQuantity":
            return line.refundable
        case "unfulfilledQuantity":
            return max(0, line.quantity - line.fulfilled - line.removed)
        case "originalUnitPriceSet":
            return bag(line.unit_price, line.order)
        case "discountedUnitPriceSet":
            return bag(line.discounted_unit_price, line.order)
        case _:
            return MISSING


def _variant(shop: Shop, variant: Variant, name: str) -> Any:
    match name:
        case "price":
            return to_amount(variant.price, shop.currency)
        case "compareAtPrice":
            return None if variant.compare_at_price is None else to_amount(variant.compare_at_price, shop.currency)
        case "inventoryQuantity":
            return variant.available
        case "inventoryItem":
            return variant
        case _:
            return MISSING


def _item(variant: Variant, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "id":
            return f"gid://shopify/InventoryItem/{variant.item_number}"
        case "legacyResourceId":
            return str(variant.item_number)
        case "tracked":
            return variant.is_tracked
        case "variants":
            return connect(info, [variant], first=args.get("first"), after=args.get("after"))
        case _:
            return MISSING


def _fulfillment(parcel: Fulfillment, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "updatedAt":
            return parcel.created_at
        case "trackingInfo":
            known = {"company": parcel.company, "number": parcel.tracking_number, "url": parcel.tracking_url}
            return [known] if any(known.values()) else []
        case "events":
            events = sorted(parcel.events, key=lambda e: e.happened_at, reverse=bool(args.get("reverse")))
            return connect(info, events, first=args.get("first"), after=args.get("after"))
        case _:
            return MISSING


def _refund(refund: Refund, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "totalRefundedSet":
            return bag(refund.amount, refund.order)
        case "transactions":
            tied = [_with(t, refund.order) for t in refund.transactions]
            return connect(info, tied, first=args.get("first"), after=args.get("after"))
        case "refundLineItems":
            lines = [
                {
                    "lineItem": _with(r.line, refund.order), "quantity": r.quantity, "restockType": r.restock_type,
                    "subtotalSet": bag(r.line.discounted_unit_price * r.quantity, refund.order),
                }
                for r in refund.lines
            ]  # fmt: skip
            return connect(info, lines, first=args.get("first"), after=args.get("after"))
        case _:
            return MISSING


def _customer(shop: Shop, customer: Customer, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "displayName":
            full = " ".join(filter(None, (customer.first_name, customer.last_name)))
            return full or customer.email or customer.phone or ""
        case "numberOfOrders":
            return str(sum(order.customer is customer for order in shop.orders))
        case "updatedAt":
            return customer.created_at
        case "storeCreditAccounts":
            return connect(info, customer.credits, first=args.get("first"), after=args.get("after"))
        case _:
            return MISSING


def _credit_account(account: CreditAccount, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match name:
        case "balance":
            return money(account.balance, account.currency)
        case "transactions":
            newest = list(reversed(account.transactions)) if args.get("reverse") else account.transactions
            return connect(info, newest, first=args.get("first"), after=args.get("after"))
        case _:
            return MISSING


def _other(shop: Shop, parent: str, source: Any, name: str, info: GraphQLResolveInfo, args: dict[str, Any]) -> Any:
    match parent, name:
        case "OrderTransaction", "amountSet":
            return bag(source.amount, source.order)
        case "OrderTransaction", "parentTransaction":
            return None if source.parent is None else _with(source.parent, source.order)
        case "OrderTransaction", "processedAt":
            return source.created_at
        case "OrderTransaction", "formattedGateway":
            return source.gateway
        case "Product", "variants":
            # Only a query of one product may ask for 2,000 at once.
            is_single = info.path.prev is not None and info.path.prev.prev is None
            most = VARIANTS_OF_ONE_PRODUCT if is_single else PAGE
            return connect(info, source.variants, first=args.get("first"), after=args.get("after"), most=most)
        case "Product", "priceRangeV2":
            prices = [variant.price for variant in source.variants] or [Decimal(0)]
            low, high = money(min(prices), shop.currency), money(max(prices), shop.currency)
            return {"minVariantPrice": low, "maxVariantPrice": high}
        case "Product", "variantsCount":
            return {"count": len(source.variants)}
        case "Return", "totalQuantity":
            return sum(line.quantity for line in source.lines)
        case "Return", "returnLineItems":
            return connect(info, source.lines, first=args.get("first"), after=args.get("after"))
        case "ReturnLineItem", "returnReason":
            return source.reason
        case "ReturnLineItem", "customerNote":
            return source.note
        case "ReturnLineItem", "fulfillmentLineItem":
            return source.fulfilled
        case "FulfillmentLineItem", "lineItem":
            return source.line
        case "ReturnableFulfillment", "returnableFulfillmentLineItems":
            return connect(info, source["lines"], first=args.get("first"), after=args.get("after"))
        case "StoreCreditAccountCreditTransaction", "amount":
            return money(source.amount, source.account.currency)
        case "StoreCreditAccountCreditTransaction", "balanceAfterTransaction":
            return money(source.balance_after, source.account.currency)
        case "Job", "done":
            return source.is_done
        case "BulkOperation", _:
            return _bulk(shop, source, name, info)
        case _:
            return MISSING


def _returnable(shop: Shop, gid: str) -> list[dict[str, Any]]:
    order = shop.find(gid)
    if not isinstance(order, Order):
        return []
    found = []
    for parcel in order.fulfillments:
        left = [(f, f.quantity - f.returned) for f in parcel.lines if f.quantity > f.returned]
        if parcel.status == "SUCCESS" and left:
            lines = [{"quantity": n, "fulfillmentLineItem": f} for f, n in left]
            found.append(
                {"id": f"gid://shopify/ReturnableFulfillment/{parcel.number}", "fulfillment": parcel, "lines": lines}
            )
    return found


def _look_at_bulk(shop: Shop, gid: str) -> BulkOperation | None:
    found = shop.find(gid)
    if isinstance(found, BulkOperation) and found.status in ("CREATED", "RUNNING"):
        found.polls += 1
        found.status = "RUNNING"
        if found.polls >= shop.bulk_polls:
            found.completed_at = shop.now()
            found.status = "COMPLETED" if shop.bulk_fails_after is None else "FAILED"
            found.error_code = None if found.status == "COMPLETED" else "INTERNAL_SERVER_ERROR"
    return found if isinstance(found, BulkOperation) else None


def _bulk(shop: Shop, operation: BulkOperation, name: str, info: GraphQLResolveInfo) -> Any:
    url = f"{info.context.base_url}/bulk/{operation.number}.jsonl"
    is_empty = not operation.lines
    match name:
        case "objectCount":
            return str(len(operation.lines) if shop.bulk_fails_after is None else shop.bulk_fails_after)
        case "rootObjectCount":
            return str(operation.root_count)
        case "fileSize":
            return str(sum(len(line) + 1 for line in operation.lines))
        case "url":
            return url if operation.status == "COMPLETED" and not is_empty else None
        case "partialDataUrl":
            return url if operation.status == "FAILED" and not is_empty else None
        case _:
            return MISSING


def _plain(source: Any, name: str) -> Any:
    """Return an attribute or item by its GraphQL name."""
    if isinstance(source, dict):
        return source.get(name)
    if name == "id":
        return source.gid
    if name == "legacyResourceId":
        return str(source.number)
    return getattr(source, "".join(f"_{c.lower()}" if c.isupper() else c for c in name), None)


def serialize_moment(value: Any) -> str:
    """Return a moment as the API writes it."""
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else str(value)
