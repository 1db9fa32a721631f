"""Grants: what they are for, who gets one, how long, and under which key. Source: AX-02, AX-05, SU-04, GO-03."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.authority.rotation import SEAL_PERIOD, RotatingSeals
from shared.authority.verify import verify_grant
from shared.domain.actions import Action, ActionOp, ActionState, ChangeAddressProposal, LineRef, RefundProposal
from shared.domain.errors import AuthorityError, Unavailable
from shared.domain.governance import Governance, Phase, Verdict
from shared.domain.grants import MAX_GRANT_TTL_S, Grant, SignedGrant
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S
from shared.domain.policy import TenantPolicy
from shared.domain.verified import VerifiedGrant
from tests.acting.stage import ANA, ANA_OF_T2, BEN, ORDER, PROPOSALS, Stage, charge_of, order_for, usd
from tests.conftest import FixedClock

REFUND = PROPOSALS[ActionType.REFUND]
KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))
BY_POLICY = "policy:1"
ALTERATIONS: dict[str, object] = {
    "grant_id": "another",
    "tenant_id": "t2",
    "account_id": "ben",
    "action_type": ActionType.CREDIT,
    "action_id": "0" * 40,
    "payload_hash": "0" * 64,
    "order_id": "1002",
    "lines": (LineRef(line_id="KT-1", quantity=9),),
    "amount": usd(999_999),
    "policy_version": 99,
    "approved_by": "person:mallory",
    "fence": 9,
    "issued_at": timedelta(seconds=1),
    "expires_at": timedelta(seconds=-1),
}
"""Another value for each field of a grant; a duration is added."""


def test_every_field_of_a_grant_is_altered_below() -> None:
    assert set(ALTERATIONS) == set(Grant.model_fields)


@pytest.mark.req("AX-02", "AX-05")
@pytest.mark.parametrize("field", ALTERATIONS)
async def test_a_grant_altered_in_any_field_verifies_for_nothing(stage: Stage, field: str) -> None:
    """The seal covers all of it; nothing is consumed and nothing is called."""
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    value = ALTERATIONS[field]
    if isinstance(value, timedelta):
        value = getattr(signed.grant, field) + value
    altered = SignedGrant(grant=signed.grant.model_copy(update={field: value}), seal=signed.seal)

    with pytest.raises(AuthorityError):
        await stage.execute(altered, action)

    assert (await stage.stands(action)).starts == 0
    assert await stage.effects() == 0


@pytest.mark.req("AX-02", "AX-05")
async def test_a_seal_of_another_purpose_or_key_is_no_grants_seal(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    stranger = RotatingSeals(lambda _: b"x" * 32, clock)

    for other in ("", "s1:", signed.seal[:-1], signed.seal.upper(), f"s0:{signed.seal.partition(':')[2]}"):
        with pytest.raises(AuthorityError):
            await stage.execute(SignedGrant(grant=signed.grant, seal=other), action)
    with pytest.raises(AuthorityError):
        await replace(stage, seals=stranger).execute(signed, action)


@pytest.mark.req("AX-02")
async def test_a_grant_is_for_one_action_of_one_account_as_it_is_now(stage: Stage) -> None:
    """Also with a good seal: another account, another action, or the same one changed since."""
    await stage.seed(BEN)
    action, other = await stage.approved(ANA, REFUND), await stage.approved(ANA, KETTLE)
    bens = await stage.approved(BEN, REFUND)
    signed, keys, now = await stage.granted(action), stage.seals.ring(), stage.clock.now()
    changed = action.model_copy(update={"proposal": KETTLE})
    cheaper = action.model_copy(update={"amount": usd(1)})

    assert verify_grant(signed, action, now=now, keys=keys).grant == signed.grant
    for wrong in (other, bens, changed, cheaper):
        with pytest.raises(AuthorityError):
            verify_grant(signed, wrong, now=now, keys=keys)


@pytest.mark.req("AX-02")
async def test_a_grant_lives_five_minutes_at_most(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, PROPOSALS[ActionType.CRM_NOTE])
    signed = await stage.granted(action)
    with pytest.raises(ValueError, match="at most"):
        stage.seal(action, fence=0, ttl_s=MAX_GRANT_TTL_S + 1)
    clock.forward(seconds=MAX_GRANT_TTL_S)

    with pytest.raises(AuthorityError, match="not live"):
        await stage.execute(signed, action)


@pytest.mark.req("AX-05")
async def test_a_verified_grant_cannot_be_made_by_hand(stage: Stage) -> None:
    """AX-05 as a type, and at run time."""
    signed = await stage.granted(await stage.approved(ANA, REFUND))

    with pytest.raises(AuthorityError):
        VerifiedGrant(signed.grant, object())


@pytest.mark.req("AX-02", "SU-03")
@pytest.mark.parametrize(
    ("days", "is_accepted"), [(0, True), (29, True), (30, True), (59, True), (60, False), (-30, True), (-31, False)]
)
def test_what_is_sealed_just_before_the_key_changes_still_verifies(days: int, is_accepted: bool) -> None:
    """Keys change every 30 days; the one before counts for as long again, the next for clocks that are ahead."""
    clock = FixedClock()
    clock.at = clock.at.fromtimestamp(SEAL_PERIOD.total_seconds() * 700, tz=clock.at.tzinfo)
    seals = RotatingSeals(lambda purpose: purpose.encode().ljust(32, b"."), clock)
    signer = seals.ring().keys[0]

    clock.forward(days=days)

    accepted = {key.kid: key.secret for key in seals.ring().keys}
    assert (accepted.get(signer.kid) == signer.secret) is is_accepted
    assert (seals.ring().keys[0] == signer) is (0 <= days < 30)


@pytest.mark.req("AX-02")
async def test_a_grant_sealed_at_the_last_moment_of_a_key_is_executed_under_the_next(
    stage: Stage, clock: FixedClock
) -> None:
    clock.at = clock.at.fromtimestamp(SEAL_PERIOD.total_seconds() * 700 - 1, tz=clock.at.tzinfo)
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    clock.forward(seconds=2)

    done = await stage.execute(signed, action)

    assert done.state is ActionState.EXECUTED
    assert signed.seal.partition(":")[0] != stage.seals.ring().keys[0].kid


# -- who gets one ------------------------------------------------------------------------------------------------------


async def decision(stage: Stage, action: Action, policy: TenantPolicy | None = None) -> Verdict | None:
    """Ask for a grant and return what stands against it; None when it came."""
    minted = await stage.mint(await stage.stands(action), 1, policy=policy)
    return None if minted.grant is not None else minted.decision.verdict


@pytest.mark.req("AX-02", "GO-03")
async def test_what_would_move_is_read_again_and_a_change_goes_back_to_the_desk(stage: Stage) -> None:
    """A person's approval covers the amount they saw and nothing else, more or less."""
    action = await stage.approved(ANA, REFUND)
    await stage.shop.put_order(ANA, order_for(ANA).model_copy(update={"refunded": usd(1)}))
    assert await decision(stage, action) is Verdict.ASK

    dearer = order_for(ANA).model_copy(update={"total": usd(5000)})
    await stage.shop.put_order(ANA, dearer)
    await stage.shop.put_billing_event(ANA, charge_of(dearer, stage.clock.now()))
    assert await decision(stage, action) is Verdict.ASK

    await stage.shop.put_order(ANA, order_for(ANA))
    await stage.shop.put_billing_event(ANA, charge_of(order_for(ANA), stage.clock.now()))
    assert await decision(stage, action) is None


@pytest.mark.req("AX-02", "PV-04")
async def test_nothing_is_granted_to_an_erased_customer_until_they_come_back(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, REFUND)
    await stage.tombstones.bury(ANA, clock.now())
    assert await decision(stage, action) is Verdict.REFUSE

    await stage.tombstones.welcome(ANA, clock.now() + timedelta(seconds=1))
    assert await decision(stage, action) is None


@pytest.mark.req("AX-02", "GO-01")
async def test_fault_069_nothing_is_granted_for_an_order_that_is_not_the_accounts(stage: Stage) -> None:
    await stage.seed(BEN, number="1002")
    action = await stage.approved(ANA, RefundProposal(order_id=OrderId("1002")))

    assert await decision(stage, action) is Verdict.REFUSE


@pytest.mark.req("AX-02", "SC-02")
async def test_the_ceilings_own_approval_is_asked_for_again_and_a_persons_stands(stage: Stage) -> None:
    """A policy lowered after the approval binds the machine, not the person who looked."""
    foundation = TenantPolicy(governance=Governance(phase=Phase.FOUNDATION))
    by_person = await stage.approved(ANA, KETTLE)
    by_policy = await stage.asked(ANA, REFUND)
    await stage.actions.decide(ANA, by_policy.action_id, ActionOp.APPROVE, reason="", by=BY_POLICY)

    assert await decision(stage, by_person, foundation) is None
    assert await decision(stage, by_policy, foundation) is Verdict.ASK


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("by", ["", "policy", "lena"])
async def test_an_approval_nobody_signed_is_no_persons(stage: Stage, by: str) -> None:
    """Fails closed: only `person:` is a person, whatever else stands there."""
    action = (await stage.approved(ANA, REFUND)).model_copy(update={"approved_by": by})
    foundation = TenantPolicy(governance=Governance(phase=Phase.FOUNDATION))

    minted = await stage.mint(action, 1, policy=foundation)

    assert minted.grant is None
    assert minted.decision.verdict is Verdict.ASK


@pytest.mark.req("AX-01")
async def test_an_address_nobody_wrote_is_asked_for(stage: Stage) -> None:
    await stage.seed(ANA, "processing")
    action = await stage.approved(ANA, ChangeAddressProposal(order_id=ORDER))

    assert await decision(stage, action) is Verdict.ASK


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("op", [None, ActionOp.REFUSE, ActionOp.EXPIRE])
async def test_nothing_is_granted_for_an_action_nobody_approved(stage: Stage, op: ActionOp | None) -> None:
    action = await stage.asked(ANA, REFUND)
    if op is not None:
        await stage.actions.decide(ANA, action.action_id, op, reason="")

    assert await decision(stage, action) is Verdict.REFUSE


@pytest.mark.req("AX-02", "ME-07")
async def test_the_same_customer_id_of_another_tenant_is_another_account(stage: Stage) -> None:
    await stage.seed(ANA_OF_T2)
    action, theirs = await stage.approved(ANA, REFUND), await stage.approved(ANA_OF_T2, REFUND)
    signed = await stage.granted(action)

    with pytest.raises(AuthorityError):
        await stage.execute(signed, theirs)

    assert await stage.effects(ANA_OF_T2) == 0


@pytest.mark.req("AX-03")
async def test_nothing_is_decided_against_a_begun_action_before_the_shop_was_read(
    stage: Stage, clock: FixedClock
) -> None:
    """What its call has done looks like a change: nothing left to refund. It is to be confirmed, not refused."""
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    started = await stage.claimed(signed, action)
    verified = verify_grant(signed, started, now=clock.now(), keys=stage.seals.ring())
    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=started.grant_id)
    undone = await stage.stands(action)

    await stage.shop.put_order(ANA, order_for(ANA).model_copy(update={"refunded": usd(4000)}))
    with pytest.raises(Unavailable):
        await stage.mint(undone, 2)
    clock.forward(seconds=CALL_DEADLINE_S + CALL_MARGIN_S)
    assert (await stage.mint(undone, 2)).decision.verdict is Verdict.REFUSE
    await stage.seed(ANA)
    effect = await stage.billing.refund(verified, RefundProposal(order_id=ORDER))
    minted = await stage.mint(undone, 2)

    assert (minted.grant, minted.effect) == (None, effect)
