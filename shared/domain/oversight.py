"""How the machine does under a policy, from records of turns: drift, audits, first contacts. Pure.

Source: SC-02 (sampled audit, drift monitoring), SU-06 (shadow review), fault 110 (first-contact error rate by itself).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.domain.human_triggers import HumanTrigger
from shared.domain.ledger import TurnRecord

ERRORS: Final = frozenset(
    {
        HumanTrigger.GROUNDING_FAILURE.value,
        HumanTrigger.REVIEW_FAILURE.value,
        HumanTrigger.AGENT_FAILURE.value,
        HumanTrigger.LOOP.value,
        HumanTrigger.RULE_FAULT.value,
        HumanTrigger.POISON.value,
    }
)
"""Triggers by which the automation itself failed the customer; other reasons for a person are none. Value ours."""
AGREE: Final = "agree"
DIFFER: Final = "differ"


@dataclass(frozen=True, slots=True)
class Oversight:
    """What was counted."""

    turns: int = 0
    shadowed: int = 0
    """Turns a second validator looked at."""
    differed: int = 0
    audited: int = 0
    first_turns: int = 0
    first_errors: int = 0


def oversee(records: Iterable[TurnRecord]) -> Oversight:
    """Return the counts over these records."""
    known = tuple(records)
    first = [record for record in known if record.is_first]
    return Oversight(
        turns=len(known),
        shadowed=sum(record.shadow in (AGREE, DIFFER) for record in known),
        differed=sum(record.shadow == DIFFER for record in known),
        audited=sum(record.is_audited for record in known),
        first_turns=len(first),
        first_errors=sum(not ERRORS.isdisjoint(record.triggers) for record in first),
    )


def share(part: int, whole: int) -> float | None:
    """Return the part as a share, 0–1; None where there is nothing to take a share of."""
    return part / whole if whole else None
