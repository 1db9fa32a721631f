"""What is read of an account's actions before money moves: sums, counts and what the shop has paid before.

Sums come from every action whose amount was or may still be paid. Source: AX-02 (rolling sum), GO-01 (anomaly monitor).
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.action_rows import ActionRows, from_row
from shared.adapters.records.codec import to_moment
from shared.domain.actions import COUNTED, RULES, Action, ActionState
from shared.domain.ids import TenantId
from shared.domain.money import Money
from shared.ports.documents import CustomerScope, Query, TenantScope, Where

MAX_PAST: Final = 500
"""Newest payments of a shop the anomaly monitor looks at. Value ours: a median of more moves little."""
PAST_CACHE_S: Final = 30.0
"""Seconds a process trusts what it read of a shop's past. Value ours."""
PAST_CACHED_TENANTS: Final = 1_000
"""Shops whose past one process remembers. Source: design load of 680 tenants at once (SC-01), rounded up."""

_BILLING: Final = tuple(type_.value for type_, rule in RULES.items() if rule.is_billing)
_COUNTED: Final = tuple(sorted(state.value for state in COUNTED))
_UNDER_WAY: Final = (ActionState.EXECUTING.value, ActionState.APPROVED.value)


@dataclass(frozen=True, slots=True)
class _Payment:
    """One payment of a shop."""

    action_id: str
    at: datetime
    amount: Money


@dataclass(frozen=True, slots=True)
class _Past:
    """What a shop had paid when it was read, newest first, and what this process has seen paid since."""

    read_at: datetime
    since: datetime
    paid: tuple[_Payment, ...]


class ActionReading(ActionRows):
    """Implements ActionReader."""

    _past: OrderedDict[TenantId, _Past]

    async def under_way(self, scope: CustomerScope) -> tuple[Action, ...]:
        """Return the account's actions that were started and whose end is not known, oldest first.

        An action whose start was undone is among them: its call may have arrived after the shop was read.
        """
        found = await self._all_actions(scope, Where("state", "in", list(_UNDER_WAY)), Where("starts", ">", 0))
        return tuple(sorted(found, key=lambda action: (action.started_at or action.requested_at, action.action_id)))

    async def spent_minor(self, scope: CustomerScope, currency: str, *, since: datetime, without: str) -> int:
        """Return the minor units of that currency the account's counted actions hold, one action left out."""
        counted = await self._counted(scope, since, without)
        return sum(a.spoken_for_minor for a in counted if a.amount is not None and a.amount.currency == currency)

    async def payments(self, scope: CustomerScope, *, since: datetime, without: str) -> int:
        """Return how many of the account's billing actions count, one action left out."""
        return len(await self._counted(scope, since, without))

    async def past_amounts(self, scope: TenantScope, currency: str, *, since: datetime) -> tuple[int, ...]:
        """Return what the shop paid in that currency since the moment, newest first.

        Drawn from its MAX_PAST newest payments, at most PAST_CACHE_S old; this process's own are in at once.
        """
        past = self._past.get(scope.tenant_id)
        now = self._clock.now()
        if (
            past is None
            or past.since > since
            or not past.read_at <= now < past.read_at + timedelta(seconds=PAST_CACHE_S)
        ):
            past = _Past(now, since, await self._paid(scope, since))
            self._past[scope.tenant_id] = past
            self._past.move_to_end(scope.tenant_id)
            while len(self._past) > PAST_CACHED_TENANTS:
                self._past.popitem(last=False)
        return tuple(p.amount.amount_minor for p in past.paid if p.at >= since and p.amount.currency == currency)

    def _remember(self, action: Action) -> None:
        """Count a payment of this process among the shop's past at once, without reading it all again."""
        past = self._past.get(action.tenant_id)
        if past is None or action.state is not ActionState.EXECUTED or not RULES[action.type].is_billing:
            return
        if action.amount is not None and all(p.action_id != action.action_id for p in past.paid):
            own = _Payment(action.action_id, _ended_at(action), action.amount)
            self._past[action.tenant_id] = replace(past, paid=(own, *past.paid)[:MAX_PAST])

    async def _counted(self, scope: CustomerScope, since: datetime, without: str) -> tuple[Action, ...]:
        """Return billing actions done since the moment, and those that may still be done, whenever they began."""
        found = await self._all_actions(
            scope, Where("type", "in", list(_BILLING)), Where("state", "in", list(_COUNTED))
        )
        return tuple(a for a in found if a.action_id != without and (_may_still_pay(a) or _ended_at(a) >= since))

    async def _paid(self, scope: TenantScope, since: datetime) -> tuple[_Payment, ...]:
        page = await self._query(
            scope,
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "action"),
                    Where("state", "=", ActionState.EXECUTED.value),
                    Where("type", "in", list(_BILLING)),
                    Where("updated_at", ">=", to_moment(since)),
                ),
                order_by="updated_at",
                is_descending=True,
                limit=MAX_PAST,
                reason="the anomaly monitor compares with all of one shop's payments",
            ),
        )
        actions = [from_row(stored) for stored in page.items]
        return tuple(_Payment(a.action_id, _ended_at(a), a.amount) for a in actions if a.amount is not None)


def _may_still_pay(action: Action) -> bool:
    return action.state is not ActionState.EXECUTED


def _ended_at(action: Action) -> datetime:
    return action.effect.at if action.effect is not None else action.updated_at
