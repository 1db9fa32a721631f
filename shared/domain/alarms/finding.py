"""Which alarming phrases stand in a text. Owns the union of the languages; every text is read in all of them.

Reading all languages costs little and asks nobody which one a text is in: people mix them, and a short cry for help is
too short to tell. Source: GO-03, CL-03.
"""

from dataclasses import dataclass
from typing import Final

from shared.domain.alarms import english, french, german, neighbours, spanish, turkish
from shared.domain.alarms.kinds import TRIGGERS, AlarmKind
from shared.domain.alarms.patterns import PatternSet, parse, to_tokens
from shared.domain.human_triggers import HumanTrigger

_PHRASES: Final = {
    "en": english.PHRASES,
    "de": german.PHRASES,
    "fr": french.PHRASES,
    "es": spanish.PHRASES,
    "tr": turkish.PHRASES,
    "it": neighbours.ITALIAN,
    "pt": neighbours.PORTUGUESE,
    "nl": neighbours.DUTCH,
}
_LANGUAGES: Final = (english, german, french, spanish, turkish, neighbours)


@dataclass(frozen=True, slots=True, order=True)
class Alarm:
    """One kind of phrase found, in one language."""

    kind: AlarmKind
    language: str

    @property
    def trigger(self) -> HumanTrigger:
        """Return the reason for a person it stands for."""
        return TRIGGERS[self.kind]

    @property
    def name(self) -> str:
        """Return the rule's name, such as `legal_phrase:tr`; never a word of the customer's."""
        return f"{self.kind.value}_phrase:{self.language}"


_ALARMS: Final = PatternSet(
    (Alarm(kind, language), pattern)
    for language, kinds in _PHRASES.items()
    for kind, text in kinds.items()
    for pattern in parse(text)
)
_EVERYDAY: Final = PatternSet((None, pattern) for module in _LANGUAGES for pattern in parse(module.EVERYDAY))


def find_alarms(text: str) -> tuple[Alarm, ...]:
    """Return each kind and language found in the text once, sorted; nothing for uses that are everyday ones."""
    tokens = to_tokens(text)
    is_everyday = [False] * len(tokens)
    for _, start, end in _EVERYDAY.spans(tokens):
        is_everyday[start:end] = [True] * (end - start)
    found = {alarm for alarm, start, end in _ALARMS.spans(tokens) if not any(is_everyday[start:end])}
    return tuple(sorted(found))
