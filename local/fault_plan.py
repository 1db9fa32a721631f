"""A seedable fault plan: what goes wrong at which call of which port, for tests and benchmarks.

Reads `--faults plan.json` and instruments the container's ports in place, from outside: every holder of a port meets
the faults, and production code knows nothing of them. Must never be active without a plan. Source: design §8, §10.

    {"seed": 7, "faults": [
      {"port": "composer",  "operation": "compose", "fault": "delay", "delay_ms": 1500},
      {"port": "documents", "operation": "*",       "fault": "error", "error": "unavailable", "rate": 0.05},
      {"port": "reviewer",  "operation": "review",  "fault": "garbage", "calls": [1, 3]}
    ]}
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError, model_validator

from shared.domain.errors import AgentTimeout, RateLimited, Unavailable, VersionConflict
from shared.domain.wire_model import Wire

RETRY_AFTER_S: Final = 1.0
"""Wait a planned rate limit asks for. Unit: seconds. Source: value ours."""
GARBAGE: Final = "\ufffd\x00{not json"
"""What a planned garbage answer is: nothing a port may return."""

_inside: ContextVar[frozenset[tuple[int, str]]] = ContextVar("fault_plan_inside", default=frozenset())
"""Plan and port of each planned call that is running: an adapter that calls itself is one call."""


class BadFaultPlan(ValueError):
    """The plan's file cannot be used; the message says where it is wrong."""


class Fault(StrEnum):
    """What may happen at a call."""

    DELAY = "delay"
    ERROR = "error"
    """Raised before the port is called."""
    ERROR_AFTER = "error_after"
    """Raised after the port has done its work: the caller cannot know."""
    GARBAGE = "garbage"
    CRASH = "crash"
    """The process is killed before the call."""
    CRASH_AFTER = "crash_after"


class PlannedError(StrEnum):
    """Which error a port raises."""

    UNAVAILABLE = "unavailable"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"


class FaultRule(Wire):
    """One line of a plan. Without `calls` or `rate` it strikes at every call."""

    port: str = Field(min_length=1)
    """Attribute of the container, such as `composer`."""
    operation: str = "*"
    """Method of the port; `*` is every public one."""
    fault: Fault
    calls: tuple[int, ...] = ()
    """Which calls of this rule, from 1."""
    rate: float | None = Field(default=None, ge=0, le=1)
    """Chance at each call, drawn from the plan's seed."""
    delay_ms: int = Field(default=0, ge=0)
    error: PlannedError = PlannedError.UNAVAILABLE

    @model_validator(mode="after")
    def _is_one_choice(self) -> FaultRule:
        if self.calls and self.rate is not None:
            raise ValueError("a rule has calls or a rate, not both")
        return self


class PlanFile(Wire):
    """A plan as written."""

    seed: int = 0
    faults: tuple[FaultRule, ...] = ()


class _ArmedRule:
    """A rule with its own count and its own dice."""

    def __init__(self, rule: FaultRule, seed: str) -> None:
        self.rule = rule
        self._dice = random.Random(seed)  # noqa: S311 — a plan has to be repeatable, not unguessable
        self._passed = 0

    def strikes(self) -> bool:
        """Count one call and tell whether the fault falls on it."""
        self._passed += 1
        if self.rule.calls:
            return self._passed in self.rule.calls
        return self.rule.rate is None or self._dice.random() < self.rule.rate


class FaultPlan:
    """A plan in force on a container; `detach` gives every port its own methods back."""

    def __init__(self, plan: PlanFile, *, crash: Callable[[], None] | None = None) -> None:
        self._rules = [_ArmedRule(rule, f"{plan.seed}:{n}") for n, rule in enumerate(plan.faults)]
        self._crash = crash or _kill_self
        self._attached: list[tuple[object, str, object]] = []
        self.struck: Counter[str] = Counter()
        """How often a fault has fallen, by `port.operation`; counted before a delay is served."""

    def attach(self, services: object) -> FaultPlan:
        """Instrument the named ports of the container.

        Raises: BadFaultPlan when the container has no such port or the port no such operation.
        """
        wanted: dict[tuple[str, str], list[_ArmedRule]] = {}
        for armed in self._rules:
            port = getattr(services, armed.rule.port, None)
            if port is None:
                raise BadFaultPlan(f"the container has no port {armed.rule.port!r}")
            for operation in _operations(port, armed.rule):
                wanted.setdefault((armed.rule.port, operation), []).append(armed)
        for (name, operation), rules in wanted.items():
            self._instrument(name, getattr(services, name), operation, rules)
        return self

    def detach(self) -> None:
        """Take every instrument off again."""
        for port, operation, before in reversed(self._attached):
            if before is None:
                delattr(port, operation)
            else:
                setattr(port, operation, before)
        self._attached.clear()

    def _instrument(self, name: str, port: object, operation: str, rules: Sequence[_ArmedRule]) -> None:
        call: Callable[..., object] = getattr(port, operation)
        before = vars(port).get(operation) if hasattr(port, "__dict__") else None
        is_async = inspect.iscoroutinefunction(call)
        wrapped = self._wrap_async(name, call, rules) if is_async else self._wrap(name, call, rules)
        try:
            setattr(port, operation, wrapped)
        except AttributeError:
            raise BadFaultPlan(f"port {name!r} cannot be instrumented: its class has slots") from None
        self._attached.append((port, operation, before))

    def _wrap_async(self, name: str, call: Callable[..., object], rules: Sequence[_ArmedRule]) -> Callable[..., object]:
        async def with_faults(*arguments: object, **named: object) -> object:
            inside, here = _inside.get(), (id(self), name)
            if here in inside:
                return await _awaited(call(*arguments, **named))
            token = _inside.set(inside | {here})
            try:
                struck = self._strike(name, call, rules)
                for rule in struck:
                    await asyncio.sleep(rule.delay_ms / 1000 if rule.delay_ms else 0)
                self._before(struck)
                result = await _awaited(call(*arguments, **named))
                return self._after(struck, result)
            finally:
                _inside.reset(token)

        with_faults.__name__ = call.__name__
        return with_faults

    def _wrap(self, name: str, call: Callable[..., object], rules: Sequence[_ArmedRule]) -> Callable[..., object]:
        def with_faults(*arguments: object, **named: object) -> object:
            struck = self._strike(name, call, rules)
            self._before(struck)
            return self._after(struck, call(*arguments, **named))

        with_faults.__name__ = call.__name__
        return with_faults

    def _strike(self, name: str, call: Callable[..., object], rules: Sequence[_ArmedRule]) -> list[FaultRule]:
        struck = [armed.rule for armed in rules if armed.strikes()]
        if struck:
            self.struck[f"{name}.{call.__name__}"] += 1
        return struck

    def _before(self, struck: Iterable[FaultRule]) -> None:
        for rule in struck:
            if rule.fault is Fault.CRASH:
                self._crash()
            elif rule.fault is Fault.ERROR:
                raise _error(rule)

    def _after(self, struck: Iterable[FaultRule], result: object) -> object:
        for rule in struck:
            if rule.fault is Fault.CRASH_AFTER:
                self._crash()
            elif rule.fault is Fault.ERROR_AFTER:
                raise _error(rule)
            elif rule.fault is Fault.GARBAGE:
                result = GARBAGE
        return result


def parse_plan(text: str) -> FaultPlan:
    """Return the plan a JSON text describes. Raises: BadFaultPlan."""
    try:
        return FaultPlan(PlanFile.model_validate(json.loads(text)))
    except (json.JSONDecodeError, ValidationError) as error:
        raise BadFaultPlan(f"the fault plan is malformed: {error}") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--faults` to `serve`."""
    parser.add_argument("--faults", type=Path, metavar="PLAN", help="a fault plan (JSON) for tests and benchmarks")


def before_ready(arguments: argparse.Namespace) -> Sequence[Callable[[object], object]]:
    """Return the hook that attaches the plan, if one was given; it runs when the app's container exists."""
    if arguments.faults is None:
        return []
    plan = parse_plan(arguments.faults.read_text(encoding="utf-8"))

    async def attach(host: object) -> Mapping[str, object]:
        from shared.container import services

        plan.attach(services())
        return {"faults": str(arguments.faults)}

    return [attach]


def _operations(port: object, rule: FaultRule) -> tuple[str, ...]:
    names = [name for name, _ in inspect.getmembers(type(port), inspect.isroutine) if not name.startswith("_")]
    if rule.operation == "*":
        return tuple(names)
    if rule.operation not in names:
        raise BadFaultPlan(f"port {rule.port!r} has no operation {rule.operation!r}; it has {', '.join(sorted(names))}")
    return (rule.operation,)


def _error(rule: FaultRule) -> Exception:
    text = f"planned fault at {rule.port}.{rule.operation}"
    match rule.error:
        case PlannedError.UNAVAILABLE:
            return Unavailable(text)
        case PlannedError.RATE_LIMITED:
            return RateLimited(text, retry_after_s=RETRY_AFTER_S)
        case PlannedError.TIMEOUT:
            return AgentTimeout(text)
        case PlannedError.CONFLICT:
            return VersionConflict(text)


async def _awaited(value: object) -> object:
    return await value if inspect.isawaitable(value) else value


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
