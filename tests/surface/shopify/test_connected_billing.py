"""Which system does a tenant's billing, and that a change of system is never taken for "nothing was done".

Source: AX-02, AX-03, design §8 (each switch alone).
"""

import pytest

from shared.adapters.records.installations import InstallationRecords
from shared.adapters.records.shop_billing import ShopBilling
from shared.adapters.shopify.connected_billing import ConnectedBilling
from shared.domain.actions import ActionState, RefundProposal
from shared.domain.errors import IntegrationError, Unavailable
from shared.domain.ids import CustomerId, TenantId
from shared.domain.installation import Installation
from shared.domain.intents import ActionType
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.integrations import NotCalled
from tests.acting.stage import ORDER, PROPOSALS, order_for
from tests.contracts.billing import METHODS, ShopifyUnderTest, call
from tests.surface.shopify.billing_steps import granted, sent

REFUND = RefundProposal(order_id=ORDER)


class Installations(InstallationRecords):
    """The real records, of which some can be hidden and the store be out of reach."""

    def __init__(self, inner: InstallationRecords) -> None:
        self.inner = inner
        self.is_hidden = False
        self.is_down = False

    async def get(self, scope: TenantScope) -> Installation | None:
        """Look it up unless told otherwise."""
        if self.is_down:
            raise Unavailable("the store is down")
        return None if self.is_hidden else await self.inner.get(scope)


@pytest.fixture
def installations(billed: ShopifyUnderTest) -> Installations:
    """Where the router looks."""
    return Installations(billed.installations)


@pytest.fixture
def connected(billed: ShopifyUnderTest, installations: Installations) -> ConnectedBilling:
    """The router; the stage acts through it."""
    embedded = ShopBilling(billed.stage.documents, billed.clock)
    router = ConnectedBilling(installations, shopify=billed.billing, embedded=embedded)
    billed.stage.billing = billed.stage.billing_records = router
    return router


@pytest.mark.req("SH-03", "AX-01")
@pytest.mark.parametrize("type_", sorted(METHODS))
async def test_a_connected_tenant_is_billed_at_its_shop_and_any_other_by_the_embedded_one(
    billed: ShopifyUnderTest, connected: ConnectedBilling, type_: ActionType
) -> None:
    """Every method goes to one side only; what only the embedded shop does stays its own."""
    state = "processing" if type_ in (ActionType.CANCEL_ORDER, ActionType.CHANGE_ADDRESS) else "delivered"
    await billed.seed(state)
    other = CustomerScope(TenantId("t2"), CustomerId("zoe"))
    await billed.stage.seed(other, state)

    there = await billed.stage.perform(await billed.stage.approved(billed.ana, PROPOSALS[type_]))
    here = await billed.stage.perform(await billed.stage.approved(other, PROPOSALS[type_]))

    is_done = type_ is not ActionType.RESEND
    assert (there.state is ActionState.EXECUTED, here.state is ActionState.EXECUTED) == (is_done, True)
    assert (len(billed.shop.effects), await billed.stage.effects(other)) == (int(is_done), 1)
    assert await connected.find_effect(other, here) == here.effect
    if is_done:
        assert await connected.find_effect(billed.ana, there) == there.effect


@pytest.mark.req("AX-02", "AX-03")
async def test_a_tenant_that_connects_is_billed_at_its_shop_from_that_moment(
    billed: ShopifyUnderTest, connected: ConnectedBilling, installations: Installations
) -> None:
    """No old answer is kept: whoever looked for an effect in the wrong books would pay again."""
    await billed.seed("delivered")
    await billed.stage.shop.put_order(billed.ana, order_for(billed.ana, "processing"))
    installations.is_hidden = True
    before = await connected.quote(billed.ana, PROPOSALS[ActionType.CANCEL_ORDER])  # type: ignore[arg-type]
    installations.is_hidden = False
    after = await connected.quote(billed.ana, PROPOSALS[ActionType.CANCEL_ORDER])  # type: ignore[arg-type]

    assert before is not None
    assert after is not None
    assert (before.is_possible, after.is_possible) == (True, False)


@pytest.mark.req("AX-03")
async def test_what_was_begun_in_the_embedded_books_is_doubt_once_the_shop_is_connected(
    billed: ShopifyUnderTest, connected: ConnectedBilling, installations: Installations
) -> None:
    """The shop does not know the order: that is not "nothing was done"."""
    installations.is_hidden = True
    await billed.stage.seed(billed.ana)
    done = await billed.stage.perform(await billed.stage.approved(billed.ana, REFUND))
    installations.is_hidden = False

    with pytest.raises(IntegrationError):
        await connected.find_effect(billed.ana, done)


@pytest.mark.req("AX-02")
async def test_without_a_look_up_nothing_is_written_and_nothing_is_known(
    billed: ShopifyUnderTest, connected: ConnectedBilling, installations: Installations
) -> None:
    fresh = ConnectedBilling(installations, shopify=billed.billing, embedded=billed.billing)
    action, verified = await granted(billed, REFUND)
    installations.is_down = True
    billed.stage.billing = fresh

    with pytest.raises(NotCalled):
        await call(billed, verified, REFUND)
    with pytest.raises(Unavailable):
        await fresh.find_effect(billed.ana, action)

    assert sent(billed, "refundCreate") == []


@pytest.mark.req("AX-02")
async def test_a_shop_that_removed_us_is_missed_and_not_replaced(
    billed: ShopifyUnderTest, connected: ConnectedBilling
) -> None:
    tenant = TenantScope(billed.ana.tenant_id)
    await billed.stage.seed(billed.ana)
    await billed.installations.uninstall(tenant, billed.shop.domain, at=billed.clock.now())
    billed.clock.forward(minutes=5)

    with pytest.raises(IntegrationError):
        await connected.quote(billed.ana, REFUND)


@pytest.mark.req("AX-02")
def test_only_what_both_systems_key_may_be_asked_again_at_once(connected: ConnectedBilling) -> None:
    assert connected.keyed == {ActionType.REFUND, ActionType.CREDIT}
