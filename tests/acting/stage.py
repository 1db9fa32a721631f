"""Everything between the ports and the store for actions, real and small: what a test or a child process acts with.

Attributes bear the container's names, so that a fault plan of the local host can be attached to it.
Source: design §9, conventions "Fakes, not patches".
"""

import itertools
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from agents.action_executor import execute_action, reconcile_action
from agents.supervisor.authorise import Minted, grant_action
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.actions import ActionRecords
from shared.adapters.records.codec import to_document
from shared.adapters.records.crm import CrmRecords
from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.shop_billing import ShopBilling
from shared.adapters.records.ticket_desk import TicketDeskRecords
from shared.adapters.records.tombstones import TombstoneRecords
from shared.authority.mint import SealMint
from shared.authority.rotation import RotatingSeals
from shared.authority.verify import verify_grant
from shared.domain.actions import (
    RULES,
    SETTLED,
    Action,
    ActionOp,
    ActionRef,
    ActionState,
    Address,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    CrmNoteProposal,
    Proposal,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
    TicketUpdateProposal,
)
from shared.domain.governance import Governance, Phase, Verdict
from shared.domain.grants import MAX_GRANT_TTL_S, SignedGrant
from shared.domain.ids import ConversationId, CustomerId, MessageId, OrderId, TenantId
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy
from shared.domain.sources import BillingEvent, Order, OrderLine
from shared.domain.ticket import Ticket
from shared.domain.tiers import Tier
from shared.domain.verified import VerifiedGrant
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import (
    Container,
    CustomerScope,
    Query,
    TenantScope,
    Where,
    conversation_partition,
    customer_partition,
)
from shared.ports.integrations import BillingWriter
from shared.ports.readers import BillingReader
from shared.ports.writers import ActionRequest

ANA: Final = CustomerScope(TenantId("t1"), CustomerId("ana"))
BEN: Final = CustomerScope(TenantId("t1"), CustomerId("ben"))
ANA_OF_T2: Final = CustomerScope(TenantId("t2"), CustomerId("ana"))
ORDER: Final = OrderId("1001")
PERSON: Final = "person:lena"
BOUND_TO: Final = Address(recipient="Ana", line1="1 New Street", city="Portland", postal_code="04101", country="US")
POLICY: Final = TenantPolicy(governance=Governance(phase=Phase.FEDERATION))
PROPOSALS: Final[dict[ActionType, Proposal]] = {
    ActionType.REFUND: RefundProposal(order_id=ORDER),
    ActionType.CREDIT: CreditProposal(order_id=ORDER),
    ActionType.REQUEST_RETURN: RequestReturnProposal(order_id=ORDER),
    ActionType.CANCEL_ORDER: CancelOrderProposal(order_id=ORDER),
    ActionType.CHANGE_ADDRESS: ChangeAddressProposal(order_id=ORDER, address=BOUND_TO),
    ActionType.RESEND: ResendProposal(order_id=ORDER),
    ActionType.TICKET_UPDATE: TicketUpdateProposal(tags=("late",), note="Parcel is late."),
    ActionType.CRM_NOTE: CrmNoteProposal(text="Asked about a parcel."),
}
"""One proposal of each kind, about the same order."""
_EARLY: Final = frozenset({ActionType.CANCEL_ORDER, ActionType.CHANGE_ADDRESS})
"""Kinds a shop takes only before shipment; all others are seeded with a delivered order."""


def usd(minor: int) -> Money:
    """Build an amount."""
    return Money(amount_minor=minor, currency="USD")


def order_for(scope: CustomerScope, status: str = "delivered", number: str = ORDER) -> Order:
    """Build an order of two lines, 40.00 in all."""
    return Order(
        order_id=OrderId(number),
        customer_id=scope.customer_id,
        status=status,
        lines=(
            OrderLine(title="Kettle", sku="KT-1", quantity=1, unit_price=usd(1500)),
            OrderLine(title="Mug", sku="MG-2", quantity=2, unit_price=usd(1250)),
        ),
        total=usd(4000),
    )


def charge_of(order: Order, at: datetime) -> BillingEvent:
    """Build the charge of the whole order."""
    return BillingEvent(
        event_id=f"charge-{order.order_id}", kind="charge", amount=order.total, order_id=order.order_id, at=at
    )


@dataclass(slots=True)
class Stage:
    """One store with all that acts on it."""

    documents: SqliteDocuments
    clock: Clock
    ids: IdSource
    seals: RotatingSeals
    actions: ActionRecords
    shop: ShopRecords
    billing: BillingWriter
    billing_records: BillingReader
    crm: CrmRecords
    desk: TicketDeskRecords
    tombstones: TombstoneRecords
    handed: dict[str, SignedGrant] = field(default_factory=dict)
    """The grant each holder had last, as a durable history remembers it."""
    messages: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def seed(self, scope: CustomerScope, status: str = "delivered", number: str = ORDER) -> None:
        """Put an order, its charge unless it awaits payment, and a conversation of the customer in place."""
        order, now = order_for(scope, status, number), self.clock.now()
        await self.shop.put_order(scope, order)
        if status != "awaiting_payment":
            await self.shop.put_billing_event(scope, charge_of(order, now))
        ticket = Ticket(
            tenant_id=scope.tenant_id,
            conversation_id=talk_of(scope),
            customer_id=scope.customer_id,
            opened_at=now,
            updated_at=now,
        )
        partition = conversation_partition(scope, talk_of(scope))
        if await self.documents.read(Container.TICKETS, scope, partition, "ticket") is None:
            await self.documents.create(Container.TICKETS, scope, partition, to_document(ticket))

    def elsewhere(self) -> "Stage":
        """Return the stage as another process has it: the same store, nothing remembered."""
        return replace(self, actions=ActionRecords(self.documents, self.clock), handed={})

    async def asked(
        self,
        scope: CustomerScope,
        proposal: Proposal,
        *,
        message: str | None = None,
        ordinal_of: str = "0",
        conversation: str | None = None,
    ) -> Action:
        """Ask for something in a message, a new one unless it is named."""
        quote = None
        if not isinstance(proposal, CrmNoteProposal | TicketUpdateProposal):
            quote = await self.billing_records.quote(scope, proposal)
        request = ActionRequest(
            proposal=proposal,
            intent=CustomerIntent.REFUND,
            conversation_id=ConversationId(conversation) if conversation else talk_of(scope),
            message_id=MessageId(message or f"m-{next(self.messages)}"),
            severity="normal",
            amount=quote.amount if quote is not None else None,
            reason="",
            policy_version=POLICY.version,
            expires_at=self.clock.now() + timedelta(hours=72),
        )
        return await self.actions.request(scope, request, ordinal_of)

    async def approved(self, scope: CustomerScope, proposal: Proposal, *, message: str | None = None) -> Action:
        """Ask, and let a person approve."""
        action = await self.asked(scope, proposal, message=message)
        return await self.actions.decide(scope, action.action_id, ActionOp.APPROVE, reason="", by=PERSON)

    async def take(self, action: Action, holder: str = "one") -> int | None:
        """Ask for the lane; 0 for what needs none."""
        if not RULES[action.type].needs_lane:
            return 0
        return (await self.actions.take_lane(scope_of(action), action.action_id, holder)).fence

    async def mint(self, action: Action, fence: int, *, policy: TenantPolicy | None = None) -> Minted:
        """Ask the supervisor for a grant."""
        return await grant_action(
            action,
            fence=fence,
            policy=policy or POLICY,
            tier=Tier.ENTERPRISE,
            clock=self.clock,
            billing=self.billing_records,
            actions=self.actions,
            tombstones=self.tombstones,
            mint=self.sealer(),
        )

    def sealer(self) -> SealMint:
        """Return the supervisor's mint."""
        return SealMint(keys=self.seals.ring(), clock=self.clock, ids=self.ids)

    def seal(self, action: Action, *, fence: int, ttl_s: int = MAX_GRANT_TTL_S) -> SignedGrant:
        """Seal a grant without asking whether it may be: what a wrong supervisor would hand out."""
        return self.sealer().seal_grant(action, policy_version=POLICY.version, fence=fence, ttl_s=ttl_s)

    async def granted(self, action: Action, holder: str = "one") -> SignedGrant:
        """Take the lane and return the grant, which must come."""
        fence = await self.take(action, holder)
        assert fence is not None, "somebody else has the lane"
        minted = await self.mint(action, fence)
        assert minted.grant is not None, minted.decision
        return minted.grant

    async def claimed(self, signed: SignedGrant, action: Action) -> Action:
        """Consume a grant as the executor does, and stop before its call."""
        return await self.actions.start(scope_of(action), await self.verified(signed, action))

    async def verified(self, signed: SignedGrant, action: Action) -> VerifiedGrant:
        """Verify a grant as the executor does."""
        return verify_grant(signed, await self.stands(action), now=self.clock.now(), keys=self.seals.ring())

    async def execute(self, signed: SignedGrant, action: Action) -> Action:
        """Hand a grant to the executor."""
        return await execute_action(
            signed,
            ref_of(action),
            keys=self.seals.ring(),
            clock=self.clock,
            actions=self.actions,
            claims=self.actions,
            records=self.billing_records,
            billing=self.billing,
            crm=self.crm,
            desk=self.desk,
        )

    async def reconcile(self, action: Action) -> Action:
        """Let the executor find out what became of a call."""
        return await reconcile_action(
            action, clock=self.clock, claims=self.actions, records=self.billing_records, billing=self.billing
        )

    async def stands(self, action: Action) -> Action:
        """Return the action as it is stored."""
        found = await self.actions.get(scope_of(action), action.action_id)
        assert found is not None
        return found

    async def perform(self, action: Action, holder: str = "one") -> Action:
        """Do one round of what a run of the action does: lane, reconcile, grant, execute; return how it stands."""
        scope = scope_of(action)
        action = await self.stands(action)
        if action.state in SETTLED or action.state is ActionState.UNCLEAR:
            return action
        fence = await self.take(action, holder)
        if fence is None:
            return action
        found = [await self.reconcile(other) for other in await self.actions.under_way(scope)]
        action = await self.stands(action)
        if any(other.state is ActionState.EXECUTING for other in found) or action.state is not ActionState.APPROVED:
            return action
        minted = await self.mint(action, fence)
        if minted.effect is not None:
            return await self.actions.finish(
                scope, action.action_id, ActionOp.CONFIRM, grant_id=action.grant_id, effect=minted.effect
            )
        if minted.grant is None:
            op = ActionOp.REFUSE if minted.decision.verdict is Verdict.REFUSE else ActionOp.RETURN_TO_DESK
            why = minted.decision.reason
            action = await self.actions.decide(scope, action.action_id, op, reason=why, starts=action.starts)
            await self.actions.free_lane(scope, action.action_id, fence)
            return action
        self.handed[holder] = minted.grant
        return await self.execute(minted.grant, action)

    async def effects(self, scope: CustomerScope = ANA) -> int:
        """Return how many effects of actions the outside shows for the customer: at the shop, the CRM, the desk."""
        query = Query(customer_partition(scope), where=(Where("kind", "in", ["effect", "note"]),))
        page = await self.documents.query(Container.SHOP, scope, query)
        return len(page.items) + len(await self.desk.notes(TenantScope(scope.tenant_id), talk_of(scope)))

    async def paid_minor(self, scope: CustomerScope = ANA) -> int:
        """Return what the shop has paid back to the customer."""
        events = await self.shop.billing_events(scope, self.clock.now() - timedelta(days=365))
        return sum(event.amount.amount_minor for event in events if event.kind != "charge")


def open_stage(path: Path, *, clock: Clock, secret: bytes = b"s" * 32) -> Stage:
    """Return a stage over the file; every process with the same secret accepts the same seals."""
    documents = SqliteDocuments(path, clock=clock)
    billing = ShopBilling(documents, clock)
    return Stage(
        documents=documents,
        clock=clock,
        ids=RandomIds(),
        seals=RotatingSeals(lambda purpose: (purpose.encode() + secret)[:64].ljust(32, b"."), clock),
        actions=ActionRecords(documents, clock),
        shop=ShopRecords(documents),
        billing=billing,
        billing_records=ShopBilling(documents, clock),
        crm=CrmRecords(documents, clock),
        desk=TicketDeskRecords(documents, clock),
        tombstones=TombstoneRecords(documents),
    )


def status_for(type_: ActionType) -> str:
    """Return the state an order needs for the action to be possible."""
    return "processing" if type_ in _EARLY else "delivered"


def talk_of(scope: CustomerScope) -> ConversationId:
    """Return the customer's one conversation."""
    return ConversationId(f"c-{scope.customer_id}")


def scope_of(action: Action) -> CustomerScope:
    """Return the account's scope."""
    return CustomerScope(action.tenant_id, action.customer_id)


def ref_of(action: Action) -> ActionRef:
    """Return the reference a flow carries."""
    return ActionRef(tenant_id=action.tenant_id, account_id=action.customer_id, action_id=action.action_id)
