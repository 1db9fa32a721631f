"""The built-in CRM, desk notes, tombstones and the budget of billing calls.

Source: AX-01, AX-04, HD-01, PV-04, RK-02.
"""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from local.fault_plan import parse_plan
from shared.adapters.records.buckets import BucketRecords
from shared.adapters.records.throttled_billing import ThrottledBilling
from shared.domain.actions import ActionState, CrmNoteProposal, LineRef, RefundProposal, TicketUpdateProposal
from shared.domain.errors import AuthorityError, Unavailable
from shared.domain.ids import CustomerId
from shared.domain.intents import ActionType
from shared.ports.documents import Container, CustomerScope, TenantScope, customer_partition
from shared.ports.integrations import Declined, NotCalled
from tests.acting.stage import ANA, ANA_OF_T2, BEN, ORDER, PROPOSALS, Stage, status_for, talk_of
from tests.conftest import FixedClock

NOTE = CrmNoteProposal(text="Asked about a parcel.")
UPDATE = TicketUpdateProposal(tags=("late",), note="Parcel is late.")
KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))


@pytest.mark.req("AX-01", "AX-03")
async def test_a_note_is_written_once_for_one_action_on_the_grants_account(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, NOTE)
    verified = await stage.verified(await stage.granted(action), action)

    first = await stage.crm.add_note(verified, NOTE, conversation=talk_of(ANA))
    clock.forward(seconds=9)
    second = await stage.crm.add_note(verified, NOTE, conversation=talk_of(ANA))

    row = await stage.documents.read(Container.SHOP, ANA, customer_partition(ANA), first.reference)
    assert first == second
    assert row is not None
    assert (row.body["text"], row.body["conversation_id"]) == (NOTE.text, talk_of(ANA))
    assert await stage.effects() == 1


@pytest.mark.req("AX-01", "HD-01")
async def test_the_desk_sees_tags_and_notes_of_its_conversation_once(stage: Stage, clock: FixedClock) -> None:
    await stage.seed(BEN)
    for proposal in (UPDATE, TicketUpdateProposal(tags=("vip",))):
        action = await stage.approved(ANA, proposal)
        verified = await stage.verified(await stage.granted(action), action)
        clock.forward(seconds=1)
        first = await stage.desk.update(verified, proposal, conversation=talk_of(ANA))
        assert await stage.desk.update(verified, proposal, conversation=talk_of(ANA)) == first

    notes = await stage.desk.notes(TenantScope(ANA.tenant_id), talk_of(ANA))

    assert [(n.tags, n.note) for n in notes] == [(("late",), "Parcel is late."), (("vip",), "")]
    assert await stage.desk.notes(TenantScope(ANA.tenant_id), talk_of(BEN)) == ()


@pytest.mark.req("AX-02", "ME-07")
async def test_nothing_is_noted_in_somebody_elses_conversation_or_under_another_text(stage: Stage) -> None:
    await stage.seed(BEN)
    action = await stage.approved(ANA, UPDATE)
    verified = await stage.verified(await stage.granted(action), action)

    for talk in (talk_of(BEN), talk_of(CustomerScope(ANA.tenant_id, CustomerId("nobody")))):
        with pytest.raises(Declined):
            await stage.desk.update(verified, UPDATE, conversation=talk)
    with pytest.raises(AuthorityError):
        await stage.desk.update(verified, TicketUpdateProposal(note="Another."), conversation=talk_of(ANA))
    with pytest.raises(AuthorityError):
        await stage.crm.add_note(verified, NOTE, conversation=talk_of(ANA))

    assert await stage.effects(ANA) == await stage.effects(BEN) == 0


@pytest.mark.req("PV-04")
async def test_a_tombstone_stands_until_the_customer_comes_back_and_again_after_another_erasure(
    stage: Stage, clock: FixedClock
) -> None:
    """Fault 060's other half: a new message after the erasure is a fresh customer's."""
    stones, now = stage.tombstones, clock.now()
    assert not await stones.is_erased(ANA)
    await stones.welcome(ANA, now)
    assert not await stones.is_erased(ANA)

    await stones.bury(ANA, now)
    await stones.bury(ANA, now - timedelta(days=1))
    await stones.welcome(ANA, now)
    assert await stones.is_erased(ANA)
    assert not await stones.is_erased(BEN)
    assert not await stones.is_erased(ANA_OF_T2)

    await stones.welcome(ANA, now + timedelta(seconds=1))
    await stones.bury(ANA, now)
    assert not await stones.is_erased(ANA)

    await stones.bury(ANA, now + timedelta(days=1))
    assert await stones.is_erased(ANA)


def budgeted(stage: Stage, calls: float) -> Stage:
    """Return the stage with a billing budget of so many calls, one a second after."""
    buckets = BucketRecords(stage.documents, clock=stage.clock)
    return replace(stage, billing=ThrottledBilling(stage.billing, buckets, capacity=calls, per_second=1.0))


@pytest.mark.req("AX-04", "RK-02")
@pytest.mark.parametrize(
    "type_", [type_ for type_ in ActionType if type_ not in (ActionType.CRM_NOTE, ActionType.TICKET_UPDATE)]
)
async def test_every_billing_call_passes_the_tenants_bucket(stage: Stage, type_: ActionType) -> None:
    """An empty bucket means that nothing was called; a full one that the call arrives unchanged."""
    await stage.seed(ANA, status_for(type_))
    stage = budgeted(stage, 1)
    action = await stage.approved(ANA, PROPOSALS[type_])
    verified = await stage.verified(await stage.granted(action), action)
    method = getattr(stage.billing, type_.value)

    first = await method(verified, PROPOSALS[type_])
    with pytest.raises(NotCalled) as refused:
        await method(verified, PROPOSALS[type_])

    assert first == await stage.billing_records.find_effect(ANA, action)
    assert 0 < refused.value.retry_after_s <= 1
    assert type_ in stage.billing.keyed


@pytest.mark.req("AX-04", "RK-02")
async def test_the_budget_is_shared_by_all_instances_and_not_by_tenants(stage: Stage, clock: FixedClock) -> None:
    """One tenant's refunds wait; another's do not; the waiting one is done when the bucket has filled again."""
    await stage.seed(BEN)
    await stage.seed(ANA_OF_T2)
    here, there = budgeted(stage, 1), budgeted(stage.elsewhere(), 1)

    first = await here.perform(await here.approved(ANA, KETTLE))
    held_back = await there.perform(await there.approved(BEN, KETTLE))
    other = await there.perform(await there.approved(ANA_OF_T2, KETTLE))
    clock.forward(seconds=1)
    done = await there.perform(held_back)

    states = [first.state, held_back.state, other.state, done.state]
    assert states == [ActionState.EXECUTED, ActionState.APPROVED, ActionState.EXECUTED, ActionState.EXECUTED]


@pytest.mark.req("AX-04")
async def test_a_budget_that_cannot_be_read_calls_nothing(stage: Stage) -> None:
    """Fails closed, and certain: nothing has to be read back."""

    class NoStore(BucketRecords):
        async def take(self, *_: object, **__: object) -> float:
            raise Unavailable("x")

    broken = NoStore(stage.documents, clock=stage.clock)
    stage = replace(stage, billing=ThrottledBilling(stage.billing, broken))

    ended = await stage.perform(await stage.approved(ANA, KETTLE))

    assert (ended.state, await stage.effects()) == (ActionState.APPROVED, 0)


@pytest.mark.req("AX-03", "GO-01")
@pytest.mark.parametrize(
    ("fault", "first", "effects"),
    [
        ({"fault": "error", "error": "unavailable"}, ActionState.APPROVED, 0),
        ({"fault": "error_after", "error": "unavailable"}, ActionState.EXECUTED, 1),
        ({"fault": "error_after", "error": "timeout"}, ActionState.EXECUTED, 1),
        ({"fault": "error_after", "error": "conflict"}, ActionState.EXECUTED, 1),
        ({"fault": "garbage"}, ActionState.EXECUTED, 1),
        ({"fault": "delay", "delay_ms": 1}, ActionState.EXECUTED, 1),
    ],
    ids=lambda value: value.get("fault", "") + value.get("error", "") if isinstance(value, dict) else None,
)
async def test_fault_070_a_planned_fault_of_billing_ends_in_one_effect(
    stage: Stage, fault: dict[str, object], first: ActionState, effects: int
) -> None:
    """The local host's plan reaches billing by its container name; whatever it does, the retry pays nothing twice."""
    stage = budgeted(stage, 10)
    plan = parse_plan(json.dumps({"faults": [{"port": "billing", "operation": "refund", "calls": [1], **fault}]}))
    plan.attach(stage)
    action = await stage.approved(ANA, KETTLE)

    ended = await stage.perform(action)
    assert (ended.state, await stage.effects()) == (first, effects)
    again = await stage.perform(action)

    assert plan.struck["billing.refund"] == 1
    assert (again.state, await stage.effects(), await stage.paid_minor()) == (ActionState.EXECUTED, 1, 1500)
