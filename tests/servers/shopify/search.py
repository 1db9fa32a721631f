"""Shopify's search syntax, as far as orders are searched here: terms, AND, OR, brackets, quotes, comparators."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from tests.servers.shopify.state import Order

Test = Callable[[Order], bool]
_TOKEN = re.compile(r"\(|\)|AND\b|OR\b|[a-z_]+:(?:>=|<=|>|<)?(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s()]+)")


def parse_search(text: str, *, ignored: tuple[str, ...] = ()) -> Test:
    """Return the test a search stands for; `ignored` fields hold for everything.

    Raises: ValueError for what this does not understand.
    """
    tokens = _TOKEN.findall(text)
    if re.sub(r"\s", "", "".join(tokens)) != re.sub(r"\s", "", text):
        raise ValueError("unsupported search")
    test, rest = _any_of(["any:" if token.partition(":")[0] in ignored else token for token in tokens])
    if rest:
        raise ValueError("unbalanced search")
    return test


def _any_of(tokens: list[str]) -> tuple[Test, list[str]]:
    first, tokens = _all_of(tokens)
    found = [first]
    while tokens and tokens[0] == "OR":
        more, tokens = _all_of(tokens[1:])
        found.append(more)
    return lambda order: any(test(order) for test in found), tokens


def _all_of(tokens: list[str]) -> tuple[Test, list[str]]:
    found: list[Test] = []
    while tokens and tokens[0] not in ("OR", ")"):
        if tokens[0] == "AND":
            tokens = tokens[1:]
        elif tokens[0] == "(":
            inner, tokens = _any_of(tokens[1:])
            if not tokens or tokens[0] != ")":
                raise ValueError("unbalanced search")
            tokens = tokens[1:]
            found.append(inner)
        else:
            found.append(_term(tokens[0]))
            tokens = tokens[1:]
    return lambda order: all(test(order) for test in found), tokens


def _term(token: str) -> Test:
    field, _, rest = token.partition(":")
    match = re.match(r">=|<=|>|<", rest)
    op = match[0] if match else "="
    value = rest[len(op) if match else 0 :].strip("\"'").replace('\\"', '"')
    match field:
        case "any":
            return lambda order: True
        case "name":
            return lambda order: order.name.lstrip("#").casefold() == value.lstrip("#").casefold()
        case "customer_id":
            return lambda order: order.customer is not None and str(order.customer.number) == value
        case "created_at" | "updated_at" | "processed_at":
            moment = datetime.fromisoformat(value)
            attribute = "updated_at" if field == "updated_at" else "created_at"
            return lambda order: _compare(getattr(order, attribute), op, moment)
        case _:
            raise ValueError("unsupported search")


def _compare(left: datetime, op: str, right: datetime) -> bool:
    return {">=": left >= right, "<=": left <= right, ">": left > right, "<": left < right, "=": left == right}[op]
