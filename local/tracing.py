"""Spans around invocations, through the OpenTelemetry API alone.

Carries a W3C traceparent from a start to each activity of the instance. Costs nothing unless an incoming trace or a
configured SDK asks for it. Never configures an exporter; the app does. Source: functions.md §7 (15).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_tracer: Final = trace.get_tracer("local.host")
_propagator: Final = TraceContextTextMapPropagator()


def is_wanted(traceparent: str | None) -> bool:
    """Return whether anyone would see a span of this invocation."""
    return traceparent is not None or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextmanager
def span(name: str, traceparent: str | None) -> Iterator[None]:
    """Run a block inside a span that continues the given trace."""
    parent = _propagator.extract({"traceparent": traceparent}) if traceparent else None
    with _tracer.start_as_current_span(name, context=parent, kind=trace.SpanKind.SERVER):
        yield
