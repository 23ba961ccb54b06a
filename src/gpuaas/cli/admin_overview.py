"""`gpuaas admin overview`."""

from gpuaas.cli.admin_workers import COLUMNS as WORKERS
from gpuaas.cli.commands import Call
from gpuaas.cli.output import Column, Output, show_json, show_one, show_rows
from gpuaas.cli.words import clock, took
from gpuaas.wire.overview import Alert, Overview, Queue


def overview(call: Call) -> Overview:
    """Show the platform at a glance: what waits, what fails, how fast it answers, what the fleet has.

    \b
    Examples:
      gpuaas admin overview
      gpuaas admin overview -o json
    """
    return call.client.admin.overview()


def show_overview(call: Call, found: Overview) -> None:
    if call.output is Output.JSON:
        show_json(found)
        return
    show_one(found, CARD, call.output)
    if call.output is Output.TABLE and found.alerts:
        show_rows(found.alerts, ALERTS, call.output)
    if call.output is Output.TABLE:
        show_rows(found.queues, QUEUES, call.output)
        show_rows(found.workers, WORKERS, call.output)


def counted(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in sorted(numbers.items())) or "none"


def latencies(found: Overview) -> str:
    requests = found.requests
    shares = {"half": requests.p50_seconds, "95 %": requests.p95_seconds, "99 %": requests.p99_seconds}
    told = [f"{share} within {1000 * seconds:g} ms" for share, seconds in shares.items() if seconds is not None]
    return ", ".join(told) or "none measured"


def answered(found: Overview) -> str:
    requests = found.requests
    since = clock(requests.replica_started_at)
    return f"{requests.total} since {since}: {requests.server_errors} errors, {requests.refused} refused"


def operations(found: Overview) -> str:
    told = found.operations
    oldest = f", the oldest for {took(told.oldest_running_seconds)}" if told.oldest_running_seconds else ""
    return f"{told.running} running{oldest}; of {told.ended_last_hour} ended in an hour {told.failed_last_hour} failed"


def slots(found: Overview) -> str:
    capacity = found.capacity
    return f"{capacity.approved} approved: {capacity.claimed} claimed, {capacity.free} free, {capacity.blocked} blocked"


CARD: list[Column[Overview]] = [
    Column("At", lambda found: found.at, clock),
    Column("Nodes", lambda found: counted(found.nodes)),
    Column("Slots", slots),
    Column("Unknown environments", lambda found: counted(found.unknown_environments)),
    Column("Unknown volumes", lambda found: counted(found.unknown_volumes)),
    Column("Invariant violations", lambda found: counted(found.invariant_violations)),
    Column("Allocations", lambda found: counted(found.allocations)),
    Column("Operations", operations),
    Column("Links", lambda found: f"{found.links} over {found.replicas} replicas"),
    Column("Requests", answered),
    Column("Latency", latencies),
]
ALERTS: list[Column[Alert]] = [
    Column("Alert", lambda alert: alert.code.replace("_", " ")),
    Column("Of", lambda alert: f"{alert.subject_kind} {alert.subject_name}"),
    Column("Since", lambda alert: alert.since, clock),
    Column("What to do", lambda alert: alert.words),
]
QUEUES: list[Column[Queue]] = [
    Column("Queue", lambda queue: queue.name.replace("_", " ")),
    Column("Waiting", lambda queue: queue.waiting, align="right"),
    Column("Oldest", lambda queue: queue.oldest_seconds, took, align="right"),
]
