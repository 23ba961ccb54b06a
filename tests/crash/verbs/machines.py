"""Machines are made, restarted, resized, given more time and given back."""

from datetime import datetime, timedelta

from tests.crash.stages import Broken, Stage
from tests.crash.verbs.cases import Case


async def create(stage: Stage, case: Case) -> None:
    case.allocation_id = await stage.create(case.key)


async def not_admitting(stage: Stage, case: Case) -> str:
    """Until the person is in, with their own key, on a machine with its own name."""
    row = await stage.row(case.allocation_id)
    if row["status"] == "failed":
        raise Broken(f"{row['id']} failed: {row['status_reason']}")
    if row["status"] != "active":
        return f"{row['id']} is {row['status']}"
    hostname = await stage.says(row["id"], "hostname")
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


async def limited(stage: Stage, case: Case) -> None:
    """A machine that ends in a day."""
    await furnished(stage, case)
    await limit(stage, case)


async def limit(stage: Stage, case: Case) -> None:
    await stage.change(case.allocation_id, "extend", {"hours": 24}, f"{case.key}-limit")
    case.notes["end"] = (await stage.row(case.allocation_id))["expires_at"].isoformat()


async def extend(stage: Stage, case: Case) -> None:
    await stage.change(case.allocation_id, "extend", {"hours": 2}, case.key)


async def not_extended(stage: Stage, case: Case) -> str:
    """Once, however often it was asked for; and nobody inside was disturbed."""
    row = await stage.row(case.allocation_id)
    longer = row["expires_at"] - datetime.fromisoformat(case.notes["end"])
    if longer != timedelta(hours=2):
        raise Broken(f"{row['id']} ends {longer} later")
    if str(row["boot"]) != case.notes["boot"]:
        raise Broken(f"{row['id']} is at boot {row['boot']}")
    return await not_admitting(stage, case)


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
