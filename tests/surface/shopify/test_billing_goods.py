"""Returns and addresses at a Shopify shop: what moves goods, not money. Source: AX-01…03, SH-03, apis.md §1.10."""

import pytest

from shared.adapters.shopify.returns import MAX_RETURNS
from shared.domain.actions import Address, ChangeAddressProposal, RequestReturnProposal
from shared.domain.errors import IntegrationError
from shared.ports.integrations import Declined
from tests.acting.stage import BOUND_TO, ORDER
from tests.contracts.billing import ShopifyUnderTest
from tests.servers.shopify.state import Return, ReturnedLine
from tests.surface.shopify.billing_steps import granted, sent

RETURN = RequestReturnProposal(order_id=ORDER)
ADDRESS = ChangeAddressProposal(order_id=ORDER, address=BOUND_TO)


@pytest.mark.req("SH-03", "AX-03")
async def test_a_return_names_the_parcels_lines_and_waits_for_the_merchant(billed: ShopifyUnderTest) -> None:
    """Two mugs came in two parcels: one of each is asked back, every line bearing the mark."""
    await billed.seed("processing")
    one = billed.shop.fulfil(billed.order, quantities={"Kettle": 1, "Mug": 1})
    two = billed.shop.fulfil(billed.order)
    proposal = RETURN.model_copy(update={"lines": billed.line("Mug", 2)})
    action, verified = await granted(billed, proposal)

    effect = await billed.billing.request_return(verified, proposal)

    (made,) = billed.shop.returns
    assert (made.status, effect.reference, effect.amount) == ("REQUESTED", str(made.number), None)
    assert [(line.fulfilled, line.quantity) for line in made.lines] == [(one.lines[1], 1), (two.lines[0], 1)]
    assert {line.note for line in made.lines} == {f"Asked for in the support chat. vouch:{action.action_id}"}
    assert await billed.billing.find_effect(billed.ana, action) == effect


@pytest.mark.req("SH-03")
async def test_only_what_the_customer_has_comes_back(billed: ShopifyUnderTest) -> None:
    """One parcel arrived, one is on its way, one label was never used."""
    await billed.seed("processing")
    billed.shop.fulfil(billed.order, quantities={"Kettle": 1})
    under_way = billed.shop.fulfil(billed.order, quantities={"Mug": 1})
    billed.shop.scan(under_way, "IN_TRANSIT", billed.clock.now())
    unused = billed.shop.fulfil(billed.order)
    unused.status = "CANCELLED"

    quote = await billed.billing.quote(billed.ana, RETURN)

    assert quote is not None
    assert quote.lines == billed.line("Kettle")


@pytest.mark.req("AX-03")
async def test_the_customers_own_return_is_not_taken_for_ours(billed: ShopifyUnderTest) -> None:
    """Another mark, and words that look like one."""
    action, verified = await granted(billed, RETURN)
    part = RETURN.model_copy(update={"lines": billed.line("Mug")})
    other = await billed.stage.approved(billed.ana, part)
    own = await billed.stage.verified(billed.stage.seal(other, fence=2), other)
    await billed.billing.request_return(own, part)
    billed.shop.returns[0].lines[0].note += f" vouch:{action.action_id}x"

    assert await billed.billing.find_effect(billed.ana, action) is None
    assert (await billed.billing.request_return(verified, RETURN)).reference == str(billed.shop.returns[1].number)


@pytest.mark.req("AX-02")
async def test_a_return_filed_meanwhile_is_declined(billed: ShopifyUnderTest) -> None:
    """The customer filed one in the shop's own pages between our reading and our writing."""
    _, verified = await granted(billed, RETURN)
    pieces = billed.order.fulfillments[0].lines

    def take(field: str) -> None:
        if field == "returnRequest":
            pieces[0].returned = 1

    billed.server.on_call = take

    with pytest.raises(Declined):
        await billed.billing.request_return(verified, RETURN)

    assert billed.shop.returns == []


@pytest.mark.req("AX-02")
async def test_an_order_of_more_parcels_than_are_read_is_a_persons(billed: ShopifyUnderTest) -> None:
    await billed.seed("processing")
    billed.order.lines[1].quantity = 12
    for _ in range(11):
        billed.shop.fulfil(billed.order, quantities={"Mug": 1})

    quote = await billed.billing.quote(billed.ana, RETURN)

    assert quote is not None
    assert (quote.is_possible, "person" in quote.reason) == (False, True)


@pytest.mark.req("AX-03")
async def test_more_returns_than_are_read_are_doubt(billed: ShopifyUnderTest) -> None:
    await billed.seed("delivered")
    piece = billed.order.fulfillments[0].lines[1]
    for n in range(MAX_RETURNS + 1):
        line = ReturnedLine(billed.shop.number(), piece, 1, "UNKNOWN", "")
        billed.order.returns.append(
            Return(billed.shop.number(), billed.order, f"#1001-R{n}", billed.clock.now(), [line])
        )
    unmade = await billed.stage.approved(billed.ana, RETURN)

    with pytest.raises(IntegrationError):
        await billed.billing.find_effect(billed.ana, unmade)


@pytest.mark.req("SH-03", "AX-03")
async def test_an_address_is_overwritten_whole_and_the_telephone_stays(billed: ShopifyUnderTest) -> None:
    action, verified = await granted(billed, ADDRESS)

    effect = await billed.billing.change_address(verified, ADDRESS)

    assert billed.order.shipping_address == {
        "firstName": "",
        "lastName": "Ana",
        "address1": "1 New Street",
        "address2": "",
        "city": "Portland",
        "zip": "04101",
        "countryCodeV2": "US",
        "phone": "+1",
    }
    assert effect.reference == str(billed.order.number)
    assert await billed.billing.find_effect(billed.ana, action) is not None


@pytest.mark.req("AX-03")
async def test_an_address_as_the_shop_writes_it_is_the_same_address(billed: ShopifyUnderTest) -> None:
    """Case, spacing and punctuation are the shop's; another house number is another address."""
    there = Address(
        recipient="Ana Maria  Lindqvist",
        line1="1 New St.",
        city="portland",
        region="ME",
        postal_code="04101-22",
        country="US",
    )
    proposal = ChangeAddressProposal(order_id=ORDER, address=there)
    action, verified = await granted(billed, proposal)
    shown = {"firstName": "Ana Maria", "lastName": "Lindqvist"}
    shown |= {"address1": "1 NEW ST", "city": "Portland", "zip": "0410122", "provinceCode": "ME", "countryCodeV2": "US"}

    billed.order.shipping_address = {**shown, "address1": "11 NEW ST"}
    assert await billed.billing.find_effect(billed.ana, action) is None
    billed.order.shipping_address = shown
    assert await billed.billing.find_effect(billed.ana, action) is not None
    await billed.billing.change_address(verified, proposal)

    assert sent(billed, "orderUpdate") == []


@pytest.mark.req("AX-02")
async def test_a_region_goes_by_its_code(billed: ShopifyUnderTest) -> None:
    await billed.seed("processing")
    answers = []
    for region in ("ME", "Maine"):
        address = BOUND_TO.model_copy(update={"region": region})
        quote = await billed.billing.quote(billed.ana, ADDRESS.model_copy(update={"address": address}))
        assert quote is not None
        answers.append(quote.is_possible)

    assert answers == [True, False]


@pytest.mark.req("AX-02", "AX-03")
async def test_where_addresses_are_withheld_none_is_changed(billed: ShopifyUnderTest) -> None:
    """Nobody could find out afterwards whether it was done."""
    action, verified = await granted(billed, ADDRESS)
    billed.shop.protected_data_level = 1

    quote = await billed.billing.quote(billed.ana, ADDRESS)
    with pytest.raises(Declined):
        await billed.billing.change_address(verified, ADDRESS)
    with pytest.raises(IntegrationError):
        await billed.billing.find_effect(billed.ana, action)

    assert quote is not None
    assert not quote.is_possible


@pytest.mark.req("AX-02")
async def test_an_address_the_shop_declines_is_declined(billed: ShopifyUnderTest) -> None:
    """The test shop asks for a street; the real one has rules of its own for each country."""
    blank = ChangeAddressProposal(order_id=ORDER, address=BOUND_TO.model_copy(update={"line1": " "}))
    _, verified = await granted(billed, blank)
    before = dict(billed.order.shipping_address or {})

    with pytest.raises(Declined):
        await billed.billing.change_address(verified, blank)

    assert billed.order.shipping_address == before
