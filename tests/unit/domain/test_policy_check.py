"""Which policies cannot hold, which achieve nothing, and what differs between two. Source: ES-03, SC-02, fault 110."""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.actions import RULES
from shared.domain.desk_hours import DeskHours, Shift
from shared.domain.governance import CEILINGS, Governance, Phase
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.policy import EscalationRule, RoutingRules, TenantPolicy
from shared.domain.policy_changes import SettingChange, changed_settings, changes_between, fallen_back
from shared.domain.policy_check import PolicyRefused, check_policy, faults_of
from shared.domain.policy_warnings import warnings_of
from shared.domain.tiers import Tier

CANNOT_HOLD = {
    "disabled_triggers": TenantPolicy(disabled_triggers=(HumanTrigger.SAFETY,)),
    "default_language": TenantPolicy(default_language="de"),
    "phone_regions": TenantPolicy(phone_regions=()),
    "currency": TenantPolicy(currency="euro"),
    "escalation_rules.1": TenantPolicy(
        escalation_rules=(EscalationRule(name="a", phrases=("xy",)), EscalationRule(name="b"))
    ),
    "banned_phrases.0": TenantPolicy(banned_phrases=("",)),
    "greeting": TenantPolicy(greeting="x" * 1_001),
    "sign_off": TenantPolicy(sign_off="Yours\x1b[2J"),
    "allowed_url_hosts": TenantPolicy(allowed_url_hosts=("h.example",) * 201),
    "escalation_rules.0.name": TenantPolicy(escalation_rules=(EscalationRule(name="a\x00", phrases=("xy",)),)),
    "escalation_rules.0.phrases.0": TenantPolicy(escalation_rules=(EscalationRule(name="a", phrases=(" e ", "xy")),)),
    "escalation_rules.0.phrases.1": TenantPolicy(escalation_rules=(EscalationRule(name="a", phrases=("xy", " ")),)),
}


@pytest.mark.req("ES-03", "SC-02")
@pytest.mark.parametrize(("setting", "policy"), CANNOT_HOLD.items(), ids=CANNOT_HOLD.keys())
def test_a_policy_that_cannot_hold_is_refused_by_the_name_of_the_setting(setting: str, policy: TenantPolicy) -> None:
    """Named errors: which setting, and why."""
    with pytest.raises(PolicyRefused) as refused:
        check_policy(policy)

    assert [fault.setting for fault in refused.value.faults] == [setting]
    assert setting in str(refused.value)


@pytest.mark.req("ES-03", "AX-02")
@pytest.mark.parametrize("code", ["ZZZ", "usd", "XXX", "XAU", "EURO", ""])
def test_ceilings_are_counted_in_no_currency_that_is_none(code: str) -> None:
    """Three capital letters are not yet money."""
    assert "currency" in {fault.setting for fault in faults_of(TenantPolicy(currency=code))}


@pytest.mark.req("ES-03", "SU-01")
@pytest.mark.parametrize("host", ["com", "com.", ".com", "*.com", "https://shop.example", "shop.example/a", "a b.com"])
def test_no_whole_top_level_domain_is_allowed_in_replies(host: str) -> None:
    faults = faults_of(TenantPolicy(allowed_url_hosts=("shop.example", host)))

    assert [fault.setting for fault in faults] == ["allowed_url_hosts.1"]


@pytest.mark.req("ES-03")
def test_what_a_document_leaves_out_falls_back_by_name() -> None:
    """Down to the single setting; what was at its default before is not told."""
    before = TenantPolicy(version=7, currency="EUR", governance=Governance(phase=Phase.FEDERATION, audit_sample=0.5))

    assert fallen_back(before, TenantPolicy()) == ("currency", "governance")
    part = TenantPolicy.model_validate({"currency": "EUR", "governance": {"phase": "federation"}})
    assert fallen_back(before, part) == ("governance.audit_sample",)
    assert fallen_back(before, TenantPolicy.model_validate(before.model_dump(mode="json"))) == ()


@pytest.mark.req("ES-03")
def test_every_setting_that_is_in_the_way_is_named_at_once() -> None:
    """One round of corrections, not five."""
    policy = TenantPolicy(default_language="de", phone_regions=(), sign_off="\x00")

    assert [fault.setting for fault in faults_of(policy)] == ["default_language", "phone_regions", "sign_off"]
    assert faults_of(TenantPolicy()) == ()


def rule(name: str = "r", **conditions: object) -> EscalationRule:
    """Return a rule."""
    return EscalationRule.model_validate({"name": name, "phrases": ("press",)} | conditions)


def governed(**settings: object) -> TenantPolicy:
    """Return a policy of phase consolidation with these settings of its own."""
    return TenantPolicy(governance=Governance.model_validate({"phase": Phase.CONSOLIDATION} | settings))


SINGLE = CEILINGS[Phase.CONSOLIDATION, Tier.STARTER].single_minor
REFUND = CustomerIntent.REFUND
WARNED = {
    "a banned word that every cancellation is told with": (
        TenantPolicy(banned_phrases=("no worries", "Cancelled")),
        "banned_phrases.1",
    ),
    "two rules of one name": (
        TenantPolicy(escalation_rules=(rule("A"), rule("a ", phrases=("law",)))),
        "escalation_rules.1",
    ),
    "two rules of the same conditions": (
        TenantPolicy(escalation_rules=(rule("a"), rule("b", phrases=("Press",)))),
        "escalation_rules.1",
    ),
    "a later rule that an earlier one covers": (
        TenantPolicy(escalation_rules=(rule("a"), rule("b", intents=(REFUND,)))),
        "escalation_rules.1",
    ),
    "an earlier rule that a later one covers": (
        TenantPolicy(escalation_rules=(rule("a", min_order_minor=500), rule("b", min_order_minor=400))),
        "escalation_rules.0",
    ),
    "rules while rules are switched off": (
        TenantPolicy(escalation_rules=(rule(),), disabled_triggers=(HumanTrigger.TENANT_RULE,)),
        "escalation_rules",
    ),
    "a trigger nothing switches off": (
        TenantPolicy(disabled_triggers=(HumanTrigger.GROUNDING_FAILURE,)),
        "disabled_triggers",
    ),
    "an own ceiling above the preset": (
        governed(single_ceiling_minor=SINGLE + 1),
        "governance.single_ceiling_minor",
    ),
    "an own rolling ceiling above the preset": (
        governed(rolling_ceiling_minor=10**9),
        "governance.rolling_ceiling_minor",
    ),
    "a rolling ceiling below a single one": (
        governed(rolling_ceiling_minor=SINGLE - 1),
        "governance.rolling_ceiling_minor",
    ),
    "any ceiling while a person approves everything": (
        TenantPolicy(governance=Governance(single_ceiling_minor=1)),
        "governance.single_ceiling_minor",
    ),
    "an approval that is asked for anyway": (
        governed(always_approve=(ActionType.CHANGE_ADDRESS,)),
        "governance.always_approve",
    ),
    "shifts that overlap": (
        TenantPolicy(
            desk_hours=DeskHours(
                shifts=(
                    Shift(weekday=0, opens=time(9), closes=time(12)),
                    Shift(weekday=0, opens=time(11), closes=time(13)),
                )
            )
        ),
        "desk_hours.shifts",
    ),
    "a greeting no review lets pass": (TenantPolicy(greeting="Hello Dear!", banned_phrases=("dear",)), "greeting"),
    "a language without fixed texts": (TenantPolicy(languages=("en", "fi")), "languages"),
}


@pytest.mark.req("ES-03", "SC-02")
@pytest.mark.parametrize(("policy", "setting"), WARNED.values(), ids=WARNED.keys())
def test_fault_110_what_has_no_effect_or_contradicts_itself_is_listed(policy: TenantPolicy, setting: str) -> None:
    """Told when saving; the policy itself holds."""
    assert faults_of(policy) == ()
    assert [note.setting for note in warnings_of(policy, Tier.STARTER)] == [setting]


@pytest.mark.req("ES-03")
@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(TenantPolicy(), id="the default"),
        pytest.param(governed(single_ceiling_minor=SINGLE - 1), id="an own ceiling that lowers"),
        pytest.param(
            TenantPolicy(escalation_rules=(rule("a", intents=(REFUND,)), rule("b", phrases=("law",)))),
            id="rules that have nothing in common",
        ),
        pytest.param(TenantPolicy(disabled_triggers=(HumanTrigger.VIP,)), id="a trigger that can be switched off"),
    ],
)
def test_a_policy_that_does_what_it_says_is_saved_without_a_word(policy: TenantPolicy) -> None:
    """A warning that means nothing is not read the next time."""
    assert warnings_of(policy, Tier.STARTER) == ()


@pytest.mark.req("ES-03")
def test_fault_038_a_difference_names_the_setting_and_both_values() -> None:
    """Down to the single value of a nested setting; a list changes as a whole."""
    before = TenantPolicy(greeting="Hi", origins=("https://a.example",), sla_minutes={Severity.HIGH: 30})
    after = TenantPolicy(
        version=9,
        greeting="Hello",
        origins=("https://a.example", "https://b.example"),
        governance=Governance(phase=Phase.FEDERATION),
        routing=RoutingRules(retrieval_floor=0.7),
        sla_minutes={Severity.CRITICAL: 5},
    )

    assert changes_between(before, after) == (
        SettingChange("greeting", "Hi", "Hello"),
        SettingChange("origins", ["https://a.example"], ["https://a.example", "https://b.example"]),
        SettingChange("routing.retrieval_floor", 0.5, 0.7),
        SettingChange("governance.phase", "foundation", "federation"),
        SettingChange("sla_minutes.high", 30, None),
        SettingChange("sla_minutes.critical", None, 5),
    )
    assert changes_between(after, after.model_copy(update={"version": 10})) == ()


_POLICIES = st.builds(
    TenantPolicy,
    greeting=st.text(max_size=5),
    languages=st.lists(st.sampled_from(["en", "de"]), max_size=2).map(tuple),
    governance=st.builds(
        Governance,
        phase=st.sampled_from(Phase),
        single_ceiling_minor=st.none() | st.integers(0, 9),
        always_approve=st.lists(st.sampled_from(sorted(RULES)), max_size=2).map(tuple),
    ),
    is_scrubbing=st.booleans(),
)


@pytest.mark.req("ES-03")
@given(before=_POLICIES, after=_POLICIES)
def test_there_is_a_difference_exactly_where_the_documents_differ(before: TenantPolicy, after: TenantPolicy) -> None:
    """Nothing that changed is missing from the log, nothing that did not is in it."""
    diff = changes_between(before, after)

    assert {change.setting.partition(".")[0] for change in diff} == set(changed_settings(before, after))
    assert all(change.before != change.after for change in diff)
    assert (diff == ()) is (before == after)
