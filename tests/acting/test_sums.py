"""What is read before money moves, and what the sweeper finds. Source: AX-02, GO-01, design §3, fault 082."""

from datetime import timedelta

import pytest

from shared.adapters.records.action_reading import PAST_CACHE_S
from shared.domain.actions import COUNTED, Action, ActionOp, ActionState, Effect, LineRef, RefundProposal
from shared.domain.ids import CaseId, OrderId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import Order, OrderLine
from shared.ports.documents import TenantScope
from tests.acting.stage import ANA, ANA_OF_T2, BEN, ORDER, PROPOSALS, Stage, scope_of, usd
from tests.conftest import FixedClock

KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))
MUG = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="MG-2", quantity=1),))
REFUND = PROPOSALS[ActionType.REFUND]
T1 = TenantScope(ANA.tenant_id)


async def in_state(stage: Stage, state: ActionState) -> Action:
    """Bring ana's refund of 40.00 into the state."""
    action = await stage.asked(ANA, REFUND)
    match state:
        case ActionState.PENDING:
            return action
        case ActionState.REFUSED | ActionState.EXPIRED:
            op = ActionOp.REFUSE if state is ActionState.REFUSED else ActionOp.EXPIRE
            return await stage.actions.decide(ANA, action.action_id, op, reason="")
        case _:
            action = await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by="person:lena")
    if state is ActionState.APPROVED:
        return action
    started = await stage.claimed(await stage.granted(action), action)
    op = {ActionState.EXECUTED: ActionOp.CONFIRM, ActionState.UNCLEAR: ActionOp.DOUBT}.get(state)
    if op is None:
        return started
    effect = Effect(reference="r1", amount=usd(4000), at=stage.clock.now())
    return await stage.actions.finish(ANA, action.action_id, op, grant_id=started.grant_id, effect=effect)


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("state", ActionState)
async def test_the_rolling_sum_counts_what_was_or_may_still_be_paid(stage: Stage, state: ActionState) -> None:
    """An approval nobody has executed yet holds its amount: two of them together must not pass the ceiling."""
    action = await in_state(stage, state)
    since = stage.clock.now() - timedelta(days=30)

    spent = await stage.actions.spent_minor(ANA, "USD", since=since, without="")
    times = await stage.actions.payments(ANA, since=since, without="")

    assert (spent, times) == ((4000, 1) if state in COUNTED else (0, 0))
    assert await stage.actions.spent_minor(ANA, "USD", since=since, without=action.action_id) == 0
    assert await stage.actions.payments(ANA, since=since, without=action.action_id) == 0
    assert await stage.actions.spent_minor(ANA, "EUR", since=since, without="") == 0
    assert await stage.actions.spent_minor(BEN, "USD", since=since, without="") == 0


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("state", [ActionState.EXECUTED, ActionState.APPROVED, ActionState.EXECUTING])
async def test_only_what_is_done_leaves_the_window(stage: Stage, clock: FixedClock, state: ActionState) -> None:
    """What has not been paid yet may be paid tomorrow, however long ago it was approved."""
    await in_state(stage, state)
    clock.forward(days=31)

    spent = await stage.actions.spent_minor(ANA, "USD", since=clock.now() - timedelta(days=30), without="")

    assert spent == (0 if state is ActionState.EXECUTED else 4000)


@pytest.mark.req("AX-02")
async def test_fault_072_two_partial_refunds_of_equal_sum_are_both_paid_and_add_up(
    stage: Stage, clock: FixedClock
) -> None:
    """Line A 15.00, next day line B 15.00: other lines, another action, both paid; the ceiling sees the sum."""
    twins = Order(
        order_id=OrderId("2001"),
        customer_id=ANA.customer_id,
        status="delivered",
        lines=tuple(OrderLine(title=name, sku=name, quantity=1, unit_price=usd(1500)) for name in ("A", "B")),
        total=usd(3000),
    )
    await stage.shop.put_order(ANA, twins)
    lines = [RefundProposal(order_id=OrderId("2001"), lines=(LineRef(line_id=n, quantity=1),)) for n in ("A", "B")]

    first = await stage.perform(await stage.approved(ANA, lines[0]))
    clock.forward(days=1)
    second = await stage.perform(await stage.approved(ANA, lines[1]))

    assert first.action_id != second.action_id
    assert [first.state, second.state] == [ActionState.EXECUTED] * 2
    assert await stage.paid_minor() == 3000
    spent = await stage.actions.spent_minor(ANA, "USD", since=clock.now() - timedelta(days=30), without="")
    assert spent == 3000
    third = await stage.perform(await stage.approved(ANA, lines[0]))
    assert (third.state, await stage.paid_minor()) == (ActionState.REFUSED, 3000)


@pytest.mark.req("GO-01")
async def test_the_past_of_a_shop_is_all_its_payments_newest_first_and_nobody_elses(
    stage: Stage, clock: FixedClock
) -> None:
    await stage.seed(BEN)
    await stage.seed(ANA_OF_T2)
    since = clock.now() - timedelta(days=30)
    for scope, proposal in ((ANA, KETTLE), (BEN, MUG), (ANA_OF_T2, KETTLE)):
        clock.forward(seconds=1)
        await stage.perform(await stage.approved(scope, proposal))
    await stage.perform(await stage.approved(ANA, PROPOSALS[ActionType.CRM_NOTE]))
    await stage.approved(ANA, MUG)

    assert await stage.actions.past_amounts(T1, "USD", since=since) == (1250, 1500)
    assert await stage.actions.past_amounts(T1, "EUR", since=since) == ()
    assert await stage.actions.past_amounts(T1, "USD", since=clock.now() - timedelta(seconds=1)) == (1250,)
    assert await stage.actions.past_amounts(TenantScope(ANA_OF_T2.tenant_id), "USD", since=since) == (1500,)


@pytest.mark.req("GO-01")
async def test_the_past_is_remembered_for_a_moment_and_knows_this_process_own_payments_at_once(
    stage: Stage, clock: FixedClock
) -> None:
    since = clock.now() - timedelta(days=30)
    other = stage.elsewhere()
    assert await stage.actions.past_amounts(T1, "USD", since=since) == ()
    assert await other.actions.past_amounts(T1, "USD", since=since) == ()

    await stage.perform(await stage.approved(ANA, KETTLE))

    assert await stage.actions.past_amounts(T1, "USD", since=since) == (1500,)
    assert await other.actions.past_amounts(T1, "USD", since=since) == ()
    clock.forward(seconds=PAST_CACHE_S)
    assert await other.actions.past_amounts(T1, "USD", since=since) == (1500,)


@pytest.mark.req("AX-03", "AX-02")
@pytest.mark.parametrize("state", ActionState)
async def test_the_sweeper_finds_each_action_in_the_one_place_where_it_is_stuck(
    stage: Stage, clock: FixedClock, state: ActionState
) -> None:
    """Events are hints: an approval nobody runs, a wait nobody sees or ends, an end nobody was told."""
    action = await in_state(stage, state)
    clock.forward(seconds=1)
    soon, past_expiry = clock.now(), action.expires_at + timedelta(seconds=1)
    sweeps = {
        "idle": await stage.actions.approved_idle(soon, 10),
        "expired": await stage.actions.pending_expired(past_expiry, 10),
        "unseen": await stage.actions.pending_without_case(soon, 10),
        "untold": await stage.actions.untold(soon, 10),
    }

    found = {name for name, actions in sweeps.items() if actions == (action,)}
    assert all(actions in ((), (action,)) for actions in sweeps.values())
    assert (
        found
        == {
            ActionState.PENDING: {"expired", "unseen"},
            ActionState.APPROVED: {"idle"},
            ActionState.EXECUTING: {"idle"},
            ActionState.UNCLEAR: set(),
            ActionState.EXECUTED: {"untold"},
            ActionState.REFUSED: {"untold"},
            ActionState.EXPIRED: {"untold"},
        }[state]
    )


@pytest.mark.req("AX-03")
async def test_the_sweeper_leaves_alone_what_is_fresh_seen_or_told(stage: Stage, clock: FixedClock) -> None:
    before = clock.now()
    pending = await stage.asked(ANA, KETTLE)
    done = await stage.perform(await stage.approved(ANA, MUG))
    assert await stage.actions.untold(before, 10) == ()
    assert await stage.actions.pending_without_case(before, 10) == ()
    assert await stage.actions.pending_expired(clock.now(), 10) == ()
    clock.forward(seconds=1)

    case = {"reason": "", "case": CaseId("ac-1")}
    await stage.actions.decide(ANA, pending.action_id, ActionOp.RETURN_TO_DESK, **case)  # type: ignore[arg-type]
    await stage.actions.mark_told(ANA, done.action_id)
    await stage.actions.mark_told(ANA, done.action_id)
    clock.forward(seconds=1)

    assert await stage.actions.pending_without_case(clock.now(), 10) == ()
    assert await stage.actions.untold(clock.now(), 10) == ()
    assert (await stage.stands(done)).is_told


@pytest.mark.req("AX-03")
async def test_a_sweep_is_bounded_and_reads_every_tenant_oldest_first(stage: Stage, clock: FixedClock) -> None:
    await stage.seed(BEN)
    await stage.seed(ANA_OF_T2)
    stuck = []
    for scope in (BEN, ANA_OF_T2, ANA):
        stuck.append(await stage.approved(scope, KETTLE))
        clock.forward(seconds=1)

    first = await stage.actions.approved_idle(clock.now(), 2)

    assert [scope_of(a) for a in first] == [BEN, ANA_OF_T2]
    assert list(await stage.actions.approved_idle(clock.now(), 10)) == stuck


@pytest.mark.req("AX-04")
async def test_under_way_is_what_was_started_and_has_not_ended(stage: Stage, clock: FixedClock) -> None:
    """An undone start is among it: its call may have arrived since."""
    fresh = await stage.approved(ANA, MUG)
    executing = await in_state(stage, ActionState.EXECUTING)
    assert await stage.actions.under_way(ANA) == (executing,)

    await stage.actions.finish(ANA, executing.action_id, ActionOp.UNDO_START, grant_id=executing.grant_id)

    assert await stage.actions.under_way(ANA) == (await stage.stands(executing),)
    assert await stage.actions.under_way(BEN) == ()
    assert fresh.starts == 0


@pytest.mark.req("AX-02")
async def test_sums_do_not_stop_at_a_page(stage: Stage, clock: FixedClock) -> None:
    """Sums must not miss one, however many there are."""
    price = Money(amount_minor=1, currency="USD")
    for n in range(3):
        await stage.shop.put_order(
            ANA,
            Order(
                order_id=OrderId(f"9{n}"),
                customer_id=ANA.customer_id,
                status="delivered",
                lines=tuple(OrderLine(title="x", sku=f"s{k}", quantity=1, unit_price=price) for k in range(70)),
                total=Money(amount_minor=70, currency="USD"),
            ),
        )
        for k in range(70):
            line = LineRef(line_id=f"s{k}", quantity=1)
            await stage.approved(ANA, RefundProposal(order_id=OrderId(f"9{n}"), lines=(line,)))

    spent = await stage.actions.spent_minor(ANA, "USD", since=clock.now() - timedelta(days=30), without="")

    assert spent == 210
