"""What is done while processes die. A later verb is one more entry in VERBS; the harness knows nothing else of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import asyncssh

from tests.crash import guests, screens
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


async def visited(stage: Stage, case: Case) -> None:
    """A machine, and a member of its project who would like to enter it."""
    await furnished(stage, case)
    case.notes |= await guests.welcome(stage, case.allocation_id, case.key.lower())


async def grant(stage: Stage, case: Case) -> None:
    wish: dict[str, object] = {"user_id": case.notes["user"], "ssh_key_id": case.notes["key_id"]}
    made = await stage.post(f"/allocations/{case.allocation_id}/access-grants", wish, key=case.key)
    case.notes["grant"] = str(made["id"])


async def not_let_in(stage: Stage, case: Case) -> str:
    let_in = await guests.is_let_in(stage, case.allocation_id, case.notes["key"])
    return "" if let_in else "the guest is not let in"


async def shared(stage: Stage, case: Case) -> None:
    """A machine that a guest was let into."""
    await visited(stage, case)
    key, case.key = case.key, f"{case.key}-grant"
    await grant(stage, case)
    case.key = key
    await stage.reach(lambda: not_let_in(stage, case))


async def revoke(stage: Stage, case: Case) -> None:
    place = f"/allocations/{case.allocation_id}/access-grants/{case.notes['grant']}"
    await stage.post(place, {}, key=case.key, method="DELETE")


async def not_shut_out(stage: Stage, case: Case) -> str:
    """Until the guest is out, and the person is still in."""
    if await guests.is_let_in(stage, case.allocation_id, case.notes["key"]):
        return "the guest is still let in"
    return await not_admitting(stage, case)


async def invited(stage: Stage, case: Case) -> None:
    """A machine, and a stranger who was invited into its project."""
    await furnished(stage, case)
    case.notes |= await guests.arrive(stage, case.key.lower())
    case.notes |= await guests.invite(stage, case.allocation_id, case.notes["email"], f"{case.key}-invited")


async def join(stage: Stage, case: Case) -> None:
    await guests.accept(stage, case.notes, case.key)


async def not_joined(stage: Stage, case: Case) -> str:
    """Until they are in the project, once, and no machine lets them in for that."""
    if (count := await guests.memberships(stage, case.notes)) != 1:
        return f"the guest is {count} times a member"
    if await guests.is_let_in(stage, case.allocation_id, case.notes["key"]):
        raise Broken("the guest is let in by being a member")
    return ""


async def remove_member(stage: Stage, case: Case) -> None:
    place = f"/projects/{case.notes['project']}/members/{case.notes['user']}"
    await stage.post(place, {}, key=case.key, method="DELETE")


async def not_removed(stage: Stage, case: Case) -> str:
    """Until they are neither in the project nor in its machine."""
    if await guests.memberships(stage, case.notes):
        return "the guest is still a member"
    (grant,) = await stage.query("select status from access_grants where id = $1", case.notes["grant"])
    if grant["status"] != "revoked":
        raise Broken(f"the guest is no member, and their grant is {grant['status']}")
    return await not_shut_out(stage, case)


async def open_terminal(stage: Stage, case: Case) -> None:
    async def not_opened() -> str:
        case.notes["terminal"], why = await screens.type_into(stage, case.allocation_id, screens.ALIVE)
        return why

    await stage.reach(not_opened)
    case.notes["agent deaths"] = str(stage.agent.deaths)


async def no_terminal(stage: Stage, case: Case) -> str:
    """Until the same shell is shown again; with its agent it ends, and then until another one is to be had."""
    (row,) = await stage.query(screens.ROW, case.notes["terminal"])
    if row["closed_at"] is not None:
        if stage.agent.deaths == int(case.notes["agent deaths"]):
            raise Broken(f"the terminal ended: {row['reason']}")
        await open_terminal(stage, case)
    _, why = await screens.type_into(stage, case.allocation_id, screens.SAME, case.notes["terminal"])
    return why or await screens.too_many(stage, case.allocation_id)


async def watched(stage: Stage, case: Case) -> None:
    """A machine with a terminal that somebody opened and left."""
    await furnished(stage, case)
    await open_terminal(stage, case)


async def come_back(stage: Stage, case: Case) -> None:
    await stage.reach(lambda: no_terminal(stage, case))


async def end_terminal(stage: Stage, case: Case) -> None:
    place = f"/allocations/{case.allocation_id}/sessions/{case.notes['terminal']}"
    try:
        await stage.post(place, {}, key=case.key, method="DELETE")
    except Broken as refused:
        if "session_not_found" not in str(refused):  # it ended with its agent before anybody asked
            raise


async def not_ended(stage: Stage, case: Case) -> str:
    (row,) = await stage.query(screens.ROW, case.notes["terminal"])
    if row["closed_at"] is None or row["ended_at"] is None:
        return f"the terminal is {'open' if row['closed_at'] is None else 'not known to have ended'}"
    return await screens.too_many(stage, case.allocation_id)


async def equipped(stage: Stage, case: Case) -> None:
    await furnished(stage, case)
    await equip(stage, case)


async def equip(stage: Stage, case: Case) -> None:
    """One version applied, on a node that has two."""
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


async def stored(stage: Stage, case: Case) -> None:
    """A machine, and a volume beside it."""
    await furnished(stage, case)
    await store(stage, case)


async def store(stage: Stage, case: Case) -> None:
    project_id = (await stage.row(case.allocation_id))["project_id"]
    body: dict[str, object] = {"name": f"v-{case.key[-8:]}", "size_gib": 1}
    made = await stage.post(f"/projects/{project_id}/volumes", body, key=f"{case.key}-volume")
    case.notes |= {"volume": made["id"], "volume_path": f"/projects/{project_id}/volumes/{made['id']}"}

    async def not_made() -> str:
        (row,) = await stage.query("select status from volumes where id = $1", made["id"])
        return "" if row["status"] == "available" else f"the volume is {row['status']}"

    await stage.reach(not_made)


async def attach(stage: Stage, case: Case) -> None:
    body: dict[str, object] = {"volume_id": case.notes["volume"], "mount_path": "/data"}
    made = await stage.post(f"/allocations/{case.allocation_id}/storage-attachments", body, key=case.key)
    case.notes["attachment"] = made["id"]


async def not_attached(stage: Stage, case: Case) -> str:
    if waiting := await attachment_is_not(stage, case, "attached"):
        return waiting
    try:
        said = await stage.says(case.allocation_id, "echo kept > /data/kept; grep -c ' /data ' /proc/self/mountinfo")
    except (OSError, TimeoutError, asyncssh.Error) as error:
        return f"SSH: {error!r}"
    if said != "1":
        raise Broken(f"/data is mounted {said} times")
    return ""


async def attachment_is_not(stage: Stage, case: Case, wanted: str) -> str:
    query = "select status, status_reason from storage_attachments where id = $1"
    (row,) = await stage.query(query, case.notes["attachment"])
    if row["status"] in ("failed", "detach_failed"):
        raise Broken(f"the attachment is {row['status']}: {row['status_reason']}")
    return "" if row["status"] == wanted else f"the attachment is {row['status']}"


async def with_a_volume(stage: Stage, case: Case) -> None:
    await stored(stage, case)
    attaching = Case(f"{case.key}-attach", case.allocation_id, case.notes)
    await attach(stage, attaching)
    await stage.reach(lambda: not_attached(stage, attaching))


async def detach(stage: Stage, case: Case) -> None:
    path = f"/allocations/{case.allocation_id}/storage-attachments/{case.notes['attachment']}"
    await stage.post(path, {}, key=case.key, method="DELETE")


async def not_detached(stage: Stage, case: Case) -> str:
    if waiting := await attachment_is_not(stage, case, "detached"):
        return waiting
    try:
        said = await stage.says(case.allocation_id, "grep -c ' /data ' /proc/self/mountinfo || true")
    except (OSError, TimeoutError, asyncssh.Error) as error:
        return f"SSH: {error!r}"
    kept = stage.folder / "storage" / case.notes["volume"] / "data" / "kept"
    if said != "0" or kept.read_text() != "kept\n":
        raise Broken(f"/data is mounted {said} times; its data is {'there' if kept.exists() else 'gone'}")
    return ""


async def give_all_back(stage: Stage, case: Case) -> None:
    """The machine, then the volume: its data is gone when it is proven so, and not before."""
    kept = stage.folder / "storage" / case.notes["volume"]
    await give_back(stage, case)
    if not kept.exists():
        raise Broken("the volume went with the machine")
    await stage.post(case.notes["volume_path"], {}, key=f"{case.key}-delete", method="DELETE")

    async def not_deleted() -> str:
        (row,) = await stage.query("select status from volumes where id = $1", case.notes["volume"])
        return "" if row["status"] == "deleted" else f"the volume is {row['status']}"

    await stage.reach(not_deleted)
    if kept.exists():
        raise Broken("the volume is deleted and its data is not")


VERBS = {
    verb.name: verb
    for verb in (
        Verb(name="create", prepare=nothing, act=create, missing=not_admitting, tidy=give_back),
        Verb(name="grant", prepare=visited, act=grant, missing=not_let_in, tidy=give_back),
        Verb(name="revoke", prepare=shared, act=revoke, missing=not_shut_out, tidy=give_back),
        Verb(name="join", prepare=invited, act=join, missing=not_joined, tidy=give_back),
        Verb(name="remove_member", prepare=shared, act=remove_member, missing=not_removed, tidy=give_back),
        Verb(name="open_terminal", prepare=furnished, act=open_terminal, missing=no_terminal, tidy=give_back),
        Verb(name="reattach", prepare=watched, act=come_back, missing=no_terminal, tidy=give_back),
        Verb(name="end_terminal", prepare=watched, act=end_terminal, missing=not_ended, tidy=give_back),
        Verb(name="restart", prepare=furnished, act=restart, missing=not_back, tidy=give_back),
        Verb(name="resize", prepare=furnished, act=resize, missing=not_resized, tidy=give_back),
        Verb(name="apply", prepare=equipped, act=apply, missing=not_applied, tidy=give_back),
        Verb(name="stage", prepare=curious, act=apply, missing=not_applied, tidy=give_back),
        Verb(name="attach", prepare=stored, act=attach, missing=not_attached, tidy=give_all_back),
        Verb(name="detach", prepare=with_a_volume, act=detach, missing=not_detached, tidy=give_all_back),
        Verb(name="release", prepare=inhabited, act=release, missing=not_released, tidy=nothing),
    )
}
