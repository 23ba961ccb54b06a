"""Volumes come to machines and go from them."""

from tests.crash.machines import TOMBSTONES
from tests.crash.stages import Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case, is_proven

SNAPSHOTS = "select id, status, size_bytes, consistency from volume_snapshots where volume_id = $1"


async def stored(stage: Stage, case: Case) -> None:
    """A machine, and a volume beside it."""
    await machines.furnished(stage, case)
    await store(stage, case)


async def store(stage: Stage, case: Case) -> None:
    case.notes["project"] = (await stage.row(case.allocation_id))["project_id"]
    case.notes["volume"] = await make_volume(stage, case, "volume")
    await stage.reach(lambda: volume_is_not(stage, case.notes["volume"], "available"))


async def make_volume(stage: Stage, case: Case, name: str, **wish: object) -> str:
    body = {"name": f"{name}-{case.key[-8:].lower()}", "size_gib": 1, **wish}
    made = await stage.post(f"/projects/{case.notes['project']}/volumes", body, key=f"{case.key}-{name}")
    return str(made["id"])


async def volume_is_not(stage: Stage, id: str, wanted: str) -> str:
    (row,) = await stage.query("select status, status_reason from volumes where id = $1", id)
    if row["status"] in ("failed", "delete_failed"):
        raise Broken(f"the volume is {row['status']}: {row['status_reason']}")
    return "" if row["status"] == wanted else f"the volume is {row['status']}"


async def attach(stage: Stage, case: Case) -> None:
    body: dict[str, object] = {"volume_id": case.notes["volume"], "mount_path": "/data"}
    made = await stage.post(f"/allocations/{case.allocation_id}/storage-attachments", body, key=case.key)
    case.notes["attachment"] = made["id"]


async def not_attached(stage: Stage, case: Case) -> str:
    if waiting := await attachment_is_not(stage, case, "attached"):
        return waiting
    said = await stage.says(case.allocation_id, "echo kept > /data/kept; grep -c ' /data ' /proc/self/mountinfo")
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
    said = await stage.says(case.allocation_id, "grep -c ' /data ' /proc/self/mountinfo || true")
    kept = stage.storage / case.notes["volume"] / "data" / "kept"
    if said != "0" or kept.read_text() != "kept\n":
        raise Broken(f"/data is mounted {said} times; its data is {'there' if kept.exists() else 'gone'}")
    return ""


async def give_all_back(stage: Stage, case: Case) -> None:
    """The machine, then the volume: its data is gone when it is proven so, and not before."""
    await machines.give_back(stage, case)
    if not (stage.storage / case.notes["volume"]).exists():
        raise Broken("the volume went with the machine")
    await erase(stage, case, case.notes["volume"])


async def erase(stage: Stage, case: Case, id: str) -> None:
    await stage.post(f"/projects/{case.notes['project']}/volumes/{id}", {}, key=f"{case.key}-{id}", method="DELETE")
    await stage.reach(lambda: not_erased(stage, id))


async def not_erased(stage: Stage, id: str) -> str:
    """Until nothing is left of it, and that is proven; late orders find a tombstone."""
    if waiting := await volume_is_not(stage, id, "deleted"):
        return waiting
    (row,) = await stage.query("select deletion_proofs from volumes where id = $1", id)
    left = [str(path) for path in stage.storage.iterdir() if id in path.name]
    if left or not is_proven(row["deletion_proofs"]) or not (stage.storage / TOMBSTONES / id).exists():
        raise Broken(f"the volume is deleted; its proofs are {row['deletion_proofs']}, and there is {left}")
    return ""


async def detached(stage: Stage, case: Case) -> None:
    """One that a machine wrote to, and that is attached nowhere."""
    await with_a_volume(stage, case)
    detaching = Case(f"{case.key}-detach", case.allocation_id, case.notes)
    await detach(stage, detaching)
    await stage.reach(lambda: not_detached(stage, detaching))


async def delete(stage: Stage, case: Case) -> None:
    place = f"/projects/{case.notes['project']}/volumes/{case.notes['volume']}"
    await stage.post(place, {}, key=case.key, method="DELETE")


async def not_deleted(stage: Stage, case: Case) -> str:
    return await not_erased(stage, case.notes["volume"])


async def snapshot(stage: Stage, case: Case) -> None:
    place = f"/volumes/{case.notes['volume']}/snapshots"
    case.notes["snapshot"] = (await stage.post(place, {"name": "before"}, key=case.key))["id"]


async def not_taken(stage: Stage, case: Case) -> str:
    """Until there is one, with the data of its volume."""
    taken = await stage.query(SNAPSHOTS, case.notes["volume"])
    if len(taken) != 1 or taken[0]["status"] == "failed":
        raise Broken(f"one snapshot was asked for, and there is {taken}")
    if taken[0]["status"] != "ready":
        return f"the snapshot is {taken[0]['status']}"
    if not taken[0]["size_bytes"] or not taken[0]["consistency"]:
        raise Broken(f"nobody knows of what kind the snapshot is: {taken}")
    return differs(stage, case, "snapshot", "kept\n")


def differs(stage: Stage, case: Case, copy: str, wanted: str) -> str:
    """A copy holds what it should, and as its volume does: whoever mounts it finds it theirs."""
    file, source = (stage.storage / case.notes[name] / "data" / "kept" for name in (copy, "volume"))
    if (said := file.read_text()) != wanted:
        raise Broken(f"the {copy} says {said!r}")
    here, there = file.stat(), source.stat()
    if (here.st_uid, here.st_gid, here.st_mode) != (there.st_uid, there.st_gid, there.st_mode):
        raise Broken(f"the {copy} belongs to {here.st_uid}, and its source to {there.st_uid}")
    return ""


async def drop_snapshot(stage: Stage, case: Case) -> None:
    place = f"/volumes/{case.notes['volume']}/snapshots/{case.notes['snapshot']}"
    await stage.post(place, {}, key=f"{case.key}-dropped", method="DELETE")

    async def not_dropped() -> str:
        (row,) = await stage.query(SNAPSHOTS, case.notes["volume"])
        return "" if row["status"] == "deleted" else f"the snapshot is {row['status']}"

    await stage.reach(not_dropped)


async def drop_taken(stage: Stage, case: Case) -> None:
    """The snapshot first, for a volume that has any is not deleted."""
    await drop_snapshot(stage, case)
    await give_all_back(stage, case)


async def snapshotted(stage: Stage, case: Case) -> None:
    """Of a volume that was written to since."""
    await with_a_volume(stage, case)
    taking = Case(f"{case.key}-snapshot", case.allocation_id, case.notes)
    await snapshot(stage, taking)
    await stage.reach(lambda: not_taken(stage, taking))
    await stage.says(case.allocation_id, "echo later > /data/kept")


async def restore(stage: Stage, case: Case) -> None:
    case.notes["restored"] = await make_volume(stage, case, "restored", snapshot_id=case.notes["snapshot"])


async def not_restored(stage: Stage, case: Case) -> str:
    """Until there is one volume with the data as it was then; that it came from stays as it is now."""
    made = await stage.query("select id from volumes where snapshot_id = $1", case.notes["snapshot"])
    if [row["id"] for row in made] != [case.notes["restored"]]:
        raise Broken(f"one volume was asked for, and there is {made}")
    if waiting := await volume_is_not(stage, case.notes["restored"], "available"):
        return waiting
    return differs(stage, case, "restored", "kept\n") or differs(stage, case, "volume", "later\n")


async def drop_restored(stage: Stage, case: Case) -> None:
    await erase(stage, case, case.notes["restored"])
    await drop_taken(stage, case)
