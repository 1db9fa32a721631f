"""Which billing systems the billing contract runs against, and the table of what ran against which (fault 093).

To add a system: one entry in BILLING_SYSTEMS whose opener returns a BillingUnderTest. Every test of the suite then runs
against it unchanged, over a real store of actions; a system says which kinds of action it does at all.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Final

from local.fault_plan import Fault, FaultPlan, FaultRule, PlanFile
from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.buckets import BucketRecords
from shared.adapters.records.installations import InstallationRecords
from shared.adapters.records.masks import DataKeyRecords
from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.shopify.accounts import ShopifyAccounts
from shared.adapters.shopify.billing import ShopifyBilling
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.shops import ShopDirectory
from shared.adapters.shopify.tokens import ShopTokens
from shared.adapters.shopify.transport import ShopTransport
from shared.domain.actions import RULES, LineRef
from shared.domain.ids import CustomerId
from shared.domain.installation import TokenGrant
from shared.domain.intents import ActionType
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import CustomerScope, TenantScope
from shared.privacy.keys import KeyRing
from tests.acting.stage import ANA, BEN, ORDER, Stage, open_stage
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.servers.shopify.state import Customer, Order

METHODS: Final = {
    ActionType.REFUND: "refund",
    ActionType.CREDIT: "credit",
    ActionType.REQUEST_RETURN: "request_return",
    ActionType.CANCEL_ORDER: "cancel_order",
    ActionType.CHANGE_ADDRESS: "change_address",
    ActionType.RESEND: "resend",
}
ALL: Final = frozenset(type_ for type_, rule in RULES.items() if rule.needs_lane)
SILENCE_S: Final = 0.4
"""Seconds a write, or reading before it, may take in a test: silence is waited for this long and no longer."""


class BillingUnderTest(ABC):
    """One billing system with an order of 40.00 USD: a kettle of 15.00 and two mugs of 12.50."""

    stage: Stage
    """Everything that acts on it; its billing is the system's."""
    clock: FixedClock
    ana: CustomerScope
    ben: CustomerScope

    @abstractmethod
    async def seed(self, state: str, *, owner: CustomerScope | None = None, number: str = ORDER) -> None:
        """Put the order in a state: delivered, processing, shipped, part_shipped, cancelled, unpaid or strange."""

    @abstractmethod
    def line(self, name: str, quantity: int = 1) -> tuple[LineRef, ...]:
        """Return a line of the order by its title."""

    @abstractmethod
    async def pay_back_elsewhere(self, minor: int) -> None:
        """Let the merchant pay a part back without us."""

    @abstractmethod
    def trouble(self, type_: ActionType, *, after: bool) -> None:
        """Cut the next write off, after it was done or before."""

    @abstractmethod
    async def effects(self) -> int:
        """Return how many things were done to ana's orders."""

    @abstractmethod
    async def paid_minor(self) -> int:
        """Return what ana was given back, in money and store credit."""


async def call(system: BillingUnderTest, verified: VerifiedGrant, proposal: object) -> object:
    """Call the writer's method for the proposal."""
    method = getattr(system.stage.billing, METHODS[verified.grant.action_type])
    return await method(verified, proposal)


class Embedded(BillingUnderTest):
    """The embedded shop over its own records."""

    does = ALL

    def __init__(self, stage: Stage, clock: FixedClock) -> None:
        self.stage, self.clock, self.ana, self.ben = stage, clock, ANA, BEN

    async def seed(self, state: str, *, owner: CustomerScope | None = None, number: str = ORDER) -> None:
        """Write the order's row."""
        named = {"part_shipped": "partially_fulfilled", "unpaid": "awaiting_payment", "strange": "quantum"}
        await self.stage.seed(owner or ANA, named.get(state, state), number)

    def line(self, name: str, quantity: int = 1) -> tuple[LineRef, ...]:
        """Lines go by their SKU."""
        return (LineRef(line_id={"Kettle": "KT-1", "Mug": "MG-2"}.get(name, name), quantity=quantity),)

    async def pay_back_elsewhere(self, minor: int) -> None:
        """Write the order's row anew."""
        order = await self.stage.shop.order(ANA, ORDER)
        assert order is not None
        refunded = order.total.model_copy(update={"amount_minor": minor})
        await self.stage.shop.put_order(ANA, order.model_copy(update={"refunded": refunded}))

    def trouble(self, type_: ActionType, *, after: bool) -> None:
        """Put a fault on the port."""
        fault = Fault.ERROR_AFTER if after else Fault.ERROR
        rule = FaultRule(port="billing", operation=METHODS[type_], fault=fault, calls=(1,))
        FaultPlan(PlanFile(faults=(rule,))).attach(self.stage)

    async def effects(self) -> int:
        """Count the effects' rows."""
        return await self.stage.effects(ANA)

    async def paid_minor(self) -> int:
        """Sum the bill up."""
        return await self.stage.paid_minor(ANA)


@dataclass
class ShopifyUnderTest(BillingUnderTest):
    """A Shopify shop, over sockets."""

    stage: Stage
    clock: FixedClock
    server: ShopifyServer
    shop: Shop
    billing: ShopifyBilling
    installations: InstallationRecords
    people: dict[CustomerScope, Customer]
    ana: CustomerScope
    ben: CustomerScope
    does = ALL - {ActionType.RESEND}

    async def seed(self, state: str, *, owner: CustomerScope | None = None, number: str = ORDER) -> None:
        """Put the order into the shop, in place of one of that number."""
        scope = owner or self.ana
        await self.stage.seed(scope)
        self.shop.orders = [order for order in self.shop.orders if order.name != f"#{number}"]
        lines = [("Kettle", 1, "15.00"), ("Mug", 2, "12.50")]
        order = self.shop.add_order(self.people[scope], f"#{number}", lines, is_paid=state != "unpaid")
        order.shipping_address = {"address1": "9 Old Street", "city": "Portland", "countryCodeV2": "US", "phone": "+1"}
        match state:
            case "delivered" | "shipped":
                parcel = self.shop.fulfil(order)
                self.shop.scan(parcel, {"delivered": "DELIVERED"}.get(state, "IN_TRANSIT"), self.clock.now())
            case "part_shipped":
                self.shop.fulfil(order, quantities={"Kettle": 1})
            case "cancelled":
                order.cancelled_at = self.clock.now()
            case "strange":
                order.fulfillment_status = "REQUEST_DECLINED"

    def line(self, name: str, quantity: int = 1) -> tuple[LineRef, ...]:
        """Lines go by their number."""
        found = next((str(line.number) for line in self.order.lines if line.title == name), name)
        return (LineRef(line_id=found, quantity=quantity),)

    @property
    def order(self) -> Order:
        """The order of the contract."""
        return next(order for order in self.shop.orders if order.name == f"#{ORDER}")

    async def pay_back_elsewhere(self, minor: int) -> None:
        """Refund in the merchant's admin."""
        self.shop.pay_back(self.order, Decimal(minor) / 100)

    def trouble(self, type_: ActionType, *, after: bool) -> None:
        """Cut the connection."""
        self.server.faults.next(MUTATIONS[type_], Trouble.DROP_AFTER if after else Trouble.DROP_BEFORE)

    async def effects(self) -> int:
        """Count what the shop has seen of us, and check that the embedded books are untouched."""
        self.shop.settle_jobs()
        assert await self.stage.effects(self.ana) == 0
        return len(self.shop.effects)

    async def paid_minor(self) -> int:
        """Sum the refunds up."""
        self.shop.settle_jobs()
        return int(sum((refund.amount for refund in self.shop.refunds), Decimal(0)) * 100)


MUTATIONS: Final = {
    ActionType.REFUND: "refundCreate",
    ActionType.CREDIT: "refundCreate",
    ActionType.REQUEST_RETURN: "returnRequest",
    ActionType.CANCEL_ORDER: "orderCancel",
    ActionType.CHANGE_ADDRESS: "orderUpdate",
}
"""What each action is called at Shopify."""


@asynccontextmanager
async def open_embedded(folder: Path, clock: FixedClock) -> AsyncIterator[Embedded]:
    """Open the embedded shop."""
    stage = open_stage(folder / "billing.db", clock=clock)
    yield Embedded(stage, clock)
    await stage.documents.close()


@asynccontextmanager
async def open_shopify(folder: Path, clock: FixedClock) -> AsyncIterator[ShopifyUnderTest]:
    """Open a shop over sockets, connected with ana's tenant."""
    stage = open_stage(folder / "billing.db", clock=clock)
    tenant = TenantScope(ANA.tenant_id)
    server = ShopifyServer(now=clock.now)
    shop = server.add_shop()
    keys = KeyRing(rows=DataKeyRecords(stage.documents), wrapper=KeyFile(folder / "key"), clock=clock, ids=RandomIds())
    installations = InstallationRecords(stage.documents, secrets=KeyRingBox(keys), clock=clock, ids=RandomIds())
    # A token that lasts: these tests travel in time.
    token = shop.issue_tokens(is_expiring=False).access
    await installations.install(tenant, shop.domain, TokenGrant(token, shop.scopes))

    async def wait(seconds: float) -> None:
        clock.forward(seconds=seconds)

    async with server.running():
        transport = ShopTransport(ShopDirectory(base_url=server.base_url))
        tokens = ShopTokens(installations, transport=transport, client_id="a", client_secret="b", clock=clock)
        buckets = BucketRecords(stage.documents, clock=clock)
        client = ShopifyClient(credentials=tokens, buckets=buckets, transport=transport, sleep=wait)
        billing = ShopifyBilling(
            client, ShopifyAccounts(client), clock, reads_s=SILENCE_S, write_s=SILENCE_S, sleep=wait
        )
        people = [shop.add_customer("Ana"), shop.add_customer("Ben")]
        ana, ben = (CustomerScope(tenant.tenant_id, CustomerId(str(person.number))) for person in people)
        yield ShopifyUnderTest(
            replace(stage, billing=billing, billing_records=billing),
            clock,
            server,
            shop,
            billing,
            installations,
            dict(zip((ana, ben), people, strict=True)),
            ana,
            ben,
        )
        await transport.aclose()
    await stage.documents.close()


Opener = Callable[[Path, FixedClock], AbstractAsyncContextManager[BillingUnderTest]]
BILLING_SYSTEMS: Final[dict[str, tuple[Opener, frozenset[ActionType]]]] = {
    "embedded": (open_embedded, Embedded.does),
    "shopify": (open_shopify, ShopifyUnderTest.does),
}
"""Opener and the kinds of action each system does."""

_RUN = re.compile(
    rf"tests/contracts/test_billing_contract\.py::test_(?P<test>\w+)"
    rf"\[(?P<system>{'|'.join(BILLING_SYSTEMS)})-(?P<action>{'|'.join(METHODS)})"
)


def what_ran(outcomes: dict[str, list[str]]) -> list[str]:
    """Return the table: one row a system and action, with how often each test of the contract ended how."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for outcome, tests in outcomes.items():
        for run in filter(None, map(_RUN.match, tests)):
            what = f"{run['test'].replace('_', ' ')}, {outcome}"
            rows.setdefault((run["system"], run["action"]), Counter())[what] += 1
    return [
        f"contract billing × {system} × {action}: " + "; ".join(f"{n} × {what}" for what, n in sorted(counter.items()))
        for (system, action), counter in sorted(rows.items())
    ]
