"""The kinds of phrase that bring a person in, and the trigger each stands for. Source: GO-03, ES-01."""

from enum import StrEnum
from typing import Final

from shared.domain.human_triggers import HumanTrigger


class AlarmKind(StrEnum):
    """What a phrase is about."""

    SELF_HARM = "self_harm"
    THREAT = "threat"
    """Violence against people or places."""
    LEGAL = "legal"
    """Lawyers, courts, charges, and rights claimed by law."""
    REGULATOR = "regulator"
    """Authorities, ombudsmen and consumer bodies."""
    DATA_RIGHTS = "data_rights"
    """Data-protection law invoked by name."""
    CHARGEBACK = "chargeback"
    """An announced reversal through the bank."""
    DISTRESS = "distress"
    WISH = "wish"
    """A person is asked for."""


TRIGGERS: Final[dict[AlarmKind, HumanTrigger]] = {
    AlarmKind.SELF_HARM: HumanTrigger.SAFETY,
    AlarmKind.THREAT: HumanTrigger.SAFETY,
    AlarmKind.LEGAL: HumanTrigger.LEGAL,
    AlarmKind.REGULATOR: HumanTrigger.LEGAL,
    AlarmKind.DATA_RIGHTS: HumanTrigger.LEGAL,
    AlarmKind.CHARGEBACK: HumanTrigger.LEGAL,
    AlarmKind.DISTRESS: HumanTrigger.DISTRESS,
    AlarmKind.WISH: HumanTrigger.EXPLICIT_WISH,
}
"""Total over AlarmKind."""
