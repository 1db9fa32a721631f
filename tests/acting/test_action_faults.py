"""Nothing is written before the shield and the supervisor have passed. Source: fault 035, design §9 "Security"."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.supervisor.authorise import weigh_action
from shared.domain.actions import ActionState
from shared.domain.errors import AuthorityError
from shared.domain.governance import ActionFacts, Governance, Phase, Verdict, decide
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.tiers import Tier
from tests.acting.stage import ANA, POLICY, PROPOSALS, Stage, status_for

FACTS = st.builds(
    ActionFacts,
    type=st.sampled_from(ActionType),
    intent=st.none() | st.sampled_from(CustomerIntent),
    amount=st.none() | st.builds(Money, amount_minor=st.integers(-5, 10**6), currency=st.sampled_from(["USD", "EUR"])),
    spent_minor=st.integers(0, 10**6),
    is_possible=st.booleans(),
    is_owner=st.booleans(),
    is_unusual=st.booleans(),
    is_screened=st.just(False),
)
GOVERNANCE = st.builds(Governance, phase=st.sampled_from(Phase))


@pytest.mark.req("AX-02", "AX-05", "SU-03")
@given(facts=FACTS, governance=GOVERNANCE, tier=st.sampled_from(Tier))
def test_fault_035_an_unscreened_message_becomes_no_action_whatever_else_speaks_for_it(
    facts: ActionFacts, governance: Governance, tier: Tier
) -> None:
    """Reads may be speculative; a decision is not, in no phase, tier or amount."""
    assert decide(facts, governance, tier, "USD").verdict is Verdict.REFUSE


@pytest.mark.req("AX-02", "AX-05", "SU-03")
@pytest.mark.parametrize("type_", ActionType)
async def test_fault_035_while_the_shield_is_out_facts_are_read_and_nothing_is_written(
    stage: Stage, type_: ActionType
) -> None:
    """An injection message with a slow shield: what was read early is dropped, the recorder stays empty.

    Nothing an impatient turn could do helps it: no decision, so no approval; no approval, so no grant; a grant sealed
    all the same does not start what nobody approved.
    """
    await stage.seed(ANA, status_for(type_))
    shield = asyncio.Event()

    async def screened() -> bool:
        await shield.wait()
        return True

    verdict = asyncio.create_task(screened())
    facts = await weigh_action(
        ANA,
        PROPOSALS[type_],
        action_id="",
        intent=None,
        is_screened=verdict.done(),
        policy=POLICY,
        clock=stage.clock,
        billing=stage.billing_records,
        actions=stage.actions,
    )
    decision = decide(facts, POLICY.governance, Tier.ENTERPRISE, POLICY.currency)
    action = await stage.asked(ANA, PROPOSALS[type_])
    fence = await stage.take(action)
    minted = await stage.mint(action, fence or 0)

    assert (decision.verdict, minted.grant) == (Verdict.REFUSE, None)
    with pytest.raises(AuthorityError):
        await stage.execute(stage.seal(action, fence=fence or 0), action)
    assert (await stage.stands(action)).state is ActionState.PENDING
    assert await stage.effects() == 0
    shield.set()
    assert await verdict
