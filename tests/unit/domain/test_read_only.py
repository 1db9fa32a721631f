"""Snapshots are read-only in type and in fact: nothing an agent is handed can be changed, however deep it lies."""

import copy
import importlib
import pickle
import pkgutil
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError

import shared.domain
from shared.domain.deltas import Context, Knowledge, Metadata, Snapshot, TurnState
from shared.domain.envelope import Envelope, Payload
from shared.domain.human_triggers import Severity
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.read_only import Frozen, FrozenMap, ReadOnlyMap
from shared.domain.sources import Profile
from shared.domain.text import MaskedText
from shared.domain.turns import StepTimes
from shared.domain.wire_model import Wire
from tests.unit.supervisor.turns import article

IMMUTABLE = (str, int, float, bool, bytes, type(None), datetime, AwareDatetime, date, time)
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def mutable_parts(kind: Any, path: str, seen: set[object], marks: tuple[Any, ...] = ()) -> Iterator[str]:
    """Yield where, under a type, something may be changed; every type not known to be immutable counts."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from mutable_parts(kind.__origin__, path, seen, kind.__metadata__)
    elif origin in (Union, types.UnionType):
        for option in get_args(kind):
            yield from mutable_parts(option, path, seen)
    elif origin is Literal or isinstance(kind, TypeVar):
        return
    elif origin is tuple:
        for item in get_args(kind):
            if item is not Ellipsis:
                yield from mutable_parts(item, path, seen)
    elif origin is Mapping and any(isinstance(mark, Frozen) for mark in marks):
        for item in get_args(kind):
            yield from mutable_parts(item, path, seen)
    elif hasattr(kind, "__supertype__"):
        yield from mutable_parts(kind.__supertype__, path, seen)
    elif isinstance(kind, type) and (issubclass(kind, Enum) or kind in IMMUTABLE):
        return
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from _of_model(kind, path, seen)
    elif isinstance(kind, type) and is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        hints = get_type_hints(kind)
        for field in fields(kind):
            yield from mutable_parts(hints[field.name], f"{path}.{field.name}", seen)
    else:
        yield f"{path}: {kind}"


def _of_model(kind: type[BaseModel], path: str, seen: set[object]) -> Iterator[str]:
    if kind in seen:
        return
    seen.add(kind)
    if not kind.model_config.get("frozen"):
        yield f"{path}: {kind.__name__} is not frozen"
    for name, field in kind.model_fields.items():
        yield from mutable_parts(field.annotation, f"{path}.{name}", seen, tuple(field.metadata))


def domain_models() -> list[type[Wire]]:
    """Return every model of the domain."""
    for info in pkgutil.walk_packages(shared.domain.__path__, "shared.domain."):
        importlib.import_module(info.name)
    found, left = [], [Wire]
    while left:
        below = left.pop().__subclasses__()
        found += [kind for kind in below if kind.__module__.startswith("shared.domain.")]
        left += below
    return sorted(set(found), key=lambda kind: kind.__qualname__)


def snapshot() -> Snapshot:
    """Return a snapshot with something in every mapping below it."""
    return Snapshot(
        conversation_id=ConversationId("c1"),
        tenant_id=TenantId("t1"),
        message=MaskedText("hello"),
        context=Context(
            customer_profile=Profile(customer_id=CustomerId("ana"), preferences={"tone": "brief"}),
            retrieved_knowledge=(article("We ship on Mondays.", price="4.00"),),
        ),
        metadata=Metadata(timestamp=AT, routing={"queue": "web"}),
        message_id=MessageId("m1"),
        instance_id=InstanceId("t-1"),
    )


@pytest.mark.req("PR-03")
@pytest.mark.parametrize("kind", [TurnState, Snapshot, Envelope, *get_args(Payload)], ids=lambda k: k.__name__)
def test_nothing_an_agent_is_handed_has_a_field_that_can_be_changed(kind: type[BaseModel]) -> None:
    """Every field, every element, every level. Source: PR-03."""
    assert list(mutable_parts(kind, kind.__name__, set())) == []


@pytest.mark.req("PR-03")
def test_no_model_of_the_domain_has_a_field_that_can_be_changed() -> None:
    """What is not in a snapshot today may be tomorrow."""
    models = domain_models()

    assert len(models) > 60
    assert [part for kind in models for part in mutable_parts(kind, kind.__name__, set())] == []


@pytest.mark.req("PR-03")
@pytest.mark.parametrize("bad", [dict[str, str], list[int], Mapping[str, str], set[int], Any, object])
def test_the_look_for_changeable_fields_finds_them(bad: Any) -> None:
    """A plain Mapping too: a dict is one."""

    class Loose(Wire):
        inner: tuple[bad, ...] = ()

    assert list(mutable_parts(Loose, "Loose", set())) != []


@pytest.mark.req("PR-03")
def test_changing_a_mapping_of_a_snapshot_raises() -> None:
    """In fact, not only in type: what type checkers cannot see is refused too."""
    state = TurnState(snapshot=snapshot(), knowledge=Knowledge(articles=(article("Text.", price="4.00"),)))
    profile = state.snapshot.context.customer_profile
    assert profile is not None
    assert state.knowledge is not None
    mappings: list[Any] = [
        state.snapshot.metadata.routing,
        profile.preferences,
        state.snapshot.context.retrieved_knowledge[0].attributes,
        state.knowledge.articles[0].attributes,
        StepTimes(took_ms={"classify": 1}).took_ms,
        TenantPolicy(sla_minutes={Severity.HIGH: 5}).sla_minutes,
    ]

    for mapping in mappings:
        key = next(iter(mapping))
        with pytest.raises(TypeError):
            mapping[key] = "changed"
        with pytest.raises(TypeError):
            del mapping[key]
        with pytest.raises(TypeError):
            mapping._entries[key] = "changed"
        with pytest.raises(AttributeError):
            mapping._entries = {}
        with pytest.raises(AttributeError):
            del mapping._entries
        with pytest.raises(AttributeError):
            mapping.update(changed="1")


@pytest.mark.req("PR-03")
def test_assigning_a_field_of_a_snapshot_raises() -> None:
    """The models are frozen."""
    found: Any = snapshot()

    with pytest.raises(ValidationError):
        found.message = MaskedText("other")
    with pytest.raises(ValidationError):
        found.metadata.routing = {}


@pytest.mark.req("PR-03")
def test_the_mapping_a_snapshot_was_made_from_is_not_a_way_in() -> None:
    """Nor is one that a copy was given."""
    given = {"queue": "web"}
    metadata = Metadata(timestamp=AT, routing=given)
    copied = metadata.model_copy(update={"routing": given})

    given["queue"] = "changed"

    assert metadata.routing == {"queue": "web"}
    assert isinstance(copied.routing, FrozenMap)
    assert copied.routing == {"queue": "web"}


@pytest.mark.req("PR-02", "PR-03")
@given(entries=st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=5))
def test_a_read_only_mapping_crosses_the_wire_as_a_json_object_and_comes_back_equal(entries: dict[str, str]) -> None:
    """Also through copying and pickling."""
    kind: TypeAdapter[Mapping[str, str]] = TypeAdapter(ReadOnlyMap[str, str])
    kept = kind.validate_python(entries)

    assert isinstance(kept, FrozenMap)
    assert kept == entries
    assert kind.dump_python(kept) == entries
    assert type(kind.dump_python(kept)) is dict
    assert kind.validate_json(kind.dump_json(kept)) == kept
    assert kind.validate_python(kept) == kept
    assert hash(kept) == hash(FrozenMap(entries))
    assert copy.deepcopy(kept) == pickle.loads(pickle.dumps(kept)) == kept


@pytest.mark.req("PR-02")
def test_a_read_only_mapping_validates_keys_and_values() -> None:
    """Enum keys are read as such; anything else is refused by name."""
    policy = TenantPolicy.model_validate({"sla_minutes": {"critical": 1}})

    assert policy.sla_of(Severity.CRITICAL) == 1
    assert policy.model_dump(mode="json")["sla_minutes"] == {"critical": 1}
    for wrong in ({"someday": 1}, {"critical": "soon"}, ["critical"], None):
        with pytest.raises(ValidationError):
            TenantPolicy.model_validate({"sla_minutes": wrong})


@pytest.mark.req("GW-07")
def test_the_document_of_a_read_only_mapping_is_that_of_an_object() -> None:
    """OpenAPI is built from these models."""
    for mode in ("validation", "serialization"):
        schema = TypeAdapter(ReadOnlyMap[str, int]).json_schema(mode=mode)  # type: ignore[arg-type]
        assert schema == {"type": "object", "additionalProperties": {"type": "integer"}}
