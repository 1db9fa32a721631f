"""Laws of acting: whatever is interleaved, cut off, late or killed, nothing is done twice and the record says what was.

Source: AX-02…04, design §9 "Approvals", faults 070, 072.
"""

import asyncio
import random
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from shared.domain.actions import SETTLED, ActionState, LineRef, RefundProposal
from shared.domain.ids import OrderId
from tests.acting.interleaved import Play, gated
from tests.acting.stage import ANA, ORDER, open_stage
from tests.conftest import FixedClock

STEPS = 250
"""Steps of one play: both actions mostly come to their end in it."""
SOAK_PLAYS = 2_000
"""Plays of each shop in the long run."""
MOST = 10_000
"""Choices a step is drawn from."""
KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))
MUG = RefundProposal(order_id=OrderId("1001"), lines=(LineRef(line_id="MG-2", quantity=1),))


@pytest.mark.req("AX-02", "AX-03", "AX-04")
@pytest.mark.parametrize("is_keyed", [True, False], ids=["the shop keys calls", "the shop does all it is asked"])
@settings(max_examples=150, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_twins_of_two_actions_never_make_two_effects_of_one(is_keyed: bool, seed: int) -> None:
    """Two instances of each of two refunds of one account: each is done once or not at all, and its row says which.

    A shop that does all it is asked has only our own discipline between one refund and two. A play is drawn from its
    seed alone: a shorter one is not a simpler one, so nothing is shrunk.
    """
    _play_apart(seed, is_keyed=is_keyed)


@pytest.mark.soak
@pytest.mark.req("AX-02", "AX-03", "AX-04")
@pytest.mark.parametrize("is_keyed", [True, False], ids=["the shop keys calls", "the shop does all it is asked"])
def test_thousands_of_plays_never_make_two_effects_of_one(is_keyed: bool) -> None:
    """Some flaws need three mishaps in one order: about one play in three hundred shows them."""
    for seed in range(SOAK_PLAYS):
        _play_apart(seed, is_keyed=is_keyed)


def _play_apart(seed: int, *, is_keyed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder) / "vouch.db", seed, is_keyed=is_keyed))


async def _play(path: Path, seed: int, *, is_keyed: bool) -> None:
    clock = FixedClock()
    base = open_stage(path, clock=clock)
    await base.seed(ANA)
    actions = [await base.approved(ANA, proposal) for proposal in (KETTLE, MUG)]
    stage, shop, gates = gated(base, is_keyed=is_keyed)
    play = Play(stage, shop, gates, lambda s: setattr(clock, "at", clock.at + timedelta(seconds=s)))
    for n, action in enumerate((*actions, *actions)):
        play.start(action, f"instance-{n}")

    dice = random.Random(seed)
    for _ in range(STEPS):
        await play.step(dice.randrange(MOST))
    ended = await play.play_out(actions)

    await base.documents.close()
    for action in ended:
        assert action.state in SETTLED, seed
        assert shop.times_done(action) == (1 if action.state is ActionState.EXECUTED else 0), seed
    assert shop.overlaps == 0, seed
