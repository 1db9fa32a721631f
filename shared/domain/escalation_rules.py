"""When a tenant's own escalation rule applies: all its named conditions must hold.

Pure. A rule that cannot be evaluated raises; whoever evaluates it brings a person in (fault 073). Source: ES-03, GO-03.
"""

import re

from shared.domain.errors import SchemaError
from shared.domain.intents import CustomerIntent
from shared.domain.language import to_plain
from shared.domain.policy import EscalationRule


def is_rule_met(
    rule: EscalationRule, *, words: str, intent: CustomerIntent | None, open_order_total_minor: int | None
) -> bool:
    """Tell whether every condition the rule names holds; one whose fact is not known yet does not hold.

    A phrase matches whole words, whatever their case or width. Raises: SchemaError when the rule names no condition.
    """
    conditions: list[bool] = []
    if rule.intents:
        conditions.append(intent in rule.intents)
    if rule.phrases:
        conditions.append(_has_any(rule.phrases, words))
    if rule.min_order_minor is not None:
        conditions.append(open_order_total_minor is not None and open_order_total_minor >= rule.min_order_minor)
    if not conditions:
        raise SchemaError(f"escalation rule {rule.name!r} names no condition")
    return all(conditions)


def _has_any(phrases: tuple[str, ...], words: str) -> bool:
    plain = to_plain(words).casefold()
    return any(
        re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", plain) is not None
        for phrase in phrases
        if (needle := to_plain(phrase).casefold())
    )
