"""What a benchmark's shop needs so that customers can ask for refunds: orders, and a past to compare them with."""

from datetime import timedelta
from typing import Final

from shared.adapters.records.action_rows import to_row
from shared.adapters.records.shop import ShopRecords
from shared.container import Services
from shared.domain.actions import Action, ActionState, RefundProposal
from shared.domain.anomalies import COLD_START
from shared.domain.governance import Governance, Phase
from shared.domain.ids import ConversationId, CustomerId, MessageId, OrderId, TenantId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import Order, OrderLine, Profile
from shared.ports.documents import Container, CustomerScope, TenantScope, customer_partition

ORDER: Final = OrderId("5001")
REQUEST: Final = "Please refund order 5001"
PRICE: Final = Money(amount_minor=1_500, currency="USD")


async def seed_order(services: Services, tenant: TenantId, customer: CustomerId) -> None:
    """Give the customer a delivered order of PRICE."""
    scope, shop = CustomerScope(tenant, customer), ShopRecords(services.documents)
    line = OrderLine(title="Kettle", sku="KT-1", quantity=1, unit_price=PRICE)
    await shop.put_customer(scope, Profile(customer_id=customer))
    order = Order(order_id=ORDER, customer_id=customer, status="delivered", lines=(line,), total=PRICE)
    await shop.put_order(scope, order)


async def allow_actions(services: Services, tenant: TenantId) -> None:
    """Let refunds of PRICE run without a person: ceilings above it."""
    scope = TenantScope(tenant)
    policy = await services.tenants.policy(scope)
    governed = policy.model_copy(update={"governance": Governance(phase=Phase.CONSOLIDATION)})
    await services.tenants.save_policy(scope, governed, over_version=policy.version, author="bench")


async def seed_past(services: Services, tenant: TenantId) -> None:
    """Give the shop a past in which a refund of PRICE is usual."""
    now = services.clock.now()
    for place in range(COLD_START):
        account = CustomerScope(tenant, CustomerId(f"past-{place}"))
        action = Action(
            id="action:past",
            tenant_id=tenant,
            customer_id=account.customer_id,
            action_id="past",
            type=ActionType.REFUND,
            ordinal=1,
            proposal=RefundProposal(order_id=ORDER),
            state=ActionState.EXECUTED,
            amount=PRICE,
            policy_version=1,
            conversation_id=ConversationId("past"),
            message_id=MessageId("past"),
            requested_at=now,
            updated_at=now,
            expires_at=now + timedelta(days=1),
            is_told=True,
        )
        await services.documents.create(Container.ACTIONS, account, customer_partition(account), to_row(action))
