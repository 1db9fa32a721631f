"""Phrases that bring a person in, in the languages of our customers: pure, linear in the text, adding only.

Found beside whatever a model finds and never taken from it: a model that reads one language well must not decide alone
about the others. Source: GO-03, ES-01, design §5 ("local safety rules may add").
"""

from shared.domain.alarms.finding import Alarm, find_alarms
from shared.domain.alarms.kinds import TRIGGERS, AlarmKind

__all__ = ["TRIGGERS", "Alarm", "AlarmKind", "find_alarms"]
