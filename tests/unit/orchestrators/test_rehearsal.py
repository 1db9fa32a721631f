"""Deciding turns again under another policy: what would change, and what cannot be told. Source: SC-02 (dry run)."""

from datetime import UTC, datetime

import pytest

from orchestrators.rehearsal import rehearse
from shared.domain.deltas import WaitingRule
from shared.domain.governance import ActionFacts, Governance, Phase
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ConversationId, MessageId, TenantId
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.ledger import TurnRecord
from shared.domain.money import Money
from shared.domain.oversight import Oversight, oversee, share
from shared.domain.policy import RoutingRules, TenantPolicy
from shared.domain.routing_facts import RoutingFacts
from shared.domain.tiers import Tier

SURE = RoutingFacts(
    is_classified=True,
    is_watched=True,
    intent=CustomerIntent.SHIPPING_INFO,
    confidence=0.9,
    retrieval_confidence=0.6,
)
"""A question an article answers."""
SMALL = ActionFacts(
    type=ActionType.REFUND,
    intent=CustomerIntent.REFUND,
    amount=Money(amount_minor=2_000, currency="USD"),
    is_possible=True,
    is_owner=True,
    is_unusual=False,
    is_screened=True,
)
TRUSTING = TenantPolicy(governance=Governance(phase=Phase.CONSOLIDATION))


def record(
    n: int = 1, facts: RoutingFacts | None = SURE, actions: tuple[ActionFacts, ...] = (), **more: object
) -> TurnRecord:
    """Return a turn's record."""
    given: dict[str, object] = {"outcome": "answered", "has_widened": True} | more
    return TurnRecord(
        id=f"turn:c1:m{n}",
        tenant_id=TenantId("t1"),
        conversation_id=ConversationId("c1"),
        message_id=MessageId(f"m{n}"),
        facts=facts,
        action_facts=actions,
        at=datetime(2026, 3, 2, 9, n, tzinfo=UTC),
        **given,  # type: ignore[arg-type]
    )


@pytest.mark.req("SC-02")
def test_the_same_policy_changes_nothing() -> None:
    """Whatever is stored: a difference is the policy's alone."""
    records = [record(n, actions=(SMALL,)) for n in range(1, 4)]

    found = rehearse(records, TRUSTING, TRUSTING.model_copy(update={"version": 7}), Tier.PROFESSIONAL)

    assert (found.turns, found.actions, found.differences, found.not_rehearsed) == (3, 3, (), ())


@pytest.mark.req("SC-02", "RT-06")
def test_a_higher_floor_shows_the_turns_it_would_give_to_a_person() -> None:
    """Before and after, with the reason under the new policy."""
    records = [record(1), record(2, SURE.model_copy(update={"retrieval_confidence": 0.95}))]
    stricter = TenantPolicy(routing=RoutingRules(retrieval_floor=0.8))

    found = rehearse(records, TenantPolicy(), stricter, Tier.STARTER)

    (difference,) = found.differences
    assert difference.record.message_id == "m1"
    assert (difference.about, difference.before) == ("route", "answer")
    assert difference.after == "person:low_retrieval_confidence"
    assert difference.reason


@pytest.mark.req("SC-02", "AX-02")
@pytest.mark.parametrize(
    ("governance", "verdicts"),
    [
        (Governance(), ("refund:allow", "refund:ask")),
        (Governance(phase=Phase.CONSOLIDATION, single_ceiling_minor=1_999), ("refund:allow", "refund:ask")),
        (Governance(phase=Phase.CONSOLIDATION, always_approve=(ActionType.REFUND,)), ("refund:allow", "refund:ask")),
        (Governance(phase=Phase.FEDERATION), None),
    ],
    ids=["foundation", "a lower ceiling", "always a person", "more trust"],
)
def test_another_ceiling_shows_the_actions_a_person_would_see(
    governance: Governance, verdicts: tuple[str, str] | None
) -> None:
    """The authority function over the stored facts of each action."""
    found = rehearse([record(1, actions=(SMALL,))], TRUSTING, TenantPolicy(governance=governance), Tier.PROFESSIONAL)

    changed = [(difference.before, difference.after) for difference in found.differences]
    assert changed == ([] if verdicts is None else [verdicts])
    assert found.actions == 1


@pytest.mark.req("SC-02", "ES-03")
def test_a_trigger_switched_off_no_longer_brings_a_person_but_safety_does() -> None:
    """What must stay on stays on in a rehearsal too."""
    legal = SURE.model_copy(update={"triggers": (HumanTrigger.LEGAL,)})
    unsafe = SURE.model_copy(update={"triggers": (HumanTrigger.SAFETY,)})
    ruled = SURE.model_copy(update={"waiting_rules": (WaitingRule(name="r", intents=(CustomerIntent.SHIPPING_INFO,)),)})
    off = TenantPolicy(disabled_triggers=(HumanTrigger.LEGAL, HumanTrigger.SAFETY, HumanTrigger.TENANT_RULE))

    found = rehearse([record(1, legal), record(2, unsafe), record(3, ruled)], TenantPolicy(), off, Tier.STARTER)

    assert [(d.record.message_id, d.before, d.after) for d in found.differences] == [
        ("m1", "person:legal", "answer"),
        ("m3", "person:tenant_rule", "answer"),
    ]


@pytest.mark.req("SC-02")
def test_what_stored_facts_cannot_show_is_said() -> None:
    """No text is kept, so words are not weighed again; turns without facts are not counted as unchanged."""
    after = TenantPolicy(banned_phrases=("never",), routing=RoutingRules(clarify_below=0.7))

    found = rehearse([record(1), record(2, None, (SMALL,))], TenantPolicy(), after, Tier.STARTER)

    assert found.not_rehearsed == ("banned_phrases",)
    assert (found.turns, found.actions) == (1, 0)


@pytest.mark.req("SC-02", "SU-06")
def test_fault_110_errors_of_first_contacts_are_counted_by_themselves() -> None:
    """A person by the customer's wish is no error of ours; a draft nobody could ground is."""
    records = [
        record(1, is_first=True),
        record(2, is_first=True, triggers=("explicit_wish",)),
        record(3, is_first=True, triggers=("grounding_failure",), shadow="differ"),
        record(4, triggers=("agent_failure",), shadow="agree", is_audited=True),
    ]

    assert oversee(records) == Oversight(turns=4, shadowed=2, differed=1, audited=1, first_turns=3, first_errors=1)
    assert (share(1, 4), share(0, 0)) == (0.25, None)
