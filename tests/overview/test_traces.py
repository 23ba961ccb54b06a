"""Spans of requests, transactions, worker passes and node tasks: recorded when wanted, and nothing otherwise."""

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
from gpuaas.wire.link import Ack, Result, TaskStatus
from tests.isolation.machines import enrol
from tests.links.wires import linked, task_of, writing
from tests.world import World


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


async def test_a_task_of_a_node_is_a_span_with_the_correlation_id_of_its_request(world: World) -> None:
    kept = InMemorySpanExporter()
    world.services.worker_db.traces = traces_to(SimpleSpanProcessor(kept))
    wire = await linked(world, await enrol(world, "first"))
    _, task_id = await task_of(world)
    async with writing(world):
        told = Result(task_id=task_id, status=TaskStatus.FAILED, at=world.clock.now())
        wire.say(told, told)  # the second changes nothing, and is no second span
        await wire.heard(Ack)
    await wire.hang_up()
    [span] = [span for span in kept.get_finished_spans() if span.name == "node task"]
    asked = await world.value(
        "select correlation_id from operations o join node_tasks t on o.id = t.operation_id where t.id = $1", task_id
    )
    facts = dict(span.attributes or {})
    assert (facts["gpuaas.task"], facts["gpuaas.status"], facts["gpuaas.correlation_id"]) == (task_id, "failed", asked)
    assert asked
    assert span.end_time == int(told.at.timestamp() * 1_000_000) * 1_000


def test_without_a_collector_there_is_nothing_to_end() -> None:
    assert traces_from("") is NO_TRACES
    assert NO_TRACES.begin("request", path="/") is nothing


@pytest.mark.skipif(find_spec("opentelemetry.exporter") is not None, reason="the packages are installed here")
def test_a_collector_without_the_packages_is_told_in_words() -> None:
    with pytest.raises(Complaint, match="pip install 'gpuaas\\[otel\\]'"):
        traces_from("http://127.0.0.1:4318")
