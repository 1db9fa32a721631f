"""What the sweeper finds among the actions of all tenants: events are hints, these rows are the truth.

Every page is bounded; what is left is found by the next sweep. Source: design §3 "Events are hints", §9, fault 082.
"""

from datetime import datetime
from typing import Final

from shared.adapters.records.action_rows import HELD, ActionRows, from_row
from shared.adapters.records.codec import to_moment
from shared.domain.actions import SETTLED, Action, ActionState
from shared.ports.documents import PlatformScope, Query, Where

_SETTLED: Final = sorted(state.value for state in SETTLED)


class Sweeping(ActionRows):
    """Look-ups over every account."""

    async def approved_idle(self, before: datetime, limit: int) -> tuple[Action, ...]:
        """Return approved and executing actions nothing has happened to since the moment: nobody runs them."""
        states = [ActionState.APPROVED.value, ActionState.EXECUTING.value]
        return await self._sweep("finds actions nobody runs", limit, "updated_at", before, states)

    async def pending_expired(self, now: datetime, limit: int) -> tuple[Action, ...]:
        """Return actions whose time for a person's decision is over."""
        return await self._sweep("expires actions", limit, "expires_at", now, [ActionState.PENDING.value])

    async def pending_without_case(self, before: datetime, limit: int) -> tuple[Action, ...]:
        """Return actions that have waited since before the moment without a case in which a person could decide."""
        without = Where("case_id", "is_null")
        return await self._sweep(
            "finds actions no person sees", limit, "updated_at", before, [ActionState.PENDING.value], without
        )

    async def untold(self, before: datetime, limit: int) -> tuple[Action, ...]:
        """Return actions settled before the moment whose end the customer and the desk do not know."""
        return await self._sweep("finds ends nobody was told", limit, "updated_at", before, _SETTLED)

    async def held(self, now: datetime, limit: int) -> tuple[Action, ...]:
        """Return actions whose end a conversation could not be told of, and is to be tried again by now."""
        return await self._sweep("tells what a person's conversation held up", limit, "held_until", now, [HELD])

    async def _sweep(
        self, reason: str, limit: int, field: str, before: datetime, states: list[str], *where: Where
    ) -> tuple[Action, ...]:
        page = await self._query(
            PlatformScope(f"sweeper {reason}"),
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "action"),
                    Where("status", "in", list(states)),
                    Where(field, "<", to_moment(before)),
                    *where,
                ),
                order_by=field,
                limit=limit,
                reason="sweep over all tenants",
            ),
        )
        return tuple(from_row(stored) for stored in page.items)
