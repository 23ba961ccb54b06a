"""Volumes come to machines and go from them."""

from tests.crash.stages import UNREACHED, Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case


async def stored(stage: Stage, case: Case) -> None:
    """A machine, and a volume beside it."""
    await machines.furnished(stage, case)
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
    except UNREACHED as error:
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
    except UNREACHED as error:
        return f"SSH: {error!r}"
    kept = stage.folder / "storage" / case.notes["volume"] / "data" / "kept"
    if said != "0" or kept.read_text() != "kept\n":
        raise Broken(f"/data is mounted {said} times; its data is {'there' if kept.exists() else 'gone'}")
    return ""


async def give_all_back(stage: Stage, case: Case) -> None:
    """The machine, then the volume: its data is gone when it is proven so, and not before."""
    kept = stage.folder / "storage" / case.notes["volume"]
    await machines.give_back(stage, case)
    if not kept.exists():
        raise Broken("the volume went with the machine")
    await stage.post(case.notes["volume_path"], {}, key=f"{case.key}-delete", method="DELETE")

    async def not_deleted() -> str:
        (row,) = await stage.query("select status from volumes where id = $1", case.notes["volume"])
        return "" if row["status"] == "deleted" else f"the volume is {row['status']}"

    await stage.reach(not_deleted)
    if kept.exists():
        raise Broken("the volume is deleted and its data is not")
