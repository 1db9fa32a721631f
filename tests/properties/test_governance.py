"""Laws of deciding about an action: it always answers, in doubt against the machine, and more money never helps."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.governance import (
    CEILINGS,
    GRANTABLE,
    ActionFacts,
    Governance,
    Phase,
    Verdict,
    ceiling_of,
    decide,
    domain_of,
)
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.tiers import Tier

MINOR = st.integers(min_value=1, max_value=200_000)
CURRENCY = st.sampled_from(["USD", "EUR"])
OWN = st.none() | st.integers(min_value=0, max_value=100_000)
GOVERNANCES = st.builds(
    Governance,
    phase=st.sampled_from(Phase),
    single_ceiling_minor=OWN,
    rolling_ceiling_minor=OWN,
    always_approve=st.lists(st.sampled_from(ActionType), max_size=2).map(tuple),
)
FACTS = st.builds(
    ActionFacts,
    type=st.sampled_from(ActionType),
    intent=st.none() | st.sampled_from(CustomerIntent),
    amount=st.none() | st.builds(Money, amount_minor=st.integers(-100, 200_000), currency=CURRENCY),
    spent_minor=st.integers(min_value=0, max_value=200_000),
    is_possible=st.booleans(),
    is_owner=st.booleans(),
    is_unusual=st.booleans(),
    is_screened=st.booleans(),
    refusal=st.sampled_from(["", "it was refunded already"]),
)
GOOD = FACTS.map(
    lambda facts: facts.model_copy(
        update={"is_screened": True, "is_owner": True, "is_possible": True, "is_unusual": False}
    )
)
TIERS = st.sampled_from(Tier)
ORDER = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.REFUSE: 2}
"""How much each verdict leaves to the machine, most first."""


@pytest.mark.req("AX-02", "SC-02")
@given(facts=FACTS, governance=GOVERNANCES, tier=TIERS, currency=CURRENCY)
def test_every_action_gets_a_verdict_with_a_reason(
    facts: ActionFacts, governance: Governance, tier: Tier, currency: str
) -> None:
    decision = decide(facts, governance, tier, currency)

    assert decision.verdict in Verdict
    assert decision.reason


@pytest.mark.req("AX-02", "GO-01")
@given(facts=FACTS, governance=GOVERNANCES, tier=TIERS)
def test_nothing_unscreened_foreign_or_impossible_is_done_or_even_asked(
    facts: ActionFacts, governance: Governance, tier: Tier
) -> None:
    assume(not (facts.is_screened and facts.is_owner and facts.is_possible))

    assert decide(facts, governance, tier, "USD").verdict is Verdict.REFUSE


@pytest.mark.req("AX-02", "GO-01", "GO-03")
@given(facts=FACTS, more=MINOR, governance=GOVERNANCES, tier=TIERS)
def test_raising_the_amount_never_gives_the_machine_more_to_do(
    facts: ActionFacts, more: int, governance: Governance, tier: Tier
) -> None:
    """An amount that is not known or not positive is no lower amount: a person looks at it."""
    assume(facts.amount is not None and facts.amount.amount_minor > 0)
    assert facts.amount is not None
    dearer = facts.model_copy(
        update={"amount": facts.amount + Money(amount_minor=more, currency=facts.amount.currency)}
    )

    before, after = (decide(f, governance, tier, "USD").verdict for f in (facts, dearer))

    assert ORDER[after] >= ORDER[before]


@pytest.mark.req("AX-02", "GO-01")
@given(facts=FACTS, more=MINOR, governance=GOVERNANCES, tier=TIERS)
def test_neither_a_larger_sum_nor_an_unusual_one_gives_the_machine_more_to_do(
    facts: ActionFacts, more: int, governance: Governance, tier: Tier
) -> None:
    before = decide(facts, governance, tier, "USD").verdict
    for worse in ({"spent_minor": facts.spent_minor + more}, {"is_unusual": True}, {"is_screened": False}):
        after = decide(facts.model_copy(update=worse), governance, tier, "USD").verdict

        assert ORDER[after] >= ORDER[before]


@pytest.mark.req("AX-02", "SC-02")
@given(facts=GOOD, amount=st.integers(1, 8_000), spent=st.integers(0, 20_000), governance=GOVERNANCES, tier=TIERS)
def test_money_moves_by_itself_exactly_within_every_ceiling(
    facts: ActionFacts, amount: int, spent: int, governance: Governance, tier: Tier
) -> None:
    facts = facts.model_copy(
        update={"type": ActionType.REFUND, "intent": CustomerIntent.REFUND, "spent_minor": spent}
        | {"amount": Money(amount_minor=amount, currency="USD")}
    )
    ceiling, preset = ceiling_of(governance, tier), CEILINGS[governance.phase, tier]
    is_within = amount <= ceiling.single_minor and spent + amount <= ceiling.rolling_minor

    verdict = decide(facts, governance, tier, "USD").verdict

    assert (verdict is Verdict.ALLOW) is (is_within and ActionType.REFUND not in governance.always_approve)
    assert ceiling.single_minor <= preset.single_minor
    assert ceiling.rolling_minor <= preset.rolling_minor
    assert governance.phase is not Phase.FOUNDATION or verdict is Verdict.ASK


@pytest.mark.req("AX-02", "SC-02")
@given(facts=GOOD, governance=GOVERNANCES, tier=TIERS)
def test_a_tenants_own_setting_can_only_take_away(facts: ActionFacts, governance: Governance, tier: Tier) -> None:
    preset = Governance(phase=governance.phase)
    stricter = governance.model_copy(update={"always_approve": tuple(ActionType)})

    assert (
        ORDER[decide(facts, preset, tier, "USD").verdict]
        <= ORDER[decide(facts, governance, tier, "USD").verdict]
        <= ORDER[decide(facts, stricter, tier, "USD").verdict]
    )


@pytest.mark.req("SC-02")
@given(facts=GOOD, tier=TIERS)
def test_each_phase_allows_at_least_what_the_one_before_did_but_for_the_domains_of_federation(
    facts: ActionFacts, tier: Tier
) -> None:
    foundation, consolidation, federation = (
        decide(facts, Governance(phase=phase), tier, "USD").verdict for phase in Phase
    )

    assert ORDER[consolidation] <= ORDER[foundation]
    if facts.type in GRANTABLE[domain_of(facts.intent)]:
        assert ORDER[federation] <= ORDER[consolidation]
    else:
        assert federation is not Verdict.ALLOW


@pytest.mark.req("SC-02")
@given(facts=GOOD, governance=GOVERNANCES)
def test_a_higher_plan_allows_at_least_what_a_lower_one_does(facts: ActionFacts, governance: Governance) -> None:
    starter, professional, enterprise = (
        ORDER[decide(facts, governance, tier, "USD").verdict]
        for tier in (Tier.STARTER, Tier.PROFESSIONAL, Tier.ENTERPRISE)
    )

    assert starter >= professional >= enterprise
