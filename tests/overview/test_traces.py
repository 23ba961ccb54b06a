"""Spans of requests, transactions and worker passes: recorded when somebody wants them, and nothing otherwise."""

from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gpuaas.api.app import create_app
from gpuaas.cli.complaints import Complaint
from gpuaas.core.settings import Settings
from gpuaas.core.traces import NO_TRACES, nothing
from gpuaas.main.server import Parts, wired
from gpuaas.main.traces import traces_from, traces_to


async def test_a_request_and_its_transaction_are_one_trace_with_the_correlation_id(
    migrated: str, tmp_path: Path
) -> None:
    kept = InMemorySpanExporter()
    parts = Parts(traces=traces_to(SimpleSpanProcessor(kept)))
    async with wired(Settings(data=tmp_path, dsn=migrated), migrated, parts) as made:
        transport = httpx.ASGITransport(create_app(made.services))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            headers = {"X-Correlation-ID": "my-own", "Authorization": "Bearer gps_nobody"}
            assert (await http.get("/api/v1/projects", headers=headers)).status_code == 401
    mine = [span for span in kept.get_finished_spans() if (span.attributes or {})["gpuaas.correlation_id"] == "my-own"]
    by_name = {span.name: span for span in mine}
    request, transaction = by_name["request"], by_name["transaction"]
    assert transaction.parent is not None
    assert request.context is not None
    assert transaction.parent.span_id == request.context.span_id
    assert "gps_nobody" not in str([dict(span.attributes or {}) for span in mine])


def test_without_a_collector_there_is_nothing_to_end() -> None:
    assert traces_from("") is NO_TRACES
    assert NO_TRACES.begin("request", path="/") is nothing


@pytest.mark.skipif(find_spec("opentelemetry.exporter") is not None, reason="the packages are installed here")
def test_a_collector_without_the_packages_is_told_in_words() -> None:
    with pytest.raises(Complaint, match="pip install 'gpuaas\\[otel\\]'"):
        traces_from("http://127.0.0.1:4318")
