"""What is done while processes die. A later verb is one more entry in VERBS; the harness knows nothing else of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import asyncssh

from tests.crash import runtime_verbs as runtimes
from tests.crash.stages import Broken, Stage


@dataclass
class Case:
    """One performance of a verb: the key its request carries, and the allocation it is about."""

    key: str
    allocation_id: str = ""
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verb:
    name: str
    prepare: Callable[[Stage, Case], Awaitable[None]]
    """Nobody dies yet."""
    act: Callable[[Stage, Case], Awaitable[None]]
    """Returns when it was answered; the request is repeated with the same key until then."""
    missing: Callable[[Stage, Case], Awaitable[str]]
    """What keeps it from its wanted end; empty when it is there. Raises Broken if it never will be."""
    tidy: Callable[[Stage, Case], Awaitable[None]]
    """Give back what is left; nobody dies any more."""


async def nothing(stage: Stage, case: Case) -> None:
    pass


async def create(stage: Stage, case: Case) -> None:
    case.allocation_id = await stage.create(case.key)


async def not_admitting(stage: Stage, case: Case) -> str:
    """Until the person is in, with their own key, on a machine with its own name."""
    row = await stage.row(case.allocation_id)
    if row["status"] == "failed":
        raise Broken(f"{row['id']} failed: {row['status_reason']}")
    if row["status"] != "active":
        return f"{row['id']} is {row['status']}"
    try:
        hostname = await stage.says(row["id"], "hostname")
    except (OSError, TimeoutError, asyncssh.Error) as error:
        return f"SSH: {error!r}"
    if hostname != row["name"]:
        raise Broken(f"{row['id']} is named {hostname}")
    return ""


async def inhabited(stage: Stage, case: Case) -> None:
    """A machine on which somebody left a process running, away from every terminal."""
    case.allocation_id = await stage.create(f"{case.key}-first")
    await stage.reach(lambda: not_admitting(stage, case))
    await stage.says(case.allocation_id, "setsid nohup sleep 1000000 > /dev/null 2>&1 < /dev/null & echo started")


async def release(stage: Stage, case: Case) -> None:
    await stage.release(case.allocation_id, case.key)


async def not_released(stage: Stage, case: Case) -> str:
    row = await stage.row(case.allocation_id)
    if row["status"] in ("failed", "release_failed"):
        raise Broken(f"{row['id']} is {row['status']}: {row['status_reason']}")
    return "" if row["status"] == "released" else f"{row['id']} is {row['status']}"


async def give_back(stage: Stage, case: Case) -> None:
    await stage.release(case.allocation_id, f"{case.key}-last")
    await stage.reach(lambda: not_released(stage, case))


async def furnished(stage: Stage, case: Case) -> None:
    """A machine with a file on its disk and a known way in."""
    case.allocation_id = await stage.create(f"{case.key}-first")
    await stage.reach(lambda: not_admitting(stage, case))
    await stage.says(
        case.allocation_id, "echo kept > ~/kept; setsid nohup sleep 1000000 > /dev/null 2>&1 < /dev/null &"
    )
    row = await stage.row(case.allocation_id)
    case.notes = {"boot": str(row["boot"]), "way_in": f"{row['port']} {row['host_key']}"}


async def restart(stage: Stage, case: Case) -> None:
    await stage.change(case.allocation_id, "restart", {}, case.key)


async def not_back(stage: Stage, case: Case) -> str:
    """Until it is up at a later boot with the same way in, the file there and the process gone."""
    row = await stage.row(case.allocation_id)
    if row["status"] in ("failed", "restart_failed"):
        raise Broken(f"{row['id']} is {row['status']}: {row['status_reason']}")
    if row["boot"] == int(case.notes["boot"]):
        return f"{row['id']} is still at boot {row['boot']}"
    if waiting := await not_admitting(stage, case):
        return waiting
    if f"{row['port']} {row['host_key']}" != case.notes["way_in"]:
        raise Broken(f"{row['id']} has another way in")
    said = await stage.says(case.allocation_id, "cat ~/kept; pgrep -x sleep | wc -l")
    if said.split() != ["kept", "0"]:
        raise Broken(f"after the restart it says {said!r}")
    return ""


async def resize(stage: Stage, case: Case) -> None:
    await stage.change(case.allocation_id, "resize", {"gpu_count": 2}, case.key)


async def not_resized(stage: Stage, case: Case) -> str:
    if waiting := await not_back(stage, case):
        return waiting
    row = await stage.row(case.allocation_id)
    slots = (await stage.says(case.allocation_id, "echo $GPUAAS_SLOTS")).split(",")
    if row["gpu_count"] != 2 or len(slots) != 2:
        raise Broken(f"{row['id']} has {row['gpu_count']} GPUs and sees {slots}")
    return ""


async def equipped(stage: Stage, case: Case) -> None:
    """A machine with one version applied, on a node that has two."""
    await furnished(stage, case)
    case.notes["version"] = await runtimes.shelve_next(stage)
    await runtimes.shelve(stage, runtimes.READY)
    for version in (case.notes["version"], runtimes.READY):
        await runtimes.apply(stage, case.allocation_id, version, f"{case.key}-{version}")
        await stage.reach(partial(runtimes.not_applied, stage, case.allocation_id, version))


async def curious(stage: Stage, case: Case) -> None:
    """A machine, and a bundle that its node does not have."""
    await furnished(stage, case)
    case.notes["version"] = await runtimes.shelve_next(stage)


async def apply(stage: Stage, case: Case) -> None:
    await runtimes.apply(stage, case.allocation_id, case.notes["version"], case.key)


async def not_applied(stage: Stage, case: Case) -> str:
    return await runtimes.not_applied(stage, case.allocation_id, case.notes["version"])


VERBS = {
    verb.name: verb
    for verb in (
        Verb(name="create", prepare=nothing, act=create, missing=not_admitting, tidy=give_back),
        Verb(name="restart", prepare=furnished, act=restart, missing=not_back, tidy=give_back),
        Verb(name="resize", prepare=furnished, act=resize, missing=not_resized, tidy=give_back),
        Verb(name="apply", prepare=equipped, act=apply, missing=not_applied, tidy=give_back),
        Verb(name="stage", prepare=curious, act=apply, missing=not_applied, tidy=give_back),
        Verb(name="release", prepare=inhabited, act=release, missing=not_released, tidy=nothing),
    )
}
