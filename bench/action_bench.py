"""Throughput of the accounts' lanes: take, mint a grant, consume it, act at the embedded shop, write what came of it.

As many accounts act at once as a figure says, each working off its approved refunds; everybody lets the others on after
each. The last figures are accounts whose refunds all arrive at once and wait for each other. Source: AX-04, design §9.
"""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from agents.action_executor import execute_action
from agents.supervisor.authorise import BY_PERSON, grant_action
from bench.figures import Figure, Table
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds, SystemClock
from shared.adapters.records.actions import ActionRecords
from shared.adapters.records.crm import CrmRecords
from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.shop_billing import ShopBilling
from shared.adapters.records.ticket_desk import TicketDeskRecords
from shared.adapters.records.tombstones import TombstoneRecords
from shared.authority.mint import SealMint
from shared.authority.rotation import RotatingSeals
from shared.domain.actions import Action, ActionOp, ActionRef, ActionState, LineRef, RefundProposal
from shared.domain.ids import ConversationId, CustomerId, MessageId, OrderId, TenantId
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy
from shared.domain.sources import Order, OrderLine
from shared.domain.tiers import Tier
from shared.ports.documents import CustomerScope
from shared.ports.writers import ActionRequest

ACCOUNTS: Final = (1, 8, 64)
"""How many accounts act at once."""
ALL_ACCOUNTS: Final = 64
"""Accounts a run works off."""
EACH: Final = 8
"""Refunds of one account; those that arrive at once in the last case, too."""
POLICY: Final = TenantPolicy()
TENANT: Final = TenantId("bench")
PRICE: Final = Money(amount_minor=100, currency="USD")


@dataclass(slots=True)
class Till:
    """What acts, over one store."""

    documents: SqliteDocuments
    clock: SystemClock
    ids: RandomIds
    seals: RotatingSeals
    actions: ActionRecords
    billing: ShopBilling

    async def prepared(self, account: str, n: int) -> list[Action]:
        """Return approved refunds of so many lines of one order."""
        scope, order = CustomerScope(TENANT, CustomerId(account)), OrderId(f"o-{account}")
        lines = tuple(OrderLine(title="x", sku=f"s{k}", quantity=1, unit_price=PRICE) for k in range(n))
        total = Money(amount_minor=n * PRICE.amount_minor, currency=PRICE.currency)
        await ShopRecords(self.documents).put_order(
            scope,
            Order(order_id=order, customer_id=scope.customer_id, status="delivered", lines=lines, total=total),
        )
        made: list[Action] = []
        for k in range(n):
            asked = ActionRequest(
                proposal=RefundProposal(order_id=order, lines=(LineRef(line_id=f"s{k}", quantity=1),)),
                intent=None,
                conversation_id=ConversationId(f"c-{account}"),
                message_id=MessageId(f"m-{k}"),
                severity="normal",
                amount=PRICE,
                reason="",
                policy_version=POLICY.version,
                expires_at=self.clock.now() + timedelta(hours=1),
            )
            action = await self.actions.request(scope, asked, "0")
            made.append(
                await self.actions.decide(scope, action.action_id, ActionOp.APPROVE, reason="", by=f"{BY_PERSON}bench")
            )
        return made

    async def act(self, action: Action) -> bool:
        """Do one round of an action; False when the lane is somebody else's."""
        scope = CustomerScope(action.tenant_id, action.customer_id)
        lane = await self.actions.take_lane(scope, action.action_id, "bench")
        if lane.fence is None:
            return False
        await self.actions.under_way(scope)
        minted = await grant_action(
            action,
            fence=lane.fence,
            policy=POLICY,
            tier=Tier.ENTERPRISE,
            clock=self.clock,
            billing=self.billing,
            actions=self.actions,
            tombstones=TombstoneRecords(self.documents),
            mint=SealMint(keys=self.seals.ring(), clock=self.clock, ids=self.ids),
        )
        if minted.grant is None:
            raise RuntimeError(f"the bench got no grant: {minted.decision.reason}")
        done = await execute_action(
            minted.grant,
            ActionRef(tenant_id=scope.tenant_id, account_id=scope.customer_id, action_id=action.action_id),
            keys=self.seals.ring(),
            clock=self.clock,
            actions=self.actions,
            claims=self.actions,
            records=self.billing,
            billing=self.billing,
            crm=CrmRecords(self.documents, self.clock),
            desk=TicketDeskRecords(self.documents, self.clock),
        )
        if done.state is not ActionState.EXECUTED:
            raise RuntimeError(f"the bench's action is {done.state.value}")
        return True


def table() -> Table:
    """Measure every case, each over a store of its own."""
    figures: list[Figure] = []
    for at_once in ACCOUNTS:
        per_s, p50_ms, p95_ms = asyncio.run(_measured(at_once))
        name = f"{at_once} account{'s' if at_once > 1 else ''} at once"
        figures += [
            Figure(f"refunds, {name}", per_s, "1/s"),
            Figure(f"one refund, {name}, p50", p50_ms, "ms"),
            Figure(f"one refund, {name}, p95", p95_ms, "ms"),
        ]
    per_s, _, p95_ms = asyncio.run(_measured(1, is_crowded=True))
    figures += [
        Figure(f"refunds, {EACH} of one account at once", per_s, "1/s"),
        Figure(f"one refund, {EACH} of one account at once, p95", p95_ms, "ms"),
    ]
    return Table("actions", tuple(figures), "lane, grant, consumption, embedded shop and record; SQLite on disk")


async def _measured(at_once: int, *, is_crowded: bool = False) -> tuple[float, float, float]:
    """Return refunds a second and the median and 95th percentile of one, milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        documents = SqliteDocuments(Path(folder) / "vouch.db", clock=clock)
        till = Till(
            documents=documents,
            clock=clock,
            ids=RandomIds(),
            seals=RotatingSeals(lambda purpose: purpose.encode().ljust(32, b"."), clock),
            actions=ActionRecords(documents, clock),
            billing=ShopBilling(documents, clock),
        )
        accounts = [await till.prepared(f"a{n}", EACH) for n in range(ALL_ACCOUNTS)]
        took_ms: list[float] = []
        begin = time.perf_counter()
        if is_crowded:
            for actions in accounts:
                await asyncio.gather(*(_work_off(till, [action], took_ms) for action in actions))
        else:
            shares = [[a for actions in accounts[n::at_once] for a in actions] for n in range(at_once)]
            await asyncio.gather(*(_work_off(till, share, took_ms) for share in shares))
        total_s = time.perf_counter() - begin
        await documents.close()
    took_ms.sort()
    return len(took_ms) / total_s, took_ms[len(took_ms) // 2], took_ms[int(len(took_ms) * 0.95)]


async def _work_off(till: Till, queue: list[Action], took_ms: list[float]) -> None:
    for action in queue:
        begin = time.perf_counter()
        await asyncio.sleep(0)
        while True:
            if await till.act(action):
                break
            await asyncio.sleep(0)
        took_ms.append((time.perf_counter() - begin) * 1e3)
