"""GraphQL itself: parse, validate, price, throttle, execute. Nothing of it is faked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLSyntaxError,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    build_schema,
    execute,
    get_operation_ast,
    parse,
    validate,
    value_from_ast_untyped,
)

from tests.servers.shopify.bulk import to_lines, why_refused
from tests.servers.shopify.faults import Faults
from tests.servers.shopify.reads import resolve_read, serialize_moment
from tests.servers.shopify.shop import Shop
from tests.servers.shopify.state import BulkOperation
from tests.servers.shopify.writes import resolve_write

MAX_COST = 1000


@dataclass
class Context:
    """What a resolver may ask."""

    shop: Shop
    faults: Faults
    base_url: str
    is_bulk: bool = False


def _build() -> GraphQLSchema:
    schema = build_schema((Path(__file__).parent / "schema.graphql").read_text())
    schema.type_map["DateTime"].serialize = serialize_moment  # type: ignore[attr-defined]
    mutation = schema.mutation_type
    assert mutation is not None
    for name, kind in schema.type_map.items():
        if isinstance(kind, GraphQLObjectType) and not name.startswith("__"):
            for field_name, field in kind.fields.items():
                field.resolve = _write(field_name) if kind is mutation else _read(name, field_name)
    interface = schema.type_map["StoreCreditAccountTransaction"]
    interface.resolve_type = lambda *_: "StoreCreditAccountCreditTransaction"  # type: ignore[attr-defined]
    return schema


def _read(parent: str, name: str) -> Any:
    return lambda source, info, **args: resolve_read(parent, name, source, info, args)


def _write(name: str) -> Any:
    async def resolve(source: Any, info: GraphQLResolveInfo, **args: Any) -> Any:
        if name == "bulkOperationRunQuery":
            return await _run_bulk(info, args["query"])
        if name == "bulkOperationCancel":
            return _cancel_bulk(info.context.shop, args["id"])
        return await resolve_write(name, info, args)

    return resolve


SCHEMA = _build()


def root_fields(document: DocumentNode | None) -> list[str]:
    """Return the names of the operation's root fields."""
    operation = get_operation_ast(document) if document is not None else None
    selected = operation.selection_set.selections if operation is not None else ()
    return [node.name.value for node in selected if isinstance(node, FieldNode)]


def try_parse(text: str) -> tuple[DocumentNode | None, list[dict[str, Any]]]:
    """Return the document, or the errors that keep it from being run."""
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        return None, [{"message": error.message, "extensions": {"code": "syntaxError"}}]
    found = validate(SCHEMA, document)
    return (None if found else document), [
        {"message": e.message, "extensions": {"code": "undefinedField" if "Cannot query" in e.message else "invalid"}}
        for e in found
    ]


async def answer(
    context: Context, document: DocumentNode, variables: dict[str, Any], *, is_throttled: bool
) -> dict[str, Any]:
    """Return the answer to a valid document, cost included."""
    shop = context.shop
    shop.settle_jobs()
    operation = get_operation_ast(document)
    assert operation is not None
    requested = _cost(operation, variables)
    _restore(shop)
    if requested > MAX_COST:
        error = {"message": "Query cost exceeds the limit", "extensions": {"code": "MAX_COST_EXCEEDED"}}
        return {"errors": [error], "extensions": _extensions(shop, requested, None)}
    if is_throttled or requested > shop.points:
        if is_throttled:
            shop.points = min(shop.points, requested / 2)
        error = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
        return {"errors": [error], "extensions": _extensions(shop, requested, None)}
    shop.points -= requested
    result = execute(SCHEMA, document, context_value=context, variable_values=variables)
    done = result if not hasattr(result, "__await__") else await result
    actual = min(requested, _objects(done.data) + 10 * (operation.operation is OperationType.MUTATION))
    shop.points = min(shop.maximum_points, shop.points + requested - actual)
    body: dict[str, Any] = {"data": done.data, "extensions": _extensions(shop, requested, actual)}
    if done.errors:
        body["errors"] = [_shown(error) for error in done.errors]
    return body


def internal_error() -> dict[str, Any]:
    """Return the answer of a shop that failed inside."""
    return {"errors": [{"message": "Internal error.", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}]}


def _shown(error: GraphQLError) -> dict[str, Any]:
    if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
        raise error.original_error
    return {"message": error.message, "path": error.path, "extensions": error.extensions or {}}


async def _run_bulk(info: GraphQLResolveInfo, text: str) -> dict[str, Any]:
    shop: Shop = info.context.shop
    document, errors = try_parse(text)
    refusal = errors[0]["message"] if document is None else why_refused(shop, document)
    if document is None or refusal:
        return {"userErrors": [{"field": ["query"], "message": refusal}]}
    context = Context(shop, info.context.faults, info.context.base_url, is_bulk=True)
    result = execute(SCHEMA, document, context_value=context)
    done = result if not hasattr(result, "__await__") else await result
    operation = BulkOperation(shop.number(), query=text, created_at=shop.now())
    operation.lines, operation.root_count = to_lines(shop, done.data or {})
    shop.bulk_operations.append(operation)
    return {"bulkOperation": operation, "userErrors": []}


def _cancel_bulk(shop: Shop, gid: str) -> dict[str, Any]:
    found = shop.find(gid)
    if not isinstance(found, BulkOperation):
        return {"userErrors": [{"field": ["id"], "message": "Bulk operation does not exist"}]}
    if found.status in ("CREATED", "RUNNING"):
        found.status = "CANCELED"
    return {"bulkOperation": found, "userErrors": []}


def _restore(shop: Shop) -> None:
    now = shop.now()
    passed_s = (now - shop.points_at).total_seconds() if shop.points_at else math.inf
    gained = passed_s * shop.points_per_second if shop.points_per_second else 0.0
    shop.points = min(shop.maximum_points, shop.points + max(0.0, gained))
    shop.points_at = now


def _extensions(shop: Shop, requested: float, actual: float | None) -> dict[str, Any]:
    return {
        "cost": {
            "requestedQueryCost": requested,
            "actualQueryCost": actual,
            "throttleStatus": {
                "maximumAvailable": shop.maximum_points,
                "currentlyAvailable": math.floor(shop.points),
                "restoreRate": shop.points_per_second,
            },
        }
    }


def _cost(operation: OperationDefinitionNode, variables: dict[str, Any]) -> int:
    """Return a stand-in for the vendor's formula: objects 1, connections by the root of their size, mutations 10."""
    base = 10 if operation.operation is OperationType.MUTATION else 0
    return max(1, base + _cost_of(operation.selection_set, variables))


def _cost_of(selections: SelectionSetNode | None, variables: dict[str, Any]) -> int:
    total = 0
    for node in selections.selections if selections else ():
        if isinstance(node, InlineFragmentNode):
            total += _cost_of(node.selection_set, variables)
        if not isinstance(node, FieldNode) or node.selection_set is None:
            continue
        inner = _cost_of(node.selection_set, variables)
        if node.name.value in ("nodes", "edges", "node", "pageInfo"):
            total += inner
            continue
        first = next((a.value for a in node.arguments if a.name.value == "first"), None)
        size = value_from_ast_untyped(first, variables) if first is not None else None
        total += math.ceil(math.sqrt(size)) * (1 + inner) if isinstance(size, int) and size > 0 else 1 + inner
    return total


def _objects(data: Any) -> int:
    if isinstance(data, dict):
        return 1 + sum(_objects(value) for value in data.values())
    return sum(_objects(item) for item in data) if isinstance(data, list) else 0
