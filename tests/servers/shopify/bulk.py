"""Bulk queries: executed for real, flattened to lines in an order nobody may rely on."""

from __future__ import annotations

import json
import random
from typing import Any

from graphql import DocumentNode, FieldNode, OperationDefinitionNode, SelectionSetNode

from tests.servers.shopify.shop import Shop

MAX_CONNECTIONS = 5
MAX_NESTING = 2
MAX_RUNNING = 5


def why_refused(shop: Shop, document: DocumentNode) -> str | None:
    """Return why this query may not run in bulk, or None."""
    operation = next(d for d in document.definitions if isinstance(d, OperationDefinitionNode))
    count, depth = _connections(operation.selection_set)
    if count == 0:
        return "Bulk queries must contain at least one connection."
    if count > MAX_CONNECTIONS:
        return "Bulk queries cannot contain more than 5 connections."
    if depth > MAX_NESTING:
        return "Bulk queries cannot contain connections with a nesting depth greater than 2."
    running = sum(operation.status in ("CREATED", "RUNNING") for operation in shop.bulk_operations)
    return "Too many bulk operations are running for this app and shop." if running >= MAX_RUNNING else None


def _connections(selections: SelectionSetNode | None) -> tuple[int, int]:
    count = depth = 0
    for node in selections.selections if selections else ():
        if not isinstance(node, FieldNode):
            continue
        inner_count, inner_depth = _connections(node.selection_set)
        names = {
            s.name.value
            for s in (node.selection_set.selections if node.selection_set else ())
            if isinstance(s, FieldNode)
        }
        is_connection = bool(names & {"edges", "nodes"})
        count += inner_count + is_connection
        depth = max(depth, inner_depth + is_connection)
    return count, depth


def to_lines(shop: Shop, data: dict[str, Any]) -> tuple[list[str], int]:
    """Return the result's lines in the order the shop's knob says, and how many objects were roots."""
    roots: list[dict[str, Any]] = []
    children: list[dict[str, Any]] = []
    for connection in data.values():
        for node in _nodes(connection):
            _flatten(node, None, roots, children)
    rows = {"parents_first": roots + children, "children_first": children + roots}.get(shop.bulk_order)
    if rows is None:
        rows = roots + children
        random.Random(7).shuffle(rows)
    return [json.dumps(row, ensure_ascii=False) for row in rows], len(roots)


def _nodes(connection: Any) -> list[dict[str, Any]]:
    if not isinstance(connection, dict):
        return []
    return connection.get("nodes") or [edge["node"] for edge in connection.get("edges") or ()]


def _flatten(
    node: dict[str, Any], parent: str | None, roots: list[dict[str, Any]], children: list[dict[str, Any]]
) -> None:
    row: dict[str, Any] = {}
    for key, value in node.items():
        if isinstance(value, dict) and ("edges" in value or "nodes" in value):
            for inner in _nodes(value):
                _flatten(inner, node["id"], roots, children)
        else:
            row[key] = value
    if parent is None:
        roots.append(row)
    else:
        children.append({**row, "__parentId": parent})
