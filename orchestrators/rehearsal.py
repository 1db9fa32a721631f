"""What another policy would have decided about turns that are over: routing and governance over their stored facts.

Pure: reads no text, because none is kept; asks no model and writes nothing. Both policies are run over the same facts,
so that a difference is the policy's alone. Source: SC-02 ("dry_run re-runs the pure functions over the last N turns").
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from orchestrators.routing import route
from shared.domain.governance import decide
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ledger import TurnRecord
from shared.domain.policy import TenantPolicy
from shared.domain.policy_changes import changed_settings
from shared.domain.routing_facts import RoutingFacts
from shared.domain.tenant import ALWAYS_ON
from shared.domain.tiers import Tier

REHEARSED: Final = frozenset({"routing", "governance", "disabled_triggers", "currency"})
"""Settings whose effect stored facts can show; the others act on words, on the desk or on traffic."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One decision that would be another."""

    record: TurnRecord
    about: Literal["route", "action"]
    before: str
    after: str
    reason: str
    """Why, under the new policy."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What was run again, and what came out differently."""

    turns: int
    """Turns that hold what routing knew of them."""
    actions: int
    """Decisions about actions among them."""
    differences: tuple[Difference, ...]
    not_rehearsed: tuple[str, ...]
    """Settings that change and whose effect cannot be seen here."""


def rehearse(records: Iterable[TurnRecord], before: TenantPolicy, after: TenantPolicy, tier: Tier) -> Rehearsal:
    """Decide the turns under both policies and return where they differ, in the order of the records."""
    known = tuple(record for record in records if record.facts is not None)
    return Rehearsal(
        turns=len(known),
        actions=sum(len(record.action_facts) for record in known),
        differences=tuple(found for record in known for found in _differences(record, before, after, tier)),
        not_rehearsed=tuple(name for name in changed_settings(before, after) if name not in REHEARSED),
    )


def _differences(record: TurnRecord, before: TenantPolicy, after: TenantPolicy, tier: Tier) -> Iterator[Difference]:
    if record.facts is not None:
        (was, _), (would_be, reason) = (_routed(record, record.facts, policy) for policy in (before, after))
        if was != would_be:
            yield Difference(record, "route", was, would_be, reason)
    for facts in record.action_facts:
        old, new = (decide(facts, policy.governance, tier, policy.currency) for policy in (before, after))
        if old.verdict is not new.verdict:
            about = facts.type.value
            yield Difference(
                record, "action", f"{about}:{old.verdict.value}", f"{about}:{new.verdict.value}", new.reason
            )


def _routed(record: TurnRecord, facts: RoutingFacts, policy: TenantPolicy) -> tuple[str, str]:
    """Return where the turn goes under the policy, a person with the trigger that names the case; and why."""
    found = route(_under(facts, policy), policy.routing, has_widened=record.has_widened)
    kind = found.kind.value
    return f"{kind}:{found.triggers[0].value}" if found.triggers else kind, found.reason


def _under(facts: RoutingFacts, policy: TenantPolicy) -> RoutingFacts:
    """Return the facts without what the policy switches off; what an earlier one left out cannot be brought back."""
    off = frozenset(policy.disabled_triggers) - ALWAYS_ON
    kept = tuple(trigger for trigger in facts.triggers if trigger not in off)
    rules = () if HumanTrigger.TENANT_RULE in off else facts.waiting_rules
    return facts.model_copy(update={"triggers": kept, "waiting_rules": rules})
