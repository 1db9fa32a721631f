"""A Shopify for tests: real sockets, real GraphQL, a shop that remembers what was done to it.

    server = ShopifyServer(now=clock.now)                 # any clock; the machine's by default
    shop = server.add_shop("hollin.myshopify.com", currency="USD")
    tokens = shop.issue_tokens()                          # .access, .refresh; is_expiring=False for a custom app
    ana = shop.add_customer("Ana", last_name="Lindqvist", email="ana@x.example", tags=["VIP"])
    shop.add_product("Kettle", [{"title": "Blue", "price": "50.00", "sku": "KT-B", "available": 3}])
    order = shop.add_order(ana, "#1001", [("Kettle", 2, "50.00")], shipping="5.00")
    parcel = shop.fulfil(order, company="UPS", tracking_number="1Z1", tracking_url="https://ups.example/1Z1")
    shop.scan(parcel, "IN_TRANSIT", clock.now())
    async with server.running():
        ...                                               # server.base_url

Every attribute of a record, and every knob of `Shop` (scopes, protected_data_level, maximum_points, refund_status,
job_takes_s, jobs_fail, retains_used_refresh_token, bulk_polls, bulk_order, bulk_line, bulk_fails_after) may be changed
at any time.

Trouble: `server.faults.next("refundCreate", Trouble.DROP_AFTER)` lets the next refund happen and its answer get lost;
`gate = server.faults.hold("refundCreate")` keeps refunds under way until `gate.set()`. Fields are root fields, "token",
"bulk" or "*". The merchant's own doing: `shop.pay_back(order, Decimal("5.00"))`, at any call with `server.on_call`.
What happened: `shop.effects`, `shop.effects_of("refund")`, `shop.refunds`, `shop.returns`, `shop.store_credits`,
`order.cancelled_at`; what was asked: `server.calls["refundCreate"]`, `server.asked`, `server.headers`.

A shop is named by the Host header, so the product's base-URL override reaches any number of shops on one port. Cost is
a stand-in formula; throttling by it is real. Idempotency errors come as top-level errors with a code, since
`refundCreate`'s userErrors have none. Source: apis.md §1.1 to §1.15.
"""

from tests.servers.shopify.faults import Trouble
from tests.servers.shopify.server import ShopifyServer
from tests.servers.shopify.shop import Effect, Shop, Tokens
from tests.servers.shopify.webhooks import send_webhook, sign, webhook_headers

__all__ = ["Effect", "Shop", "ShopifyServer", "Tokens", "Trouble", "send_webhook", "sign", "webhook_headers"]
