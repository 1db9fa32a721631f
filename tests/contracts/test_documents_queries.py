"""The contract of the Documents port: conditions, order, projection and continuation against a model in plain Python.

A condition holds for values of its own JSON type only; missing and null fields meet `is_null` and nothing else.
Source: shared/ports/documents.py (Where, Query, Page).
"""

import base64
import json
import operator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from shared.domain.errors import SchemaError
from shared.ports.documents import Container, Create, Query, Where
from tests.contracts.conftest import StoreUnderTest

pytestmark = pytest.mark.req("ME-07", "DC-01")

FIELDS = ("kind", "seq", "status", "plain", "other")
"""Two of them have indexes in one adapter or another, two never have; all must answer alike."""

_SCALARS = st.one_of(
    st.integers(-3, 3), st.sampled_from([0.5, -1.5, 2.0]), st.sampled_from(["", "a", "b", "B", "é", "1"]), st.booleans()
)
_VALUES = st.one_of(_SCALARS, st.none(), st.just([1]), st.just({"x": 1}))
_DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(FIELDS), _VALUES, max_size=5), max_size=25)
_CONDITIONS = st.one_of(
    st.builds(Where, st.sampled_from(FIELDS), st.sampled_from(["=", "!="]), _SCALARS),
    st.builds(
        Where,
        st.sampled_from(FIELDS),
        st.sampled_from(["<", "<=", ">", ">="]),
        _SCALARS.filter(lambda value: not isinstance(value, bool)),
    ),
    st.builds(Where, st.sampled_from(FIELDS), st.just("in"), st.lists(_SCALARS, max_size=4)),
    st.builds(Where, st.sampled_from(FIELDS), st.just("is_null")),
)
_COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_partitions: list[None] = []
"""One entry an example: each gets a partition of its own in the shared store."""


def _json_type(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _holds(condition: Where, document: dict[str, JsonValue]) -> bool:
    """The rule of the contract, in plain Python."""
    value = document.get(condition.field)
    if condition.op == "is_null":
        return value is None
    if condition.op == "in":
        assert isinstance(condition.value, list)
        return any(_holds(Where(condition.field, "=", item), document) for item in condition.value)
    if _json_type(value) != _json_type(condition.value):
        return False
    return bool(_COMPARE[condition.op](value, condition.value))


def _rank(value: JsonValue) -> tuple[int, float, bytes]:
    """Nulls, then numbers, then texts by code point."""
    if value is None:
        return (0, 0.0, b"")
    return (1, float(value), b"") if isinstance(value, int | float) else (2, 0.0, str(value).encode())


async def _fill(store: StoreUnderTest, documents: list[dict[str, JsonValue]]) -> tuple[str, list[dict[str, JsonValue]]]:
    _partitions.append(None)
    partition = f"{store.t1.tenant_id}|q{len(_partitions)}"
    rows: list[dict[str, JsonValue]] = [
        {**document, "id": f"d{n:02}", "tenant_id": store.t1.tenant_id} for n, document in enumerate(documents)
    ]
    await store.documents.batch(Container.TICKETS, store.t1, partition, [Create(row) for row in rows])
    return partition, rows


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents=_DOCUMENTS, where=st.lists(_CONDITIONS, max_size=3))
async def test_conditions_select_what_the_model_selects(
    store: StoreUnderTest, documents: list[dict[str, JsonValue]], where: list[Where]
) -> None:
    partition, rows = await _fill(store, documents)

    page = await store.documents.query(Container.TICKETS, store.t1, Query(partition, where=tuple(where)))

    expected = [row["id"] for row in rows if all(_holds(condition, row) for condition in where)]
    assert [item.body["id"] for item in page.items] == expected
    counts = [
        await store.documents.count(Container.TICKETS, store.t1, Query(partition, where=tuple(where), limit=limit))
        for limit in (1, 5, 100)
    ]
    assert counts == [min(len(expected), limit) for limit in (1, 5, 100)]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.one_of(st.none(), st.integers(-3, 3), st.sampled_from(["a", "b", "é", "Z"])), max_size=15),
    field=st.sampled_from(["seq", "plain"]),
    is_descending=st.booleans(),
    limit=st.integers(1, 6),
)
async def test_pages_follow_one_another_in_order_without_gap_or_repeat(
    store: StoreUnderTest, values: list[JsonValue], field: str, is_descending: bool, limit: int
) -> None:
    partition, rows = await _fill(store, [{field: value} for value in values])
    query = Query(partition, order_by=field, is_descending=is_descending, limit=limit)

    seen: list[dict[str, JsonValue]] = []
    continuation = None
    while True:
        page = await store.documents.query(
            Container.TICKETS,
            store.t1,
            Query(partition, order_by=field, is_descending=is_descending, limit=limit, continuation=continuation),
        )
        assert len(page.items) <= query.limit
        seen.extend(dict(item.body) for item in page.items)
        continuation = page.continuation
        if continuation is None:
            break

    expected = sorted(rows, key=lambda row: (_rank(row[field]), str(row["id"])), reverse=is_descending)
    assert [row["id"] for row in seen] == [row["id"] for row in expected]


async def test_pages_over_partitions_cover_all_of_the_scope_once(store: StoreUnderTest) -> None:
    for talk in ("a", "b", "c"):
        partition = f"{store.t1.tenant_id}|{talk}"
        rows = [Create({"id": f"d{n}", "tenant_id": store.t1.tenant_id, "kind": "x", "at": n % 2}) for n in range(4)]
        await store.documents.batch(Container.TICKETS, store.t1, partition, rows)

    for order_by in (None, "at"):
        seen: list[tuple[str, JsonValue]] = []
        continuation = None
        while True:
            query = Query(None, where=(Where("kind", "=", "x"),), order_by=order_by, limit=5, reason="test")
            page = await store.documents.query(
                Container.TICKETS,
                store.t1,
                Query(**{**_as_dict(query), "continuation": continuation}),
            )
            seen.extend((item.etag, item.body["at"]) for item in page.items)
            continuation = page.continuation
            if continuation is None:
                break
        assert len({etag for etag, _ in seen}) == len(seen) == 12
        assert order_by is None or [at for _, at in seen] == [0] * 6 + [1] * 6


async def test_a_page_survives_deletes_and_writes_before_the_next_is_asked(store: StoreUnderTest) -> None:
    partition, _ = await _fill(store, [{"seq": n} for n in range(6)])
    first = await store.documents.query(Container.TICKETS, store.t1, Query(partition, order_by="seq", limit=3))

    await store.documents.delete(Container.TICKETS, store.t1, partition, "d02")
    await store.documents.create(
        Container.TICKETS, store.t1, partition, {"id": "early", "tenant_id": store.t1.tenant_id, "seq": -1}
    )
    rest = await store.documents.query(
        Container.TICKETS, store.t1, Query(partition, order_by="seq", limit=9, continuation=first.continuation)
    )

    assert [item.body["id"] for item in rest.items] == ["d03", "d04", "d05"]


async def test_a_projection_holds_the_named_fields_and_the_id_only(store: StoreUnderTest) -> None:
    partition, _ = await _fill(store, [{"kind": "a", "plain": {"big": 1}, "other": None}])

    page = await store.documents.query(
        Container.TICKETS, store.t1, Query(partition, fields=("kind", "other", "absent"))
    )

    assert [item.body for item in page.items] == [{"id": "d00", "kind": "a", "other": None}]


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(Where("a.b", "=", 1), id="path"),
        pytest.param(Where("a') or 1=1 --", "=", 1), id="injection"),
        pytest.param(Where("", "=", 1), id="no field"),
        pytest.param(Where("kind", "=", None), id="equals null"),
        pytest.param(Where("kind", "=", [1]), id="equals list"),
        pytest.param(Where("kind", "<", True), id="below true"),
        pytest.param(Where("kind", "<", float("nan")), id="not a number"),
        pytest.param(Where("kind", "in", "abc"), id="in text"),
        pytest.param(Where("kind", "in", [None]), id="in null"),
        pytest.param(Where("kind", "is_null", 1), id="null with value"),
        pytest.param(Where("kind", "like", "x"), id="unknown operator"),  # type: ignore[arg-type]
    ],
)
async def test_a_condition_databases_would_answer_differently_is_refused(store: StoreUnderTest, where: Where) -> None:
    with pytest.raises(SchemaError):
        await store.documents.query(Container.TICKETS, store.t1, Query(f"{store.t1.tenant_id}|c", where=(where,)))


@pytest.mark.parametrize("changes", [{"limit": 0}, {"order_by": "a b"}, {"fields": ("a'",)}], ids=str)
async def test_a_malformed_query_is_refused(store: StoreUnderTest, changes: dict[str, object]) -> None:
    with pytest.raises(SchemaError):
        await store.documents.query(
            Container.TICKETS,
            store.t1,
            Query(**{**_as_dict(Query(f"{store.t1.tenant_id}|c")), **changes}),  # type: ignore[arg-type]
        )


async def test_hostile_continuations_are_refused_and_show_nothing(store: StoreUnderTest) -> None:
    partition, _ = await _fill(store, [{"seq": n} for n in range(4)])
    query = Query(partition, order_by="seq", limit=2)
    page = await store.documents.query(Container.TICKETS, store.t1, query)
    assert page.continuation is not None
    parts = json.loads(base64.urlsafe_b64decode(page.continuation + "=="))

    def token(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    hostile = [
        "", "x", "é", "A" * 10_000, "../../etc/passwd", page.continuation[:-3], page.continuation + "!",
        token([]), token({}), token(None), token(parts[:3]), token([*parts, 1]), token(["0" * 16, *parts[1:]]),
        token([*parts[:3], True]), token([*parts[:3], [1]]), token([*parts[:3], 2**70]),
        token([*parts[:3], float("nan")]),
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
    ]  # fmt: skip

    for text in hostile:
        with pytest.raises(SchemaError):
            await store.documents.query(
                Container.TICKETS, store.t1, Query(partition, order_by="seq", limit=2, continuation=text)
            )


async def test_a_continuation_of_another_scope_or_query_is_refused(store: StoreUnderTest) -> None:
    partition, _ = await _fill(store, [{"seq": n, "kind": "a"} for n in range(4)])
    page = await store.documents.query(Container.TICKETS, store.t1, Query(partition, order_by="seq", limit=2))
    token = page.continuation

    others = (
        (store.ana, Query(partition, order_by="seq", continuation=token)),
        (store.t1, Query(partition, order_by="kind", continuation=token)),
        (store.t1, Query(partition, order_by="seq", is_descending=True, continuation=token)),
        (store.t1, Query(partition, order_by="seq", where=(Where("kind", "=", "a"),), continuation=token)),
        (store.t1, Query(f"{partition}x", order_by="seq", continuation=token)),
        (store.t1, Query(None, order_by="seq", reason="test", continuation=token)),
    )
    for scope, query in others:
        with pytest.raises(SchemaError):
            await store.documents.query(Container.TICKETS, scope, query)


def _as_dict(query: Query) -> dict[str, object]:
    return {name: getattr(query, name) for name in Query.__dataclass_fields__}
