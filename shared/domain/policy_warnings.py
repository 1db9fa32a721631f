"""What a policy says and does not achieve: rules in each other's way, settings without effect. Pure; refuses nothing.

A merchant is told when saving, not months later by a case that never came. Source: fault 110 ("conflicts listed"),
ES-03, SC-02.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from shared.domain.actions import RULES
from shared.domain.governance import CEILINGS, ceiling_of
from shared.domain.human_triggers import HumanTrigger
from shared.domain.language import to_plain
from shared.domain.phrases import LANGUAGES, Phrase, phrase_language
from shared.domain.phrases.action_texts import DONE_TEXTS, PLAIN_TEXTS, REQUEST_TEXTS
from shared.domain.phrases.texts import TEXTS
from shared.domain.phrases.waiting_texts import WAITING_TEXTS
from shared.domain.policy import EscalationRule, TenantPolicy
from shared.domain.policy_check import SettingNote
from shared.domain.tiers import Tier
from shared.domain.typed_values.folding import fold
from shared.domain.typed_values.numbers import base_language

SWITCHABLE: Final = frozenset(
    {
        HumanTrigger.VIP,
        HumanTrigger.CHURN_RISK,
        HumanTrigger.LEGAL,
        HumanTrigger.DISTRESS,
        HumanTrigger.TENANT_RULE,
    }
)
"""Triggers that can be switched off: those the detector alone raises. Source: agents.escalation_detector."""


def warnings_of(policy: TenantPolicy, tier: Tier) -> tuple[SettingNote, ...]:
    """Return what of the policy has no effect or contradicts itself, in the order of the document."""
    return (
        *_about_words(policy),
        *_about_rules(policy),
        *_about_triggers(policy),
        *_about_governance(policy, tier),
        *_about_desk(policy),
    )


def _about_words(policy: TenantPolicy) -> Iterator[SettingNote]:
    foreign = sorted(language for language in policy.languages if base_language(language) not in LANGUAGES)
    if foreign:
        yield SettingNote("languages", f"fixed texts are English in {', '.join(foreign)}")
    for name in ("greeting", "sign_off"):
        said = to_plain(getattr(policy, name)).casefold()
        if any(to_plain(phrase).casefold() in said for phrase in policy.banned_phrases if phrase.strip()):
            yield SettingNote(name, "holds a banned phrase: no reply with it passes the review")

    banned = [(index, phrase) for index, phrase in enumerate(policy.banned_phrases) if phrase.strip()]
    for index, phrase in banned:
        spoken = sorted({lang for lang in map(phrase_language, policy.languages) if _is_ours(phrase, lang)})
        if spoken:
            why = f"stands in fixed texts about actions and handoffs ({', '.join(spoken)}): they are held back"
            yield SettingNote(f"banned_phrases.{index}", why)


def _is_ours(banned: str, language: str) -> bool:
    """Tell whether a text of ours about an action or a handoff holds the phrase, as whole words."""
    wanted = re.escape(" ".join(fold(banned).text.split()))
    return any(re.search(rf"(?<!\w){wanted}(?!\w)", fold(text).text) for text in _fixed_texts(language))


def _fixed_texts(language: str) -> Iterator[str]:
    yield TEXTS[Phrase.HANDOFF][language]
    for table in (DONE_TEXTS, PLAIN_TEXTS, REQUEST_TEXTS, WAITING_TEXTS):
        yield from (by_language[language] for by_language in table.values() if language in by_language)


def _about_rules(policy: TenantPolicy) -> Iterator[SettingNote]:
    rules = policy.escalation_rules
    if rules and HumanTrigger.TENANT_RULE in policy.disabled_triggers:
        yield SettingNote("escalation_rules", "have no effect: disabled_triggers holds tenant_rule")
    for index, rule in enumerate(rules):
        where = f"escalation_rules.{index}"
        for earlier, other in enumerate(rules[:index]):
            if rule.name.strip().casefold() == other.name.strip().casefold():
                yield SettingNote(where, f"has the name of rule {earlier}: the desk cannot tell which one fired")
            if _covers(rule, other) and _covers(other, rule):
                yield SettingNote(where, f"has the same conditions as rule {earlier}")
            elif _covers(other, rule):
                yield SettingNote(where, f"never decides: rule {earlier} holds whenever it does")
            elif _covers(rule, other):
                yield SettingNote(f"escalation_rules.{earlier}", f"never decides: rule {index} holds whenever it does")


def _about_triggers(policy: TenantPolicy) -> Iterator[SettingNote]:
    idle = sorted(trigger.value for trigger in set(policy.disabled_triggers) - SWITCHABLE)
    if idle:
        yield SettingNote("disabled_triggers", f"goes on all the same: {', '.join(idle)}")


def _about_governance(policy: TenantPolicy, tier: Tier) -> Iterator[SettingNote]:
    own, preset, kept = policy.governance, CEILINGS[policy.governance.phase, tier], ceiling_of(policy.governance, tier)
    for name, wanted, most in (
        ("single", own.single_ceiling_minor, preset.single_minor),
        ("rolling", own.rolling_ceiling_minor, preset.rolling_minor),
    ):
        if wanted is not None and wanted > most:
            because = f"phase {own.phase.value} allows {most} for tier {tier.value}"
            yield SettingNote(f"governance.{name}_ceiling_minor", f"has no effect: {because}")
    if kept.rolling_minor < kept.single_minor:
        yield SettingNote("governance.rolling_ceiling_minor", "is below the ceiling of one action, which it replaces")
    always = sorted(kind.value for kind in own.always_approve if RULES[kind].always_asks)
    if always:
        yield SettingNote("governance.always_approve", f"a person approves these anyway: {', '.join(always)}")


def _about_desk(policy: TenantPolicy) -> Iterator[SettingNote]:
    shifts = sorted(policy.desk_hours.shifts, key=lambda shift: (shift.weekday, shift.opens))
    if any(a.weekday == b.weekday and b.opens < a.closes for a, b in pairwise(shifts)):
        yield SettingNote("desk_hours.shifts", "overlap: time that is in two shifts counts once")


def _covers(wide: EscalationRule, narrow: EscalationRule) -> bool:
    """Tell whether the first holds whenever the second does: it asks for nothing the second does not ask for."""
    has_intents = not wide.intents or (bool(narrow.intents) and set(narrow.intents) <= set(wide.intents))
    has_phrases = not wide.phrases or (bool(narrow.phrases) and _words(narrow) <= _words(wide))
    has_value = wide.min_order_minor is None or (
        narrow.min_order_minor is not None and narrow.min_order_minor >= wide.min_order_minor
    )
    return has_intents and has_phrases and has_value


def _words(rule: EscalationRule) -> set[str]:
    return {to_plain(phrase).casefold() for phrase in rule.phrases}
