"""Runs user code: what the Python worker does around one function call.

Async functions share one event loop on a thread of their own, so a blocking call stalls them and never the host; sync
functions take a thread pool. The seam is `fns` and `invoke`: anything with these two may stand in for this worker.
Never reads or writes the store. Source: functions.md §6.3 and §6.2.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import traceback
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, Protocol

import azure.functions as func
from azure.durable_functions.models.utils import http_utils
from azure.functions.meta import Datum

from local import tracing
from local.indexing import Fn

_REGISTRY: Final[Any] = func.get_binding_registry()  # type: ignore[no-untyped-call]  # untyped by its authors


class InvokeError(Exception):
    """A function raised; the host sees its type, message and stack."""

    def __init__(self, message: str, stack: str) -> None:
        super().__init__(f"Result: Failure\nException: {message}\nStack: {stack}")
        self.message = message
        self.stack = stack

    @classmethod
    def of(cls, error: BaseException) -> InvokeError:
        """Build the failure of a raised exception."""
        return cls(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


@dataclass(frozen=True, slots=True)
class Call:
    """What surrounds one invocation: its trace and, under a retry policy, its attempt."""

    traceparent: str | None = None
    retry_count: int = 0
    max_retry_count: int = 0


_PLAIN_CALL: Final = Call()


class FunctionWorker(Protocol):
    """The seam between the host and whatever runs the functions."""

    @property
    def fns(self) -> Mapping[str, Fn]:
        """Return the indexed functions by name."""

    async def invoke(self, fn: Fn, data: Mapping[str, Datum], call: Call = ...) -> Datum | None:
        """Run one function or raise InvokeError."""


@contextmanager
def quiet_replay() -> Iterator[None]:
    """Silence the SDK's warning for each event that arrives before it is awaited, which is ordinary."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Potential duplicate Task completion")
        yield


def datum(value: Any, kind: str) -> Datum:
    """Build the typed value a binding hands over."""
    return Datum(value, kind)


class Worker:
    """The host's own worker."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        self.fns = fns
        size = os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT")
        self._pool = ThreadPoolExecutor(int(size) if size else None, thread_name_prefix="function")
        self._tasks: set[asyncio.Task[Any]] = set()

    async def invoke(self, fn: Fn, data: Mapping[str, Datum], call: Call = _PLAIN_CALL) -> Datum | None:
        """Run one function where it belongs and return what its output binding carries.

        Raises: InvokeError for anything the function, or the conversion of its data, raises.
        """
        try:
            arguments = _decode(fn, data, call)
            if fn.is_async:
                return _encode(fn, await self._on_worker_loop(fn, arguments, call))
            return await asyncio.get_running_loop().run_in_executor(self._pool, _run_sync, fn, arguments, call)
        except InvokeError:
            raise
        except Exception as error:
            raise InvokeError.of(error) from error

    def replay(self, fn: Fn, data: Mapping[str, Datum]) -> Datum | None:
        """Run an orchestrator here and now: a replay is a millisecond of pure computation.

        Raises: InvokeError as `invoke` does.
        """
        try:
            with quiet_replay():
                return _run_sync(fn, _decode(fn, data, _PLAIN_CALL), _PLAIN_CALL)
        except Exception as error:
            raise InvokeError.of(error) from error

    async def close(self) -> None:
        """Cancel what still runs and close the SDK's HTTP session."""
        loop = _worker_loop()

        async def close_here() -> None:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await http_utils._close_session()

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(close_here(), loop))
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _on_worker_loop(self, fn: Fn, arguments: dict[str, Any], call: Call) -> Any:
        host, loop = asyncio.get_running_loop(), _worker_loop()
        result: asyncio.Future[Any] = host.create_future()

        def start() -> None:
            # The middleware of a Durable client is a plain async function; its context must not be the host's.
            task = loop.create_task(_run_async(fn, arguments, call), context=contextvars.Context())
            self._tasks.add(task)
            task.add_done_callback(finished)

        def finished(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            try:
                host.call_soon_threadsafe(_settle, result, task)
            except RuntimeError:
                pass  # the host's loop has closed: nobody waits for the result

        loop.call_soon_threadsafe(start)
        return await result


def _settle(result: asyncio.Future[Any], task: asyncio.Task[Any]) -> None:
    if result.done():
        return
    if task.cancelled():
        result.set_exception(InvokeError("FunctionCancelled: the host is stopping", ""))
    elif (error := task.exception()) is not None:
        result.set_exception(error)
    else:
        result.set_result(task.result())


async def _run_async(fn: Fn, arguments: dict[str, Any], call: Call) -> Any:
    if tracing.is_wanted(call.traceparent):
        with tracing.span(fn.name, call.traceparent):
            return await fn.call(**arguments)
    return await fn.call(**arguments)


def _run_sync(fn: Fn, arguments: dict[str, Any], call: Call) -> Datum | None:
    if call.traceparent is not None:
        with tracing.span(fn.name, call.traceparent):
            return _encode(fn, fn.call(**arguments))
    return _encode(fn, fn.call(**arguments))


def _decode(fn: Fn, data: Mapping[str, Datum], call: Call) -> dict[str, Any]:
    arguments = {
        str(binding["name"]): _REGISTRY.get(binding["type"]).decode(data[binding["name"]], trigger_metadata={})
        for binding in fn.bindings
        if binding["name"] in data
    }
    if fn.wants_context:
        arguments["context"] = _context(fn, call)
    return arguments


def _encode(fn: Fn, value: Any) -> Datum | None:
    if fn.output is None:
        if value is not None:
            raise RuntimeError(f"function {fn.name!r} without a $return binding returned a non-None value")
        return None
    if value is None and fn.output == "http":
        return None
    encode: Callable[..., Datum] = _REGISTRY.get(fn.output).encode
    return encode(value, expected_type=None)


def _context(fn: Fn, call: Call) -> SimpleNamespace:
    retry = SimpleNamespace(retry_count=call.retry_count, max_retry_count=call.max_retry_count, exception=None)
    trace = SimpleNamespace(
        trace_parent=call.traceparent, trace_state="", Traceparent=call.traceparent, Tracestate="", attributes={}
    )
    return SimpleNamespace(
        function_name=fn.name,
        function_directory=os.path.dirname(fn.call.__code__.co_filename),
        invocation_id=str(uuid.uuid4()),
        thread_local_storage=threading.local(),
        trace_context=trace,
        retry_context=retry,
    )


_loop: asyncio.AbstractEventLoop | None = None


def _worker_loop() -> asyncio.AbstractEventLoop:
    """Return the one loop of user code: the SDK's HTTP session and the app's own clients are bound to it for good."""
    global _loop
    if _loop is None:
        _loop = _new_loop()
        threading.Thread(target=_loop.run_forever, daemon=True, name="worker-loop").start()
    return _loop


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # no wheel for this platform: slower, not different
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
