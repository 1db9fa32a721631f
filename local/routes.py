"""Route templates of HTTP triggers, with ASP.NET Core's meaning.

Literals, `{x}`, `{x?}`, `{x=default}`, `{*rest}` and constraints; literal before constrained parameter before parameter
before catch-all. Pure. Source: functions.md §6.4.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_PARAMETER: Final = re.compile(
    r"\{(?P<star>\*{0,2})(?P<name>\w+)(?P<constraints>(?::[a-z]+(?:\((?:[^()]|\([^()]*\))*\))?)*)"
    r"(?:=(?P<default>[^}?]*))?(?P<optional>\?)?\}",
    re.I,
)
_CONSTRAINT: Final = re.compile(r":([a-z]+)(?:\(((?:[^()]|\([^()]*\))*)\))?", re.I)


class BadTemplate(ValueError):
    """A route template this host cannot read."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """One part of a template: a literal, or a named parameter."""

    literal: str | None
    name: str = ""
    checks: tuple[Callable[[str], bool], ...] = ()
    default: str | None = None
    is_optional: bool = False
    is_catch_all: bool = False

    @property
    def rank(self) -> int:
        if self.literal is not None:
            return 0
        return 3 if self.is_catch_all else 1 if self.checks else 2


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed route template; templates sort by precedence through `ranks`."""

    segments: tuple[_Segment, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the precedence of each segment, most specific first."""
        return tuple(segment.rank for segment in self.segments)

    def match(self, path: Sequence[str]) -> Mapping[str, str] | None:
        """Return the parameters of a decoded path, or None when the template does not match it."""
        values: dict[str, str] = {}
        for index, segment in enumerate(self.segments):
            if segment.is_catch_all:
                rest = "/".join(path[index:])
                return {**values, segment.name: rest} if rest else values
            if index >= len(path):
                if segment.literal is not None or not (segment.is_optional or segment.default is not None):
                    return None
                if segment.default is not None:
                    values[segment.name] = segment.default
            elif segment.literal is not None:
                if segment.literal.lower() != path[index].lower():
                    return None
            elif not path[index] or not all(check(path[index]) for check in segment.checks):
                return None
            else:
                values[segment.name] = path[index]
        return values if len(path) <= len(self.segments) else None


def parse_template(text: str) -> Template:
    """Parse a route template without leading slash. Raises: BadTemplate."""
    return Template(tuple(_segment(part) for part in text.strip("/").split("/") if part))


def _segment(text: str) -> _Segment:
    if "{" not in text:
        return _Segment(text)
    found = _PARAMETER.fullmatch(text)
    if found is None:
        raise BadTemplate(f"route segment {text!r}: only whole-segment parameters are supported")
    checks = tuple(_check(name, argument) for name, argument in _CONSTRAINT.findall(found["constraints"]))
    return _Segment(None, found["name"], checks, found["default"], found["optional"] is not None, bool(found["star"]))


def _check(name: str, argument: str) -> Callable[[str], bool]:
    numbers = [int(part) for part in argument.split(",")] if re.fullmatch(r"-?\d+(,-?\d+)?", argument) else []
    simple: dict[str, Callable[[str], bool]] = {
        "int": lambda value: _is_integer(value, 31),
        "long": lambda value: _is_integer(value, 63),
        "bool": lambda value: value.lower() in {"true", "false"},
        "alpha": lambda value: re.fullmatch(r"[A-Za-z]*", value) is not None,
        "guid": lambda value: _parses(uuid.UUID, value),
        "decimal": lambda value: _parses(float, value),
        "double": lambda value: _parses(float, value),
        "float": lambda value: _parses(float, value),
        "datetime": lambda value: _parses(datetime.fromisoformat, value),
        "required": bool,
    }
    bounded: dict[str, Callable[[str], bool]] = {
        "min": lambda value: _is_integer(value, 63) and int(value) >= numbers[0],
        "max": lambda value: _is_integer(value, 63) and int(value) <= numbers[0],
        "range": lambda value: _is_integer(value, 63) and numbers[0] <= int(value) <= numbers[1],
        "length": lambda value: numbers[0] <= len(value) <= numbers[-1],
        "minlength": lambda value: len(value) >= numbers[0],
        "maxlength": lambda value: len(value) <= numbers[0],
    }
    kind = name.lower()
    if kind in simple:
        return simple[kind]
    if kind in bounded and len(numbers) in ({2} if kind == "range" else {1, 2} if kind == "length" else {1}):
        return bounded[kind]
    if kind == "regex" and argument:
        pattern = re.compile(argument.replace("{{", "{").replace("}}", "}"), re.I)
        return lambda value: pattern.search(value) is not None
    raise BadTemplate(f"route constraint {name}({argument}) is not known")


def _is_integer(value: str, bits: int) -> bool:
    return re.fullmatch(r"[-+]?[0-9]+", value) is not None and -(2**bits) <= int(value) < 2**bits


def _parses(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True
