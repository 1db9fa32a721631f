"""Orchestration versions: which instances this host may run.

Null is oldest; dotted numbers compare as numbers, anything else as text without case.
Source: functions.md §10.9; host.json `defaultVersion`, `versionMatchStrategy`.
"""

from __future__ import annotations

from enum import StrEnum


class MatchStrategy(StrEnum):
    """Which instance versions a host accepts."""

    NONE = "None"
    STRICT = "Strict"
    CURRENT_OR_OLDER = "CurrentOrOlder"


class FailureStrategy(StrEnum):
    """What happens to an instance the host does not accept."""

    REJECT = "Reject"
    FAIL = "Fail"


def compare(left: str | None, right: str | None) -> int:
    """Return -1, 0 or 1 as left is older than, equal to or newer than right."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    numbers = _numbers(left), _numbers(right)
    if numbers[0] is not None and numbers[1] is not None:
        return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])
    texts = left.lower(), right.lower()
    return (texts[0] > texts[1]) - (texts[0] < texts[1])


def may_run(instance: str | None, host: str | None, strategy: MatchStrategy) -> bool:
    """Return whether a host of one version takes an instance of another."""
    match strategy:
        case MatchStrategy.NONE:
            return True
        case MatchStrategy.STRICT:
            return compare(instance, host) == 0
        case MatchStrategy.CURRENT_OR_OLDER:
            return compare(instance, host) <= 0


def _numbers(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    values = [int(part) for part in parts]
    while values and values[-1] == 0:
        values.pop()
    return tuple(values)
