"""A lint for orchestrator code: what replay cannot bear, found by reading the syntax tree.

    python -m tests.architecture.flow_lint orchestrators/flows

Knows the Durable SDK's context and our typed one (`orchestrators/context.py`). Reads, never imports, what it checks.
Source: functions.md section 8.4; faults 077, 079.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FORBIDDEN_MODULES: Final = frozenset(
    [
        "agents",
        "aiohttp",
        "asyncio",
        "concurrent",
        "glob",
        "http",
        "httpx",
        "io",
        "logging",
        "multiprocessing",
        "openai",
        "os",
        "pathlib",
        "random",
        "requests",
        "secrets",
        "shutil",
        "socket",
        "sqlite3",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
        "orchestrators.activities",
        "orchestrators.triggers",
        "shared.adapters",
        "shared.container",
        "shared.settings",
    ]
)
FORBIDDEN_CALLS: Final = frozenset(
    [
        "open",
        "print",
        "input",
        "eval",
        "exec",
        "compile",
        "id",
        "hash",
        "globals",
        "locals",
        "vars",
        "setattr",
        "delattr",
        "__import__",
    ]
)
CLOCKS: Final = frozenset({"now", "utcnow", "today"})
REFUSED: Final = {
    "call_activity_with_retry": "retry inside the activity",
    "call_sub_orchestrator_with_retry": "retry inside the activity",
    "call_http": "use an activity",
    "call_entity": "state is a document, not an entity",
    "signal_entity": "state is a document, not an entity",
    "lock": "state is a document, not an entity",
}
CALLS_BY_NAME: Final = frozenset({"call_activity", "call_sub_orchestrator", "wait_for_external_event"})
TYPED_CALLS: Final = frozenset({"call", "child", "event"})
"""Methods of our context, whose parameter is an enum: mypy refuses a plain string, this lint a literal."""
ALL: Final = frozenset({"task_all", "all"})
ANY: Final = frozenset({"task_any", "first"})
EVENTS: Final = frozenset({"wait_for_external_event", "event"})
TIMERS: Final = frozenset({"create_timer", "timer"})
MUTATORS: Final = frozenset(
    [
        "append",
        "add",
        "update",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "discard",
        "setdefault",
        "sort",
        "reverse",
    ]
)
NAMES: Final = frozenset({"ActivityName", "FlowName", "EventName"})


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One breach: where, which rule, and what to do instead."""

    filename: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}: {self.rule}: {self.message}"


def lint_source(source: str, filename: str) -> list[Finding]:
    """Return every breach in a module's source, by line."""
    tree = ast.parse(source, filename)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found: list[Finding] = []
    for node in ast.walk(tree):
        for check in CHECKS:
            for rule, message in check(node, parents):
                found.append(Finding(filename, getattr(node, "lineno", 1), rule, message))
    return sorted(set(found))


def lint_paths(paths: Iterable[Path]) -> list[Finding]:
    """Return every breach in the Python files of directories or files."""
    found: list[Finding] = []
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found += lint_source(file.read_text("utf-8"), str(file))
    return found


Parents = dict[ast.AST, ast.AST]
Breaches = Iterator[tuple[str, str]]


def _no_async(node: ast.AST, _: Parents) -> Breaches:
    if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
        yield "async", "an orchestrator is a plain generator"


def _no_forbidden_import(node: ast.AST, _: Parents) -> Breaches:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    for name in names:
        parts = name.split(".")
        if any(".".join(parts[:length]) in FORBIDDEN_MODULES for length in range(1, len(parts) + 1)):
            yield "import", f"{name} reads the world: do it in an activity"
            return


def _no_world(node: ast.AST, _: Parents) -> Breaches:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
            yield "world", f"{name}() is not the same on every replay, or leaves the replay"
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in CLOCKS and _last(owner) in {
            "datetime",
            "date",
            "dt",
        }:
            yield "clock", f"{name}() reads the clock: use the context's time"
        case ast.Attribute(attr="environ" | "getenv"):
            yield "world", "the environment may differ on replay: pass it in the input"
        case ast.Call(func=ast.Name(id="uuid1" | "uuid4")):
            yield "world", "ids come from the context or an activity"


def _no_global_state(node: ast.AST, parents: Parents) -> Breaches:
    match node:
        case ast.Global() | ast.Nonlocal():
            yield "global", "state outside the flow does not survive a replay"
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            is_mutable = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
            if isinstance(parents.get(node), ast.Module) and is_mutable and not name.isupper():
                yield "global", f"module-level {name} is mutable: make it an upper-case constant"
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name.isupper():
            yield "global", f"{name} is a constant and must not be written"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name.isupper() and attr in MUTATORS:
            yield "global", f"{name} is a constant and must not be written"


def _no_refused_call(node: ast.AST, _: Parents) -> Breaches:
    if isinstance(node, ast.Call) and (name := _method(node)) in REFUSED and _is_context(node):
        yield "refused", f"{name} is not used here: {REFUSED[name]}"


def _no_set_order(node: ast.AST, _: Parents) -> Breaches:
    iterated: ast.expr | None = None
    match node:
        case ast.For(iter=source) | ast.comprehension(iter=source):
            iterated = source
        case ast.Call(func=ast.Name(id="list" | "tuple" | "enumerate" | "iter" | "next" | "zip"), args=[source, *_]):
            iterated = source
        case ast.Starred(value=source) | ast.YieldFrom(value=source):
            iterated = source
    if iterated is not None and _is_set(iterated):
        yield "set-order", "sets have another order on replay: sort first"


def _calls_by_constant(node: ast.AST, _: Parents) -> Breaches:
    if not isinstance(node, ast.Call) or not node.args or not _is_context(node):
        return
    name, target = _method(node), node.args[0]
    if name in CALLS_BY_NAME and not _is_constant_name(target):
        yield "name", f"{name} goes by a constant: ActivityName.X, FlowName.X, EventName.X"
    elif name in TYPED_CALLS and not (_is_constant_name(target) or isinstance(target, ast.Name)):
        yield "name", f"{name} goes by a member of its enum, never by a string"


def _no_nested_compound(node: ast.AST, parents: Parents) -> Breaches:
    if not _is_compound(node):
        return
    assert isinstance(node, ast.Call)
    for member in _members(node):
        if _is_compound(_resolve(member, node, parents)):
            yield "nested", "a compound inside a compound: the SDK loses count when one member fails"


def _one_event_one_timer(node: ast.AST, parents: Parents) -> Breaches:
    if not (isinstance(node, ast.Call) and _method(node) in ANY and _is_context(node)):
        return
    kinds = [_task_kind(_resolve(member, node, parents)) for member in _members(node)]
    if sorted(kinds) != ["event", "timer"]:
        yield "deadline", "task_any takes exactly one event and one timer"
        return
    function = _function_of(node, parents)
    if function is not None and not any(
        isinstance(call, ast.Call) and _method(call) == "cancel" for call in ast.walk(function)
    ):
        yield "deadline", "cancel the timer when the event wins: it keeps the instance running"


def _guarded_all(node: ast.AST, parents: Parents) -> Breaches:
    if not (isinstance(node, ast.Call) and _method(node) in ALL and _is_context(node) and len(node.args) == 1):
        return
    tasks = _resolve(node.args[0], node, parents)
    if isinstance(tasks, ast.List) and not tasks.elts:
        yield "empty", "task_all([]) returns None, not []"
    if not isinstance(tasks, ast.ListComp | ast.GeneratorExp):
        return
    sources = {n.id for generator in tasks.generators for n in ast.walk(generator.iter) if isinstance(n, ast.Name)}
    is_constant = all(
        isinstance(generator.iter, ast.Name) and generator.iter.id.isupper() and not generator.ifs
        for generator in tasks.generators
    )
    if not is_constant and not _is_guarded(node, sources, parents):
        yield "empty", "task_all of what may be empty: guard it with an if"


CHECKS: Final[tuple[Callable[[ast.AST, Parents], Breaches], ...]] = (
    _no_async,
    _no_forbidden_import,
    _no_world,
    _no_global_state,
    _no_refused_call,
    _no_set_order,
    _calls_by_constant,
    _no_nested_compound,
    _one_event_one_timer,
    _guarded_all,
)


# ---- reading the tree ------------------------------------------------------------------------------------------------


def _method(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _is_context(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and _last(node.func.value) in {"context", "ctx"}


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_set(node: ast.expr) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_set(left) or _is_set(right)
        case _:
            return False


def _is_constant_name(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=inner, attr="value"):
            return _is_constant_name(inner)
        case ast.Attribute(value=ast.Name(id=owner)):
            return owner in NAMES
        case ast.Name(id=name):
            return name.isupper()
        case _:
            return False


def _is_compound(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _method(node) in ALL | ANY and _is_context(node)


def _members(node: ast.Call) -> list[ast.expr]:
    members: list[ast.expr] = []
    for argument in node.args:
        match argument:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                members += elements
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                members.append(element)
            case _:
                members.append(argument)
    return members


def _task_kind(node: ast.AST) -> str:
    name = _method(node) if isinstance(node, ast.Call) else ""
    return "event" if name in EVENTS else "timer" if name in TIMERS else "other"


def _resolve(node: ast.expr, at: ast.AST, parents: Parents) -> ast.AST:
    """Return what a local name was last assigned, as far as the function's text tells; else the node itself."""
    function = _function_of(at, parents)
    if not isinstance(node, ast.Name) or function is None:
        return node
    found: ast.AST = node
    for statement in ast.walk(function):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == node.id:
                found = value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name) and target.id == node.id:
                        found = value
    return found


def _function_of(node: ast.AST, parents: Parents) -> ast.FunctionDef | None:
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.FunctionDef):
            return node
    return None


def _is_guarded(node: ast.AST, sources: set[str], parents: Parents) -> bool:
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            names = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
            if names & sources:
                return True
    return False


def main(paths: list[str]) -> int:
    """Print every breach and return 1 if there was any."""
    found = lint_paths(Path(path) for path in paths or ["orchestrators/flows"])
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
