"""Action rows: where an account's actions lie, what lies beside them, and how they are read and replaced.

Owns the shapes of the partition `tenant|account`; decides nothing. Source: design §6 row actions.
"""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from shared.adapters.records.codec import to_document
from shared.domain.actions import SETTLED, Action
from shared.domain.errors import NotFound, Unavailable, VersionConflict
from shared.domain.ids import CustomerId, TenantId
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Create,
    CustomerScope,
    Documents,
    Operation,
    Page,
    Query,
    Replace,
    Scope,
    Stored,
    Where,
    customer_partition,
)
from shared.wire import decode

KEEP_S: Final = 400 * 24 * 3600
"""Seconds a settled action, a consumed grant, a request and an idle lane are kept. Source: design §6 (400 d)."""
CAS_ATTEMPTS: Final = 12
"""Times a conditional write is tried against fresh state before the store counts as too busy. Value ours."""
PAGE: Final = 200
"""Rows read at a time. Value ours."""
OVER: Final = "over"
"""`status` of an action that is settled and told: no sweep looks at it again."""
HELD: Final = "held"
"""`status` of one that is settled and cannot be told yet: a person speaks with the customer."""


class GrantRow(Wire):
    """A consumed grant: its existence is the consumption."""

    id: str
    """`grant:{grant_id}`"""
    kind: str = "grant"
    tenant_id: TenantId
    customer_id: CustomerId
    action_id: str


class RequestRow(Wire):
    """Which action one request means, for ever the same."""

    id: str
    """`request:{digest of conversation, message and place in the turn}`"""
    kind: str = "request"
    tenant_id: TenantId
    customer_id: CustomerId
    action_id: str


class SeriesRow(Wire):
    """The newest action of all requests for the same lines.

    It never expires: an ordinal used twice would be an idempotency key the shop still knows.
    """

    id: str
    """`series:{series_id}`"""
    kind: str = "series"
    tenant_id: TenantId
    customer_id: CustomerId
    ordinal: int
    action_id: str


def to_row(action: Action) -> dict[str, JsonValue]:
    """Return the action as a document; its `status` is the state under the name the stores index, or OVER, or HELD."""
    status = action.state.value
    if action.state in SETTLED and action.is_told:
        status = OVER
    elif action.state in SETTLED and action.held_until is not None:
        status = HELD
    return {**to_document(action), "status": status}


def from_row(stored: Stored) -> Action:
    """Return the action a document holds. Raises: SchemaError."""
    return decode(Action, {name: value for name, value in stored.body.items() if name != "status"})


def replace_action(stored: Stored, action: Action) -> Replace:
    """Return the conditional write that puts the action in place of the version read."""
    return Replace(to_row(action), stored.etag, KEEP_S if action.state in SETTLED else None)


class ActionRows:
    """Actions of every account, one partition an account."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def get(self, scope: CustomerScope, action_id: str) -> Action | None:
        """Return the action, or None."""
        stored = await self._read(scope, f"action:{action_id}")
        return from_row(stored) if stored else None

    async def _change(self, scope: CustomerScope, action_id: str, change: Callable[[Action], Action | None]) -> Action:
        """Replace the action by what `change` makes of it as it is now; None leaves it. Return it as it then stands.

        Raises: NotFound; whatever `change` raises; Unavailable after CAS_ATTEMPTS lost races.
        """
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope, f"action:{action_id}")
            if stored is None:
                raise NotFound(f"action {action_id!r} does not exist")
            current = from_row(stored)
            changed = change(current)
            if changed is None:
                return current
            try:
                await self._batch(scope, replace_action(stored, changed))
            except VersionConflict:
                continue
            return changed
        raise Unavailable(f"action {action_id!r} is changing too fast")

    async def _read(self, scope: CustomerScope, id: str) -> Stored | None:
        return await self._documents.read(Container.ACTIONS, scope, customer_partition(scope), id)

    async def _batch(self, scope: CustomerScope, *operations: Operation) -> None:
        await self._documents.batch(Container.ACTIONS, scope, customer_partition(scope), operations)

    async def _query(self, scope: Scope, query: Query) -> Page:
        return await self._documents.query(Container.ACTIONS, scope, query)

    async def _all_actions(self, scope: CustomerScope, *where: Where) -> tuple[Action, ...]:
        """Return every action of the account that meets the conditions: sums must not miss one."""
        found: list[Action] = []
        token: str | None = None
        while True:
            query = Query(
                customer_partition(scope), where=(Where("kind", "=", "action"), *where), limit=PAGE, continuation=token
            )
            page = await self._query(scope, query)
            found.extend(from_row(stored) for stored in page.items)
            token = page.continuation
            if token is None:
                return tuple(found)


def create(row: GrantRow | RequestRow) -> Create:
    """Return the write of a row that is written once."""
    return Create(to_document(row), KEEP_S)
