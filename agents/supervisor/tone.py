"""The tone check: the tenant's voice and manners, in countable rules.

Judges form only; what is offensive in content is the safety screen's. Source: SU-01 "on-brand tone", CO-02.
"""

import re
from typing import Final

from shared.domain.deltas import TurnState
from shared.domain.drafts import Check, CheckVerdict, Draft, SentenceKind
from shared.domain.policy import TenantPolicy
from shared.domain.typed_values.folding import fold
from shared.domain.typed_values.numbers import base_language

MAX_REPLY_CHARS: Final = 1500
"""Longest reply. Unit: characters. Source: ours; a chat message, not an article."""
MAX_EXCLAMATIONS: Final = 3
"""Exclamation marks in one reply. Source: ours."""
MIN_SHOUT_LETTERS: Final = 12
"""Letters in capital words of four and more, from which a sentence shouts. Source: ours; codes do not shout."""
SHOUT_SHARE: Final = 0.6
"""Share of a sentence's letters in such words. Unit: 0–1. Source: ours."""

_INSULT: Final = re.compile(
    r"\b(?:idiots?|stupid|moron(?:s|ic)?|shut up|dumb|imbecil\w*|estupid\w*|callese|idiota?s?|dummkopf|blod"
    r"|halt die klappe"
    r"|stupid[oaie]|stai zitt[oa]|cala a boca|burr[oa]|dom|hou je mond|tais-toi|taisez-vous"
    r"|aptal\w*|salak\w*|gerizekali\w*|ahmak\w*|kes sesini)\b"
)
"""Words no shop says to a customer. Source: ours; a floor under the safety screen, not a replacement."""


def check_tone(state: TurnState, draft: Draft, policy: TenantPolicy) -> CheckVerdict:
    """Return whether the draft keeps the voice rules; the reason names each broken one.

    Greeting and sign-off are due in the shop's own language only: the tenant wrote them in no other.
    """
    texts = [s.text.value for s in draft.sentences]
    whole = draft.text.value
    broken: list[str] = []
    if len(whole) > MAX_REPLY_CHARS:
        broken.append(f"longer than {MAX_REPLY_CHARS} characters")
    if any(_shouts(s.text.value) for s in draft.sentences if s.kind is not SentenceKind.NOTICE):
        broken.append("shouting")
    if whole.count("!") > MAX_EXCLAMATIONS:
        broken.append("too many exclamation marks")
    if _INSULT.search(fold(whole).text):
        broken.append("insulting")
    is_shops_language = base_language(draft.language) == base_language(policy.default_language)
    is_greeting_due = is_shops_language and state.snapshot.is_first_reply
    if policy.greeting and is_greeting_due and policy.greeting not in texts:
        broken.append("the tenant's greeting is missing")
    if policy.sign_off and is_shops_language and texts[-1] != policy.sign_off:
        broken.append("the tenant's sign-off is missing")
    return CheckVerdict(check=Check.TONE, is_passed=not broken, reason="; ".join(broken))


def _shouts(text: str) -> bool:
    letters = sum(c.isalpha() for c in text)
    loud = sum(len(w) for w in re.findall(r"[^\W\d_]{4,}", text) if w.isupper())
    return loud >= MIN_SHOUT_LETTERS and loud > SHOUT_SHARE * letters
