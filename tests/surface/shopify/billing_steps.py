"""Steps the billing tests share: a shop under test with an action that is approved, granted and verified."""

from typing import Any, Final

from shared.domain.actions import Action, Proposal
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S
from shared.domain.verified import VerifiedGrant
from tests.acting.stage import status_for
from tests.contracts.billing import ShopifyUnderTest

UNDER_WAY_S: Final = CALL_DEADLINE_S + CALL_MARGIN_S


async def granted(
    billed: ShopifyUnderTest, proposal: Proposal, *, state: str | None = None
) -> tuple[Action, VerifiedGrant]:
    """Seed the order unless it is there, and return an approved action with its verified grant."""
    if state is not None or not billed.shop.orders:
        await billed.seed(state or status_for(proposal.type))
    action = await billed.stage.approved(billed.ana, proposal)
    return action, await billed.stage.verified(await billed.stage.granted(action), action)


async def play_out(billed: ShopifyUnderTest, action: Action, *, rounds: int = 20, pause_s: float = 20.0) -> Action:
    """Run an action as its flow does, round after round, until it has ended or the rounds are over."""
    for _ in range(rounds):
        ended = await billed.stage.perform(action)
        for other in await billed.stage.actions.under_way(billed.ana):
            await billed.stage.reconcile(other)
        ended = await billed.stage.stands(action)
        if ended.state.value not in ("approved", "executing"):
            return ended
        billed.clock.forward(seconds=pause_s)
    return await billed.stage.stands(action)


def sent(billed: ShopifyUnderTest, field: str) -> list[dict[str, Any]]:
    """Return the variables of every call of a mutation that arrived."""
    return [variables for name, variables in billed.server.asked if name == field]
