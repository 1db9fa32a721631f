"""Whether a policy can hold: each setting that cannot, by its name, and why. Pure; saves nothing.

Owns the rules that need more than one setting, or that no single field can say of itself; a policy is refused whole.
Source: ES-03, SC-02 ("validated on save with named errors"), faults 041, 073, 110.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from shared.domain.currencies import CURRENCIES
from shared.domain.errors import SchemaError
from shared.domain.language import to_plain
from shared.domain.policy import EscalationRule, TenantPolicy
from shared.domain.tenant import ALWAYS_ON
from shared.domain.wire_model import Wire

MAX_SETTING_CHARS: Final = 1_000
"""Longest text of a policy: a greeting stands in every reply. Unit: characters. Value ours."""
MAX_SETTING_ITEMS: Final = 200
"""Most items of a policy's list: each reply and each message is held against all of them. Value ours."""

MIN_PHRASE_CHARS: Final = 2
"""Shortest phrase of an escalation rule: a single letter stands in most messages. Unit: characters. Value ours."""
_HOST: Final = re.compile(r"[^\s./:@*]+(?:\.[^\s./:@*]+)+")
"""A host of two labels or more: one label alone would allow a whole top-level domain."""


@dataclass(frozen=True, slots=True)
class SettingNote:
    """Something to say about one setting: its dotted path, and what is the matter with it."""

    setting: str
    why: str


class PolicyRefused(SchemaError):
    """A policy that cannot hold; `faults` names every setting that is in the way."""

    def __init__(self, faults: tuple[SettingNote, ...]) -> None:
        super().__init__("; ".join(f"{fault.setting}: {fault.why}" for fault in faults))
        self.faults = faults


def check_policy(policy: TenantPolicy) -> None:
    """Refuse a policy that cannot hold. Raises: PolicyRefused."""
    faults = faults_of(policy)
    if faults:
        raise PolicyRefused(faults)


def faults_of(policy: TenantPolicy) -> tuple[SettingNote, ...]:
    """Return every setting that cannot hold, in the order of the document."""
    return tuple(_own_faults(policy)) + tuple(
        note for name in TenantPolicy.model_fields for note in _shape_faults(name, getattr(policy, name))
    )


def _own_faults(policy: TenantPolicy) -> Iterator[SettingNote]:
    forbidden = sorted(t.value for t in ALWAYS_ON & set(policy.disabled_triggers))
    if forbidden:
        yield SettingNote("disabled_triggers", f"may not hold {', '.join(forbidden)}")
    if policy.default_language not in policy.languages:
        yield SettingNote("default_language", "must be one of languages")
    if not policy.phone_regions:
        yield SettingNote("phone_regions", "must name a region: without one national telephone numbers stay unmasked")
    if policy.currency not in CURRENCIES:
        yield SettingNote("currency", "must be an ISO 4217 code such as EUR: ceilings are counted in it")
    for index, host in enumerate(policy.allowed_url_hosts):
        if host.strip() and not _HOST.fullmatch(host):
            yield SettingNote(f"allowed_url_hosts.{index}", "must be a host such as shop.example, and nothing but it")
    for index, rule in enumerate(policy.escalation_rules):
        if is_without_condition(rule):
            yield SettingNote(f"escalation_rules.{index}", "must name a condition: intents, phrases or min_order_minor")
        for place, phrase in enumerate(rule.phrases):
            if 0 < len(to_plain(phrase).strip()) < MIN_PHRASE_CHARS:
                where = f"escalation_rules.{index}.phrases.{place}"
                yield SettingNote(where, f"must have at least {MIN_PHRASE_CHARS} characters")


def is_without_condition(rule: EscalationRule) -> bool:
    """Tell whether the rule says nothing about when it applies: evaluating it is a fault, for every message."""
    return not rule.intents and not rule.phrases and rule.min_order_minor is None


def _shape_faults(path: str, value: object) -> Iterator[SettingNote]:
    """Yield texts and lists no shop needs, and empty items: an empty banned phrase stands in every reply."""
    if isinstance(value, str) and (len(value) > MAX_SETTING_CHARS or not _is_printable(value)):
        yield SettingNote(path, f"must have at most {MAX_SETTING_CHARS} characters, none of them a control character")
    elif isinstance(value, Wire):
        for name in type(value).model_fields:
            yield from _shape_faults(f"{path}.{name}", getattr(value, name))
    elif isinstance(value, tuple):
        if len(value) > MAX_SETTING_ITEMS:
            yield SettingNote(path, f"may hold at most {MAX_SETTING_ITEMS} items")
        for index, item in enumerate(value):
            if isinstance(item, str) and not item.strip():
                yield SettingNote(f"{path}.{index}", "may not be empty")
            yield from _shape_faults(f"{path}.{index}", item)


def _is_printable(text: str) -> bool:
    return not any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in text)
