"""Spans by OpenTelemetry if GPUAAS_TRACES names a collector; the packages are imported only then."""

from datetime import datetime
from typing import Any

from gpuaas.cli.complaints import Complaint
from gpuaas.core.logs import correlation_id
from gpuaas.core.traces import NO_TRACES, End, Traces

NOT_INSTALLED = "GPUAAS_TRACES is set, and OpenTelemetry is not installed. Install it: pip install 'gpuaas[otel]'"


class OpenTelemetry:
    """Every span has the correlation id of the log lines of the same request."""

    def __init__(self, tracer: Any, context: Any, set_span_in_context: Any) -> None:
        self._tracer, self._context, self._in_context = tracer, context, set_span_in_context

    def begin(self, name: str, **facts: str) -> End:
        span = self._tracer.start_span(name, attributes=_attributes(facts, correlation_id.get()))
        token = self._context.attach(self._in_context(span))

        def end() -> None:
            self._context.detach(token)
            span.end()

        return end

    def record(self, name: str, began: datetime, ended: datetime, correlation: str, **facts: str) -> None:
        span = self._tracer.start_span(
            name, attributes=_attributes(facts, correlation), start_time=_nanoseconds(began), context={}
        )
        span.end(end_time=_nanoseconds(ended))


def _attributes(facts: dict[str, str], correlation: str) -> dict[str, str]:
    return {**{f"gpuaas.{fact}": value for fact, value in facts.items()}, "gpuaas.correlation_id": correlation}


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1_000


def traces_from(url: str) -> Traces:
    """Export to the OTLP collector at `url` (its HTTP address, such as http://127.0.0.1:4318); empty: no traces."""
    if not url:
        return NO_TRACES
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise Complaint(NOT_INSTALLED) from error
    return traces_to(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces")))


def traces_to(processor: Any) -> OpenTelemetry:
    from opentelemetry import context
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import set_span_in_context

    provider = TracerProvider(resource=Resource.create({"service.name": "gpuaas"}))
    provider.add_span_processor(processor)
    return OpenTelemetry(provider.get_tracer("gpuaas"), context, set_span_in_context)
