"""What a person found of an action nobody could read the end of: written once, and told anew. Source: AX-02, GO-03."""

from datetime import timedelta

import pytest

from shared.domain.actions import Action, ActionOp, ActionState, Effect
from shared.domain.errors import AuthorityError, NotFound, StalenessError
from tests.acting.stage import ANA, PERSON, Stage, usd
from tests.acting.test_sums import in_state
from tests.conftest import FixedClock


def effect_at(clock: FixedClock) -> Effect:
    """Build what the person saw at the shop."""
    return Effect(reference="R-77", amount=usd(4000), at=clock.now())


async def unclear(stage: Stage) -> Action:
    """Bring ana's refund to where nobody knows, and tell the desk so."""
    action = await in_state(stage, ActionState.UNCLEAR)
    await stage.actions.mark_told(ANA, action.action_id, told=ActionState.UNCLEAR)
    return await stage.stands(action)


@pytest.mark.req("AX-02", "GO-03")
@pytest.mark.parametrize("is_done", [True, False], ids=["done", "not done"])
async def test_a_finding_ends_an_unclear_action_on_a_persons_word_and_its_end_is_news(
    stage: Stage, clock: FixedClock, is_done: bool
) -> None:
    """Done goes on counting as paid, not done stops; the same again is success and changes nothing."""
    action, effect = await unclear(stage), effect_at(clock) if is_done else None
    since = clock.now() - timedelta(days=30)

    ended = await stage.actions.found(ANA, action.action_id, by=PERSON, effect=effect)
    again = await stage.actions.found(ANA, action.action_id, by="person:max", effect=effect)

    assert (action.is_told, ended.is_told) == (True, False)
    assert (ended.state, ended.effect) == (ActionState.EXECUTED if is_done else ActionState.REFUSED, effect)
    assert (ended.found_by, ended.approved_by) == (PERSON, action.approved_by)
    assert again == ended == await stage.stands(action)
    assert await stage.actions.spent_minor(ANA, "USD", since=since, without="") == (4000 if is_done else 0)
    clock.forward(seconds=1)
    assert await stage.actions.untold(clock.now(), 10) == (ended,)


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("state", [state for state in ActionState if state is not ActionState.UNCLEAR])
@pytest.mark.parametrize("is_done", [True, False], ids=["done", "not done"])
async def test_what_is_not_unclear_takes_no_finding(
    stage: Stage, clock: FixedClock, state: ActionState, is_done: bool
) -> None:
    """Least of all one under way: a call may still arrive. Finding what is known already changes nothing."""
    action = await in_state(stage, state)
    effect = effect_at(clock) if is_done else None

    if state is (ActionState.EXECUTED if is_done else ActionState.REFUSED):
        assert await stage.actions.found(ANA, action.action_id, by=PERSON, effect=effect) == action
    else:
        with pytest.raises(StalenessError):
            await stage.actions.found(ANA, action.action_id, by=PERSON, effect=effect)
    assert await stage.stands(action) == action


@pytest.mark.req("AX-02", "GO-03")
async def test_a_finding_nobody_vouches_for_is_refused(stage: Stage) -> None:
    action = await unclear(stage)

    with pytest.raises(AuthorityError):
        await stage.actions.found(ANA, action.action_id, by="", effect=None)
    with pytest.raises(NotFound):
        await stage.actions.found(ANA, "nothing", by=PERSON, effect=None)

    assert await stage.stands(action) == action


@pytest.mark.req("AX-02", "AX-03")
async def test_an_end_found_while_the_desk_is_being_told_of_the_doubt_is_still_told(
    stage: Stage, clock: FixedClock
) -> None:
    """Telling takes several writes; the last one marks what was told, not what has become true meanwhile."""
    action = await in_state(stage, ActionState.UNCLEAR)

    ended = await stage.actions.found(ANA, action.action_id, by=PERSON, effect=effect_at(clock))
    await stage.actions.mark_told(ANA, action.action_id, told=action.state)

    assert await stage.stands(action) == ended
    assert not ended.is_told


@pytest.mark.req("AX-02", "AX-03")
async def test_a_late_answer_of_the_shop_to_an_unclear_action_is_news_too(stage: Stage, clock: FixedClock) -> None:
    action = await unclear(stage)

    ended = await stage.actions.finish(
        ANA, action.action_id, ActionOp.CONFIRM, grant_id=action.grant_id, effect=effect_at(clock)
    )

    assert (ended.state, ended.is_told, ended.found_by) == (ActionState.EXECUTED, False, "")
