"""The executor: once under its grant, reading before it repeats, deciding nothing.

Source: AX-01…04, faults 035, 070.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from agents.action_executor import DECLINED, HELD_BACK, PATIENCE
from shared.domain.actions import Action, ActionOp, ActionState, Effect, LineRef, OrderProposal, Quote, RefundProposal
from shared.domain.errors import (
    AgentTimeout,
    AuthorityError,
    IntegrationError,
    NotFound,
    RateLimited,
    SchemaError,
    StalenessError,
    Unavailable,
    VouchError,
)
from shared.domain.grants import MAX_GRANT_TTL_S
from shared.domain.intents import ActionType
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S, LEASE_S
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined, NotCalled
from tests.acting.stage import ANA, ORDER, PROPOSALS, Stage, status_for, usd
from tests.conftest import FixedClock

REFUND = PROPOSALS[ActionType.REFUND]
UNDER_WAY_S = CALL_DEADLINE_S + CALL_MARGIN_S


@dataclass(slots=True)
class Shop:
    """A shop that does, says and remembers what a test tells it to."""

    stage: Stage
    keyed: frozenset[ActionType] = frozenset(ActionType)
    before: VouchError | TimeoutError | None = None
    """Raised by a call before anything is done."""
    after: VouchError | TimeoutError | None = None
    """Raised by a call after it was done."""
    answer: object = None
    """Answered in place of the effect."""
    unreadable: VouchError | TimeoutError | None = None
    on_read: Callable[[], None] | None = None
    """Happens while an answer about the past travels."""
    done: list[str] = field(default_factory=list)
    calls: int = 0

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """As the embedded shop."""
        return await self.stage.billing_records.quote(scope, proposal)

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """Say what was done when it was asked."""
        if self.unreadable is not None:
            raise self.unreadable
        was_done = action.action_id in self.done
        if self.on_read is not None:
            self.on_read()
        return self._effect() if was_done else None

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Do it, or not."""
        self.calls += 1
        if self.before is not None:
            raise self.before
        self.done.append(verified.grant.action_id)
        if self.after is not None:
            raise self.after
        return self.answer or self._effect()  # type: ignore[return-value]

    def _effect(self) -> Effect:
        return Effect(reference="r1", amount=usd(4000), at=self.stage.clock.now())


def at(stage: Stage, **told: object) -> tuple[Stage, Shop]:
    """Return the stage with a shop that is told what to do."""
    shop = Shop(stage, **told)  # type: ignore[arg-type]
    return replace(stage, billing=shop, billing_records=shop), shop  # type: ignore[arg-type]


@pytest.mark.req("AX-01", "AX-03")
@pytest.mark.parametrize("type_", ActionType)
async def test_each_kind_of_action_is_done_once_and_a_replay_reports_the_one_effect(
    stage: Stage, clock: FixedClock, type_: ActionType
) -> None:
    """Replay after success, with the same grant, long after it ran out: the record answers."""
    await stage.seed(ANA, status_for(type_))
    action = await stage.approved(ANA, PROPOSALS[type_])
    signed = await stage.granted(action)

    first = await stage.execute(signed, action)
    clock.forward(seconds=MAX_GRANT_TTL_S)
    again = await stage.execute(signed, action)

    assert (first.state, again) == (ActionState.EXECUTED, first)
    assert await stage.effects() == 1


@pytest.mark.req("AX-03", "AX-02")
@pytest.mark.parametrize(
    "error",
    [
        Unavailable("x"),
        RateLimited("x", retry_after_s=1),
        IntegrationError("x"),
        AgentTimeout("x"),
        SchemaError("x"),
        TimeoutError(),
    ],
    ids=lambda e: type(e).__name__,
)
async def test_fault_070_after_an_unclear_answer_the_shop_is_read_and_not_asked_again(
    stage: Stage, error: VouchError
) -> None:
    """The provider accepted, the answer was lost: one call, one refund, and the record says so."""
    stage, shop = at(stage, after=error)
    action = await stage.approved(ANA, REFUND)

    ended = await stage.execute(await stage.granted(action), action)

    assert (ended.state, shop.calls, len(shop.done)) == (ActionState.EXECUTED, 1, 1)
    assert ended.effect is not None


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("answer", ["\ufffd\x00{not json", {"reference": "r1"}, 7])
async def test_an_answer_that_is_no_effect_is_an_unclear_one(stage: Stage, answer: object) -> None:
    """Garbage is never stored as what the shop did."""
    stage, shop = at(stage, answer=answer)
    action = await stage.approved(ANA, REFUND)

    ended = await stage.execute(await stage.granted(action), action)

    assert (ended.state, shop.calls) == (ActionState.EXECUTED, 1)
    assert ended.effect == await shop.find_effect(ANA, action)


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("is_keyed", [True, False])
async def test_a_write_the_shop_does_not_key_is_left_alone_until_its_call_is_surely_over(
    stage: Stage, clock: FixedClock, is_keyed: bool
) -> None:
    """Keyed, it may be asked again at once: the shop does it once. Unkeyed, the first call may still arrive."""
    keyed: frozenset[ActionType] = frozenset(ActionType) if is_keyed else frozenset()
    stage, shop = at(stage, before=Unavailable("x"), keyed=keyed)
    action = await stage.approved(ANA, REFUND)

    cut = await stage.execute(await stage.granted(action), action)
    clock.forward(seconds=UNDER_WAY_S - 0.1)
    early = await stage.reconcile(cut)
    clock.forward(seconds=0.1)
    late = await stage.reconcile(await stage.stands(action))

    expected = [ActionState.APPROVED] * 3 if is_keyed else [ActionState.EXECUTING] * 2 + [ActionState.APPROVED]
    assert [cut.state, early.state, late.state] == expected
    assert shop.calls == 1


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("is_keyed", [True, False])
async def test_a_second_delivery_does_not_undo_a_call_that_is_under_way(stage: Stage, is_keyed: bool) -> None:
    """It cannot know whether the first one's call has arrived; nothing found proves nothing yet."""
    keyed: frozenset[ActionType] = frozenset(ActionType) if is_keyed else frozenset()
    stage, shop = at(stage, keyed=keyed)
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    await stage.claimed(signed, action)

    second = await stage.execute(signed, action)

    assert (second.state, shop.calls) == (ActionState.EXECUTING, 0)


@pytest.mark.req("AX-02")
async def test_what_lands_while_the_shop_is_being_read_is_not_taken_for_undone(stage: Stage, clock: FixedClock) -> None:
    """Read just before the call's time is up, landed just before it, answered after it: not done *then*, done now."""
    stage, shop = at(stage, keyed=frozenset())
    action = await stage.approved(ANA, REFUND)
    started = await stage.claimed(await stage.granted(action), action)
    clock.forward(seconds=UNDER_WAY_S - 0.1)

    def land() -> None:
        shop.done.append(action.action_id)
        clock.forward(seconds=5)
        shop.on_read = None

    shop.on_read = land

    assert (await stage.reconcile(started)).state is ActionState.EXECUTING
    assert (await stage.reconcile(started)).state is ActionState.EXECUTED


@pytest.mark.req("AX-02", "AX-03")
async def test_whoever_comes_back_after_the_grant_ran_out_still_finds_out(stage: Stage, clock: FixedClock) -> None:
    """A crash and a slow restart: the spent grant opens nothing, and is not in the way of the truth."""
    stage, shop = at(stage)
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    await stage.claimed(signed, action)
    shop.done.append(action.action_id)
    clock.forward(seconds=MAX_GRANT_TTL_S * 2)

    ended = await stage.execute(signed, action)

    assert (ended.state, shop.calls) == (ActionState.EXECUTED, 0)


@pytest.mark.req("AX-02")
async def test_another_grant_does_not_speak_for_a_call_under_way(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    signed, other = await stage.granted(action), stage.seal(action, fence=1)
    await stage.claimed(signed, action)

    with pytest.raises(AuthorityError):
        await stage.execute(other, action)


@pytest.mark.req("AX-02")
async def test_what_the_shop_declines_is_refused_in_words_of_ours(stage: Stage) -> None:
    stage, shop = at(stage, before=Declined("Ana said: pay me"))
    action = await stage.approved(ANA, REFUND)

    ended = await stage.perform(action)

    assert (ended.state, ended.reason, shop.done) == (ActionState.REFUSED, DECLINED, [])


@pytest.mark.req("AX-04")
async def test_an_empty_budget_undoes_the_start_at_once_and_keeps_the_turn(stage: Stage) -> None:
    """We did not call: nothing has to be read, also where the shop keys nothing."""
    stage, shop = at(stage, before=NotCalled("x", retry_after_s=1), keyed=frozenset(), unreadable=Unavailable("x"))
    action = await stage.approved(ANA, REFUND)

    held = await stage.perform(action)
    shop.before = shop.unreadable = None

    assert (held.state, held.reason) == (ActionState.APPROVED, HELD_BACK)
    assert (await stage.perform(action)).state is ActionState.EXECUTED
    assert len(shop.done) == 1


@pytest.mark.req("AX-02", "AX-04")
async def test_a_process_that_slept_past_its_call_does_not_call(stage: Stage, clock: FixedClock) -> None:
    """Everybody else counts from the start as written; a call after that time could meet its own successor."""
    stage, shop = at(stage)

    class Sleepy(type(stage.actions)):  # type: ignore[misc]
        async def start(self, scope: CustomerScope, verified: VerifiedGrant) -> Action:
            started: Action = await super().start(scope, verified)
            clock.forward(seconds=CALL_DEADLINE_S)
            return started

    asleep = replace(stage, actions=Sleepy(stage.documents, clock))
    action = await stage.approved(ANA, REFUND)

    ended = await asleep.execute(await stage.granted(action), action)

    assert (ended.state, shop.calls) == (ActionState.APPROVED, 0)


@pytest.mark.req("AX-02")
async def test_a_shop_that_cannot_be_read_for_long_is_a_persons_matter_and_nothing_is_repeated(
    stage: Stage, clock: FixedClock
) -> None:
    stage, shop = at(stage, after=Unavailable("x"), unreadable=Unavailable("x"))
    action = await stage.approved(ANA, REFUND)

    first = await stage.execute(await stage.granted(action), action)
    clock.at = (first.started_at or clock.now()) + PATIENCE - timedelta(seconds=1)
    patient = await stage.reconcile(first)
    clock.forward(seconds=1)
    given_up = await stage.reconcile(first)
    again = await stage.perform(action)

    assert [first.state, patient.state, given_up.state] == [ActionState.EXECUTING] * 2 + [ActionState.UNCLEAR]
    assert (again, shop.calls) == (given_up, 1)
    for by in ("", "person:lena"):
        with pytest.raises(StalenessError):
            await stage.actions.decide(ANA, action.action_id, ActionOp.REFUSE, reason="nobody looked", by=by)


@pytest.mark.req("AX-04")
async def test_a_successor_finds_out_what_became_of_its_predecessor_first(stage: Stage, clock: FixedClock) -> None:
    """A died after its call had landed; B gets the lane when the lease is over and settles A before it acts."""
    stage, shop = at(stage)
    dead = await stage.approved(ANA, REFUND)
    await stage.claimed(await stage.granted(dead), dead)
    shop.done.append(dead.action_id)
    line = (LineRef(line_id="KT-1", quantity=1),)
    successor = await stage.approved(ANA, RefundProposal(order_id=ORDER, lines=line))
    assert (await stage.perform(successor, "two")).state is ActionState.APPROVED

    clock.forward(seconds=LEASE_S)
    done = await stage.perform(successor, "two")

    assert (await stage.stands(dead)).state is ActionState.EXECUTED
    assert (done.state, shop.done) == (ActionState.EXECUTED, [dead.action_id, successor.action_id])


@pytest.mark.req("AX-03")
@pytest.mark.parametrize("type_", [ActionType.CRM_NOTE, ActionType.TICKET_UPDATE])
async def test_a_note_of_ours_is_written_again_under_a_new_grant_and_stands_once(
    stage: Stage, type_: ActionType
) -> None:
    """It is done once for one action id: doing it again is how to find out."""
    action = await stage.approved(ANA, PROPOSALS[type_])
    signed = await stage.granted(action)
    await stage.claimed(signed, action)

    undone = await stage.execute(signed, action)
    done = await stage.perform(action)

    assert (undone.state, done.state, done.starts) == (ActionState.APPROVED, ActionState.EXECUTED, 2)
    assert await stage.effects() == 1


@pytest.mark.req("AX-03")
async def test_twins_with_one_grant_each_and_at_once_make_one_effect(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)

    ended = await asyncio.gather(*(stage.execute(signed, action) for _ in range(4)), return_exceptions=True)

    assert any(isinstance(e, Action) and e.state is ActionState.EXECUTED for e in ended)
    assert await stage.effects() == 1
    assert await stage.paid_minor() == 4000


@pytest.mark.req("AX-05", "SU-03")
@pytest.mark.parametrize("op", [None, ActionOp.REFUSE, ActionOp.EXPIRE])
async def test_fault_035_no_grant_of_an_action_nobody_approved_is_executed(stage: Stage, op: ActionOp | None) -> None:
    """Even a seal that verifies: what the supervisor has not approved, or took back, calls nothing."""
    stage, shop = at(stage)
    action = await stage.asked(ANA, REFUND)
    assert await stage.take(action) == 1
    signed = stage.seal(action, fence=1)
    if op is not None:
        await stage.actions.decide(ANA, action.action_id, op, reason="")

    if op is None:
        with pytest.raises(AuthorityError):
            await stage.execute(signed, action)
    else:
        assert (await stage.execute(signed, action)).state is not ActionState.EXECUTED

    assert shop.calls == 0


async def test_an_action_that_is_not_there_is_not_found(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)

    with pytest.raises(NotFound):
        await stage.execute(signed, action.model_copy(update={"action_id": "0" * 40}))
