"""Which writes need a person: the ceilings' edges, the phases, and what federation's domains may grant."""

import itertools

import pytest

from shared.domain.actions import RULES
from shared.domain.governance import (
    AUDIT_SAMPLE,
    CEILINGS,
    GRANTABLE,
    SHADOW_SAMPLE,
    ActionFacts,
    Domain,
    Governance,
    Phase,
    Verdict,
    decide,
    domain_of,
)
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.tiers import Tier

CONSOLIDATION = Governance(phase=Phase.CONSOLIDATION)
LIMIT = CEILINGS[Phase.CONSOLIDATION, Tier.STARTER]


def usd(minor: int) -> Money:
    return Money(amount_minor=minor, currency="USD")


def facts(**changed: object) -> ActionFacts:
    known = {"type": ActionType.REFUND, "amount": usd(1_000), "is_possible": True, "is_owner": True}
    return ActionFacts.model_validate(known | {"is_unusual": False, "is_screened": True} | changed)


def verdict(of: ActionFacts, governance: Governance = CONSOLIDATION, tier: Tier = Tier.STARTER) -> Verdict:
    return decide(of, governance, tier, "USD").verdict


@pytest.mark.req("AX-02")
def test_fault_035_without_a_passed_screen_nothing_is_granted_and_no_person_is_tricked_into_it() -> None:
    """The shield comes before everything: the decision refuses whatever else is in order."""
    for type, phase, tier in itertools.product(ActionType, Phase, Tier):
        decision = decide(facts(type=type, is_screened=False), Governance(phase=phase), tier, "USD")

        assert (decision.verdict, decision.reason) == (Verdict.REFUSE, "the message was not screened")


@pytest.mark.req("AX-02")
def test_facts_nobody_established_speak_against_the_action() -> None:
    """Fail closed: the emptiest facts are refused, and each that is missing keeps the machine from acting."""
    assert verdict(ActionFacts(type=ActionType.REFUND)) is Verdict.REFUSE
    known = {"is_possible": True, "is_owner": True, "is_unusual": False, "is_screened": True}
    for missing in known:
        rest = {name: value for name, value in known.items() if name != missing}
        partial = ActionFacts.model_validate({"type": ActionType.REFUND, "amount": usd(1)} | rest)

        assert verdict(partial) is not Verdict.ALLOW


@pytest.mark.req("AX-02", "GO-01", "GO-03")
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({"amount": usd(LIMIT.single_minor)}, Verdict.ALLOW, id="at the ceiling"),
        pytest.param({"amount": usd(LIMIT.single_minor + 1)}, Verdict.ASK, id="a cent above it"),
        pytest.param({"spent_minor": LIMIT.rolling_minor - 1_000}, Verdict.ALLOW, id="the sum at its ceiling"),
        pytest.param({"spent_minor": LIMIT.rolling_minor - 999}, Verdict.ASK, id="the sum a cent above it"),
        pytest.param({"amount": None}, Verdict.ASK, id="amount unknown"),
        pytest.param({"amount": usd(0)}, Verdict.ASK, id="amount nothing"),
        pytest.param({"amount": usd(-5)}, Verdict.ASK, id="amount below nothing"),
        pytest.param({"amount": Money(amount_minor=1, currency="EUR")}, Verdict.ASK, id="another currency"),
        pytest.param({"is_unusual": True}, Verdict.ASK, id="unusual"),
        pytest.param({"is_possible": False}, Verdict.REFUSE, id="the shop would not"),
        pytest.param({"is_owner": False}, Verdict.REFUSE, id="somebody else's order"),
        pytest.param({"type": ActionType.CHANGE_ADDRESS}, Verdict.ASK, id="always asks"),
        pytest.param({"type": ActionType.CRM_NOTE, "amount": None}, Verdict.ALLOW, id="nothing of value"),
    ],
)
def test_each_edge_falls_on_its_side(changed: dict[str, object], expected: Verdict) -> None:
    assert verdict(facts(**changed)) is expected


@pytest.mark.req("SC-02")
def test_in_phase_foundation_a_person_approves_every_billing_write() -> None:
    for type, tier in itertools.product(ActionType, Tier):
        found = verdict(facts(type=type, amount=usd(1)), Governance(), tier)

        assert found is Verdict.ASK or not RULES[type].is_billing


@pytest.mark.req("AX-02")
def test_a_tenants_ceiling_of_nothing_asks_a_person_every_time() -> None:
    for own in ({"single_ceiling_minor": 0}, {"rolling_ceiling_minor": 0}):
        strict = CONSOLIDATION.model_copy(update=own)

        assert verdict(facts(amount=usd(1)), strict) is Verdict.ASK


@pytest.mark.req("SC-02")
def test_in_federation_a_domain_grants_only_what_is_its_own() -> None:
    federation = Governance(phase=Phase.FEDERATION)

    for intent, type in itertools.product([None, *CustomerIntent], ActionType):
        found = verdict(facts(type=type, intent=intent), federation)

        if type not in GRANTABLE[domain_of(intent)]:
            assert found is Verdict.ASK


@pytest.mark.req("SC-02")
@pytest.mark.parametrize(
    ("intent", "domain"),
    [
        (CustomerIntent.REFUND, Domain.BILLING),
        (CustomerIntent.BILLING_DISPUTE, Domain.BILLING),
        (CustomerIntent.DELIVERY_PROBLEM, Domain.TECHNICAL),
        (CustomerIntent.ACCOUNT_ACCESS, Domain.ACCOUNT),
        (CustomerIntent.COMPLAINT, Domain.GENERAL),
        (None, Domain.GENERAL),
    ],
)
def test_the_meta_router_names_one_domain_for_each_intent(intent: CustomerIntent | None, domain: Domain) -> None:
    assert domain_of(intent) is domain


@pytest.mark.req("SC-02")
def test_every_table_is_total_and_later_phases_are_never_tighter() -> None:
    phases = list(Phase)

    assert set(CEILINGS) == set(itertools.product(Phase, Tier))
    assert set(GRANTABLE) == set(Domain)
    assert set(AUDIT_SAMPLE) == set(SHADOW_SAMPLE) == set(Phase)
    assert set(RULES) == set(ActionType)
    for tier in Tier:
        singles = [CEILINGS[phase, tier].single_minor for phase in phases]
        sums = [CEILINGS[phase, tier].rolling_minor for phase in phases]
        assert singles == sorted(singles)
        assert sums == sorted(sums)
    assert all(ceiling.single_minor <= ceiling.rolling_minor for ceiling in CEILINGS.values())


@pytest.mark.req("SC-02", "SU-06")
def test_a_tenants_own_sample_counts_even_when_it_is_none_at_all() -> None:
    own = Governance(phase=Phase.FEDERATION, audit_sample=0.0, shadow_sample=1.0)
    preset = Governance(phase=Phase.FEDERATION)

    assert (own.audited_share, own.shadowed_share) == (0.0, 1.0)
    assert (preset.audited_share, preset.shadowed_share) == (AUDIT_SAMPLE[preset.phase], SHADOW_SAMPLE[preset.phase])


@pytest.mark.req("SC-02")
@pytest.mark.parametrize(
    "changed",
    [
        {"single_ceiling_minor": -1},
        {"rolling_ceiling_minor": -1},
        {"audit_sample": 1.01},
        {"audit_sample": float("nan")},
        {"shadow_sample": -0.01},
        {"phase": "anarchy"},
        {"ceiling": 5},
    ],
    ids=str,
)
def test_a_setting_that_means_nothing_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Governance.model_validate(changed)
