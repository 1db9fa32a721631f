"""A store that fails once, anywhere in a turn, costs time and nothing else. Source: design §5, §8, GO-02."""

import pytest

from shared.domain.ticket import TurnStatus
from shared.ports.documents import Container
from tests.surface.product.product import HOLLIN, RunningProduct
from tests.surface.product.storefront import Sent, Storefront
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTIONS = {"answered": "How do gift cards work?", "escalated": "I want to talk to a human"}
CALLS = range(1, 33)
"""Store calls of a turn, and a few more: what other triggers call meanwhile moves them by one or two."""


@pytest.mark.req("PR-04", "GO-02", "AX-03")
@pytest.mark.parametrize("outcome", list(QUESTIONS))
@pytest.mark.parametrize("call", [n for n in CALLS if n % 4 == 0])
async def test_one_failing_store_call_never_loses_or_doubles_a_turn(
    product: RunningProduct, hollin: Storefront, outcome: str, call: int
) -> None:
    """The client repeats what was refused; an accepted message ends by itself, with one reply and one outbox row."""
    plan = product.plan({"port": "documents", "operation": "*", "fault": "error", "calls": [call]})

    sent = await hollin.send(QUESTIONS[outcome], customer="tom-okafor", wait_s=2)
    plan.detach()
    if sent.status == 503:
        sent = await _again(hollin, QUESTIONS[outcome], sent)

    assert sent.status in {200, 202}, sent.body

    async def is_done() -> bool:
        return (await product.turn(HOLLIN, sent.conversation, sent.message)).status is TurnStatus.DONE

    await until(is_done, f"the turn ended though store call {call} had failed")
    rows = await product.rows(Container.TICKETS, HOLLIN, sent.conversation)
    assert len([row for row in rows if row["kind"] == "outbox"]) == 1
    row = await product.turn(HOLLIN, sent.conversation, sent.message)
    assert row.result is not None
    assert row.result.reply is not None
    assert row.result.outcome.value in {outcome, "acknowledged", "escalated"}


async def _again(shop: Storefront, text: str, refused: Sent) -> Sent:
    return await shop.send(
        text, customer="tom-okafor", conversation=refused.conversation, message=refused.message, wait_s=2
    )
