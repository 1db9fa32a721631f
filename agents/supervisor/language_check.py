"""The language check: the reply speaks the customer's language, whatever its sources and instructions speak.

Source: CO-05, fault 075.
"""

from typing import Final

from shared.domain.deltas import TurnState
from shared.domain.drafts import Check, CheckVerdict, Draft
from shared.domain.language import detect_language
from shared.domain.phrases import FALLBACK, LANGUAGES, canned_texts
from shared.domain.policy import TenantPolicy
from shared.domain.typed_values.numbers import base_language

MIN_LETTERS: Final = 25
"""Letters under which a text's own language is not judged. Source: ours; detection is unsure of short texts."""
SURE: Final = 0.6
"""Detection confidence from which a mismatch blocks. Unit: 0–1. Source: ours, as CL-03's threshold."""


def expected_language(state: TurnState) -> str:
    """Return the BCP 47 tag the customer is to be answered in: as classified, else as declared."""
    return state.classification.language if state.classification else state.snapshot.metadata.language


def check_language(state: TurnState, draft: Draft, policy: TenantPolicy) -> CheckVerdict:
    """Return whether the draft says it is, and reads as, the language expected.

    Canned texts stand in English where they do not exist in the customer's language; a claim never may.
    """
    expected = base_language(expected_language(state)) or base_language(policy.default_language)
    canned = canned_texts(policy.shop_name) | {policy.greeting, policy.sign_off}
    names = [a.title.value for a in (state.knowledge.articles if state.knowledge else ()) if a.ref in draft.refs]
    own = [_without(s.text.value, names) for s in draft.sentences if s.text.value not in canned]
    declared = base_language(draft.language)
    if declared != expected and (own or declared != FALLBACK or expected in LANGUAGES):
        return _failed(f"expected {expected!r}, draft says {declared!r}")
    for text in (" ".join(own), *own):
        detected, confidence = detect_language(text)
        if detected not in ("", expected) and confidence >= SURE and sum(c.isalpha() for c in text) >= MIN_LETTERS:
            return _failed(f"expected {expected!r}, reads as {detected!r}")
    return CheckVerdict(check=Check.LANGUAGE, is_passed=True)


def _without(text: str, names: list[str]) -> str:
    """Return the text without the titles of what it cites: a name is a name in every language ("Pour-Over Dripper")."""
    for name in names:
        text = text.replace(name, " ")
    return text


def _failed(reason: str) -> CheckVerdict:
    return CheckVerdict(check=Check.LANGUAGE, is_passed=False, reason=reason)
