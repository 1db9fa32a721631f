# ruff: noqa: S608 - every piece put into a statement is a constant or a checked field name; values are always bound.
"""Port queries as SQL: scopes, conditions, order and continuation tokens. Text only, no connection.

A condition holds for values of its own JSON type only, as in Cosmos DB: a missing or null field meets `is_null` and
nothing else, a text is never below a number. The index is named outright (INDEXED BY): without statistics SQLite could
prefer one that walks every tenant. Values are always bound; field names have passed `document_rules`.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Final, TypeGuard

from pydantic import JsonValue

from shared.adapters.continuations import from_token, refused, to_token
from shared.adapters.embedded.sqlite_schema import HOT_FIELDS, OWN_FIELDS
from shared.ports.documents import Container, CustomerScope, PlatformScope, Query, Scope, TenantScope, Where

Value = str | int | float | None
"""What SQLite binds."""

IS_LIVE: Final = " and (expires_at is null or expires_at > ?)"
"""The condition that hides expired documents from every read and conditional write; its mark is now, in seconds."""
_TEXT: Final = "('text')"
_NUMBER: Final = "('integer', 'real')"
_FINGERPRINT_CHARS: Final = 16
_MAX_INT: Final = 2**63
"""SQLite integers are 64 bits wide."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL and the values of its marks."""

    text: str
    values: tuple[Value, ...] = ()

    def __add__(self, other: "Sql") -> "Sql":
        """Return the two pieces in order."""
        return Sql(self.text + other.text, self.values + other.values)


def scope_sql(scope: Scope) -> Sql:
    """Return the condition that keeps rows of other tenants and customers out, whatever the partition says."""
    match scope:
        case CustomerScope():
            return Sql(" and tenant_id = ? and customer_id = ?", (scope.tenant_id, scope.customer_id))
        case TenantScope():
            return Sql(" and tenant_id = ?", (scope.tenant_id,))
        case PlatformScope():
            return Sql("")


def where_sql(where: tuple[Where, ...]) -> Sql:
    """Return the conditions, each starting with `and`."""
    parts = [_condition(condition) for condition in where]
    return Sql("".join(f" and {p.text}" for p in parts), tuple(v for p in parts for v in p.values))


def select_sql(container: Container, scope: Scope, query: Query, now_s: float) -> Sql:
    """Return the statement of one page plus one row, selecting body, etag, vector, partition, id and order value."""
    order = None if query.order_by is None else _column(query.order_by)
    vector = "null" if query.fields else "vector"
    text = f"select body, etag, {vector}, partition, id, {order or 'null'} from documents indexed by "
    text += f"{_index(scope, query)} where container = ?"
    values: list[Value] = [container.value]
    for part in (_wanted(scope, query), _after(container, scope, query, order)):
        text += part.text
        values.extend(part.values)
    way = " desc" if query.is_descending else ""
    keys = [key for key in (order, None if query.partition is not None else "partition", "id") if key is not None]
    text += f"{IS_LIVE} order by {', '.join(key + way for key in keys)} limit ?"
    return Sql(text, (*values, now_s, query.limit + 1))


def count_sql(container: Container, scope: Scope, query: Query, now_s: float) -> Sql:
    """Return the statement that counts the query's rows, and stops at its limit."""
    wanted = _wanted(scope, query)
    text = f"select count(*) from (select 1 from documents indexed by {_index(scope, query)} where container = ?"
    return Sql(f"{text}{wanted.text}{IS_LIVE} limit ?)", (container.value, *wanted.values, now_s, query.limit))


def _wanted(scope: Scope, query: Query) -> Sql:
    """Return the conditions of partition, scope and query, each starting with `and`."""
    where = scope_sql(scope) + where_sql(query.where)
    return where if query.partition is None else Sql(" and partition = ?", (query.partition,)) + where


def place_token(container: Container, scope: Scope, query: Query, partition: str, id: str, value: Value) -> str:
    """Return the opaque token that continues this query after the row."""
    return to_token((_fingerprint(container, scope, query), partition, id, value))


def _place(container: Container, scope: Scope, query: Query, token: str) -> tuple[str, str, Value]:
    """Return partition, id and order value of the last row seen.

    The token chooses a position only: scope and conditions come from the query, so a forged one shows nothing more.
    Raises: SchemaError for anything that is not a token of this query.
    """
    match from_token(token):
        case [str(fingerprint), str(partition), str(id), value] if fingerprint == _fingerprint(
            container, scope, query
        ) and _is_bindable(value):
            return partition, id, value
    raise refused()


def _is_bindable(value: object) -> TypeGuard[Value]:
    match value:
        case bool():
            return False
        case int():
            return -_MAX_INT <= value < _MAX_INT
        case float():
            return math.isfinite(value)
    return value is None or isinstance(value, str)


def _fingerprint(container: Container, scope: Scope, query: Query) -> str:
    """Return what makes a continuation this query's: everything but the page size and the projection."""
    text = repr((container.value, scope, query.partition, query.where, query.order_by, query.is_descending))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_FINGERPRINT_CHARS]


def _after(container: Container, scope: Scope, query: Query, order: str | None) -> Sql:
    """Return the condition for rows behind the continuation, in the query's direction; nulls sort lowest."""
    if query.continuation is None:
        return Sql("")
    partition, id, value = _place(container, scope, query, query.continuation)
    sign = "<" if query.is_descending else ">"
    if query.partition is not None:
        tie = Sql(f"id {sign} ?", (id,))
    else:
        tie = Sql(f"(partition, id) {sign} (?, ?)", (partition, id))
    if order is None:
        return Sql(f" and {tie.text}", tie.values)
    if value is None:
        if query.is_descending:
            return Sql(f" and ({order} is null and {tie.text})", tie.values)
        return Sql(f" and ({order} is not null or {tie.text})", tie.values)
    nulls = f" or {order} is null" if query.is_descending else ""
    return Sql(f" and ({order} {sign} ?{nulls} or ({order} = ? and {tie.text}))", (value, value, *tie.values))


def _index(scope: Scope, query: Query) -> str:
    """Return the index that finds this query's rows, and where it can their order, without a walk past others."""
    pinned = {c.field for c in query.where if c.op == "=" and not isinstance(c.value, bool)}
    listed = pinned | {c.field for c in query.where if c.op == "in" and _holds_no_flag(c.value)}
    if query.partition is None:
        if "instance_id" in pinned:
            return "by_instance"
        if isinstance(scope, PlatformScope):
            return "by_sweep" if "kind" in listed else "by_state" if "status" in listed else "by_id"
        return "by_owner"
    if "id" in listed:
        return "by_id"
    if "status" in pinned and any(c.field == "queue_key" and c.op in (">", ">=", "<", "<=") for c in query.where):
        return "by_queue"
    if query.order_by == "seq" or any(c.field == "seq" and c.op != "is_null" for c in query.where):
        return "by_seq"
    return "by_kind" if "kind" in listed else "by_status" if "status" in listed else "by_id"


def _holds_no_flag(value: JsonValue) -> bool:
    return isinstance(value, list | tuple) and bool(value) and not any(isinstance(item, bool) for item in value)


def _column(field: str) -> str:
    return OWN_FIELDS.get(field) or HOT_FIELDS.get(field) or f"json_extract(body, '$.{field}')"


def _condition(condition: Where) -> Sql:
    field, value = condition.field, condition.value
    match condition.op:
        case "is_null":
            # A missing field has no json_type at all; a hot column is also NULL for values it does not hold.
            return Sql(f"coalesce(json_type(body, '$.{field}'), 'null') = 'null'")
        case "in":
            items = list(value) if isinstance(value, list | tuple) else []
            return _is_one_of(field, items)
        case op:
            if isinstance(value, bool):
                wanted = value if op == "=" else not value
                return Sql(f"json_type(body, '$.{field}') = '{'true' if wanted else 'false'}'")
            return _compare(field, op, value)


def _compare(field: str, op: str, value: JsonValue) -> Sql:
    bound = _bind(value)
    comparison = f"{_column(field)} {op} ?"
    kind = _TEXT if isinstance(bound, str) else _NUMBER
    if field not in OWN_FIELDS and field not in HOT_FIELDS:
        return Sql(f"({_is_kind(field, kind)}{comparison})", (bound,))
    if op == "=":
        return Sql(comparison, (bound,))
    return Sql(f"(typeof({_column(field)}) in {kind} and {comparison})", (bound,))


def _is_kind(field: str, kind: str) -> str:
    """Return the test, before a comparison, that the body's own value is a text or a number."""
    return f"json_type(body, '$.{field}') in {kind} and "


def _is_one_of(field: str, items: list[JsonValue]) -> Sql:
    flags = [flag for flag in (True, False) if any(item is flag for item in items)]
    parts = [_condition(Where(field, "=", flag)) for flag in flags]
    values = [item for item in items if not isinstance(item, bool)]
    if field in OWN_FIELDS or field in HOT_FIELDS:
        groups = [("", values)] if values else []
    else:
        texts: list[JsonValue] = [value for value in values if isinstance(value, str)]
        numbers: list[JsonValue] = [value for value in values if not isinstance(value, str)]
        groups = [(_is_kind(field, kind), same) for kind, same in ((_TEXT, texts), (_NUMBER, numbers)) if same]
    parts += [
        Sql(f"{test}{_column(field)} in (select value from json_each(?))", (json.dumps(v),)) for test, v in groups
    ]
    if not parts:
        # A mark, not a constant: beside a condition folded to false SQLite finds "no query solution" for INDEXED BY.
        return Sql("? = 1", (0,))
    return Sql("(" + " or ".join(p.text for p in parts) + ")", tuple(v for p in parts for v in p.values))


def _bind(value: JsonValue) -> Value:
    """Return a scalar SQLite can hold: whole numbers beyond 64 bits become doubles, as in the body's own JSON."""
    if isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value if isinstance(value, str | int | float) else None


def hot_value(value: JsonValue) -> Value:
    """Return what a hot column holds of a document's field: its text or number, else NULL."""
    return None if isinstance(value, bool) else _bind(value)
