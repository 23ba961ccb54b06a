"""Compares the environments that a node reports with the database, and acts only on differences that are certain."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import UNSET, Struct

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.commands import boot_again, fail_lost
from gpuaas.domain.allocations.observations import store
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.metrics.store import Finding as HealthFinding
from gpuaas.domain.metrics.store import set_findings
from gpuaas.domain.tasks import store as tasks
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import Environment, EnvironmentState, ExitCause
from gpuaas.wire.images import BaseImage
from gpuaas.wire.link import Report
from gpuaas.wire.tasks import RemoveEnvironment, TaskKind

# A report is judged only against states that were settled well before it. Both times are from the control plane's
# clock; only network delay differs.
SLACK = timedelta(seconds=2)
SOURCE = "reports"
UNCLEAR = {
    EnvironmentState.UNKNOWN: (
        "environment_unknown",
        "The node could not determine whether the environment runs",
        "Wait: the node checks again every few seconds, and nothing is restarted meanwhile.",
    ),
    EnvironmentState.BROKEN: (
        "environment_broken",
        "The environment is incomplete",
        "Contact an operator. It is not restarted automatically, because it may still run.",
    ),
}


EXITS: dict[ExitCause | None, str] = {
    ExitCause.REBOOTED_INSIDE: "it was rebooted from inside",
    ExitCause.POWERED_OFF_INSIDE: "it was powered off from inside",
    ExitCause.OUT_OF_MEMORY: "it ran out of memory, and its first process was ended",
    ExitCause.KILLED: "its first process was killed",
    ExitCause.CRASHED: "its first process crashed",
    ExitCause.EXITED: "its first process exited",
    ExitCause.NODE_RESTARTED: "the node restarted",
}


class Lost(Struct, frozen=True):
    """The node is online and does not have the environment."""

    row: AllocationRow


class Rebooted(Struct, frozen=True):
    """The environment stopped or rebooted without a request."""

    row: AllocationRow
    why: str


class Ahead(Struct, frozen=True):
    """The node is at a newer boot than the database requested: the writes in between were lost."""

    row: AllocationRow
    boot: int


class Orphan(Struct, frozen=True):
    """The environment of an allocation that the database records as ended."""

    row: AllocationRow


class Unclear(Struct, frozen=True):
    """The node could not check it, or found a fault that a restart does not repair: shown as health, never acted on."""

    row: AllocationRow
    finding: HealthFinding


class Unknown(Struct, frozen=True):
    """The database does not contain its allocation: it keeps its devices until an operator adopts or removes it."""

    environment: Environment


Finding = Lost | Rebooted | Ahead | Orphan | Unclear | Unknown


def judge(rows: list[AllocationRow], report: Report) -> list[Finding]:
    """Pure. `rows` are all allocations that the database places on the node or that the report names."""
    known = {row.id: row for row in rows}
    found = {environment.allocation_id: environment for environment in report.environments}
    findings: list[Finding] = [Unknown(each) for id, each in found.items() if id not in known]
    for row in rows:
        if row.status_since + SLACK > report.at:
            continue
        environment = found.get(row.id)
        if environment and row.cleanup_proven_at and environment.state is not EnvironmentState.UNKNOWN:
            findings.append(Orphan(row))
        elif row.status is Status.ACTIVE:
            findings.extend(_judge_active(row, environment))
    return findings


def _judge_active(row: AllocationRow, environment: Environment | None) -> list[Finding]:
    if environment is None:
        return [Lost(row)]
    if environment.state in UNCLEAR:
        code, words, next_step = UNCLEAR[environment.state]
        return [Unclear(row, HealthFinding(code=code, words=f"{words}: {environment.detail}.", next_step=next_step))]
    if environment.state is EnvironmentState.STOPPED:
        return [Rebooted(row, EXITS.get(environment.exit_cause, "the environment was found stopped"))]
    if environment.boot < row.boot:
        return [Rebooted(row, "the environment was found at an older boot")]
    believable = min(row.boot + store.MOST_LOST, store.HIGHEST)
    return [Ahead(row, environment.boot)] if row.boot < environment.boot <= believable else []


async def apply(tx: Tx, reports: Mapping[str, Report], *, ids: Ids, now: datetime) -> list[tuple[str, Finding]]:
    """Apply one report per node; returns the findings by node. Without findings this takes three statements."""
    named = [environment.allocation_id for report in reports.values() for environment in report.environments]
    standing: dict[str, list[AllocationRow]] = {node_id: [] for node_id in reports}
    for row in await store.on_nodes(tx, list(reports), named):
        standing[row.node_id].append(row)
    found = [(node_id, each) for node_id, report in reports.items() for each in judge(standing[node_id], report)]
    unknown: list[store.SeenEnvironment] = []
    unclear = {row.id: list[HealthFinding]() for rows in standing.values() for row in rows if _was_unclear(row)}
    for node_id, finding in found:
        match finding:
            case Lost(row):
                await fail_lost(tx, row, actor=node_id, note="The node came back without the environment.", now=now)
            case Rebooted(row, why):
                await boot_again(tx, row, "restart", actor=node_id, why=why, ids=ids, now=now)
            case Ahead(row, boot):
                await store.raise_boot(tx, row, boot)
            case Orphan(row):
                await _remove_orphan(tx, row, ids, now)
            case Unclear(row, found_unclear):
                unclear[row.id] = [found_unclear]
            case Unknown(environment):
                unknown.append(store.SeenEnvironment(ids.new("unknown"), node_id, environment))
    if unclear:
        await set_findings(tx, SOURCE, unclear, now)
    await store.observe_unknown(tx, reports, unknown, now=now)
    await store.set_images(tx, new_images(standing, reports))
    await store.raise_key_generations(tx, reports)
    return found


def new_images(standing: Mapping[str, list[AllocationRow]], reports: Mapping[str, Report]) -> dict[str, BaseImage]:
    """By allocation, the images that differ from the row, also when a newer image has become current."""
    found: dict[str, BaseImage] = {}
    for node_id, rows in standing.items():
        seen = {each.allocation_id: each.image for each in reports[node_id].environments}
        found |= {row.id: image for row in rows if (image := seen.get(row.id)) and image != row.image}
    return found


def _was_unclear(row: AllocationRow) -> bool:
    codes = {code for code, _, _ in UNCLEAR.values()}
    return row.findings is not UNSET and any(reason.code in codes for reason in row.findings)


async def _remove_orphan(tx: Tx, row: AllocationRow, ids: Ids, now: datetime) -> None:
    latest = await tasks.latest(tx, row.id)
    if latest and latest.is_open:
        return
    task = tasks.NewTask(
        id=ids.new("task"),
        node_id=row.node_id,
        allocation_id=row.id,
        operation_id=row.operation_id,
        boot=row.boot,
        kind=TaskKind.REMOVE,
        wants=RemoveEnvironment(reason="released before"),
    )
    await tasks.queue(tx, task, version=row.version, now=now)
