"""Bundles come to nodes and machines, and go from them."""

import itertools

from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.domain.runtimes.catalog import publish_as
from tests.crash.stages import Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case, is_proven
from tests.runtimes.wheels import publication

SLUG, READY = "tiny-data", "1.0"
STATE = "select state, reason, observed_bundle_id from allocation_runtimes where allocation_id = $1"
STAGING = "select status, reason, proofs from node_bundles where bundle_id = $1"
BARE = "gpuaas-runtime current 2>&1; find /etc/gpuaas/runtime/ -type l -o -name '*.env' | wc -l"
_versions = itertools.count(2)


async def shelve(stage: Stage, version: str) -> None:
    """On offer, once."""
    if await stage.query("select from managed_runtime_bundles where slug = $1 and version = $2", SLUG, version):
        return
    data = publication(stage.wheels, version, slug=SLUG)
    db = await connect(stage.dsn, DbRole.WORKER, hints=Hints("shelf"), size=1)
    try:
        async with db.write() as tx:
            await publish_as(tx, data, by="system", ids=stage.ids, now=SystemClock().now())
    finally:
        await db.close()


async def shelve_next(stage: Stage) -> str:
    """A version that no node has."""
    version = f"{next(_versions)}.0"
    await shelve(stage, version)
    return version


async def apply(stage: Stage, case: Case) -> None:
    body: dict[str, object] = {"runtime_bundle_slug": SLUG, "version": case.notes["version"]}
    await stage.change(case.allocation_id, "runtime-bundles", body, case.key)


async def not_applied(stage: Stage, case: Case) -> str:
    """Until the version is current inside, and works there."""
    (row,) = await stage.query(STATE, case.allocation_id)
    if row["state"] == "failed":
        raise Broken(f"the runtime failed: {row['reason']}")
    if row["state"] != "applied":
        return f"the runtime is {row['state']}"
    said = await stage.says(case.allocation_id, f"gpuaas-runtime run {SLUG} -- tiny")
    if said != f"tiny {case.notes['version']}":
        raise Broken(f"{case.allocation_id} says {said}, not {case.notes['version']}")
    return ""


async def equipped(stage: Stage, case: Case) -> None:
    await machines.furnished(stage, case)
    await equip(stage, case)


async def equip(stage: Stage, case: Case) -> None:
    """One version applied, on a node that has two."""
    case.notes["version"] = await shelve_next(stage)
    await shelve(stage, READY)
    for version in (case.notes["version"], READY):
        await put_on(stage, case, version)


async def put_on(stage: Stage, case: Case, version: str) -> None:
    applying = Case(f"{case.key}-{version}", case.allocation_id, {"version": version})
    await apply(stage, applying)
    await stage.reach(lambda: not_applied(stage, applying))


async def curious(stage: Stage, case: Case) -> None:
    """A machine, and a bundle that its node does not have."""
    await machines.furnished(stage, case)
    case.notes["version"] = await shelve_next(stage)


async def dressed(stage: Stage, case: Case) -> None:
    await machines.furnished(stage, case)
    await shelve(stage, READY)
    await put_on(stage, case, READY)


async def clear(stage: Stage, case: Case) -> None:
    await stage.post(f"/allocations/{case.allocation_id}/runtime-bundles", {}, key=case.key, method="DELETE")


async def not_cleared(stage: Stage, case: Case) -> str:
    """Until nothing is current inside; the node keeps the bundle, and who names it may use it."""
    (row,) = await stage.query(STATE, case.allocation_id)
    if row["state"] == "failed":
        raise Broken(f"clearing failed: {row['reason']}")
    if row["state"] != "cleared":
        return f"the runtime is {row['state']}"
    said = await stage.says(case.allocation_id, f"{BARE}; gpuaas-runtime run {SLUG}@{READY} -- tiny")
    current, left, named = said.splitlines()
    if "raw compute" not in current or (left, named) != ("0", f"tiny {READY}") or row["observed_bundle_id"]:
        raise Broken(f"{case.allocation_id} is cleared and says {said!r}")
    return ""


async def shelved(stage: Stage, case: Case) -> None:
    """A bundle on the node that no machine has."""
    case.notes["version"] = version = await shelve_next(stage)
    ((bundle_id, node_id),) = await stage.query(
        "select b.id, n.id from managed_runtime_bundles b, nodes n where b.slug = $1 and b.version = $2", SLUG, version
    )
    case.notes |= {"bundle": bundle_id, "node": node_id}
    place = f"/admin/runtime-bundles/{bundle_id}/stage"
    await stage.post(place, {"node_ids": [node_id]}, key=f"{case.key}-stage", token=stage.operator)
    await stage.reach(lambda: staging_is_not(stage, case, "staged"))


async def staging_is_not(stage: Stage, case: Case, wanted: str) -> str:
    (row,) = await stage.query(STAGING, case.notes["bundle"])
    if row["status"] == "failed":
        raise Broken(f"the staging failed: {row['reason']}")
    return "" if row["status"] == wanted else f"the staging is {row['status']}"


async def unstage(stage: Stage, case: Case) -> None:
    place = f"/admin/runtime-bundles/{case.notes['bundle']}/nodes/{case.notes['node']}"
    await stage.post(place, {}, key=case.key, method="DELETE", token=stage.operator)


async def not_unstaged(stage: Stage, case: Case) -> str:
    """Until its folder is gone, and proven to be."""
    if waiting := await staging_is_not(stage, case, "removed"):
        return waiting
    (row,) = await stage.query(STAGING, case.notes["bundle"])
    left = [str(path) for path in stage.machine.site.runtimes.rglob(f"*{case.notes['version']}*")]
    if left or not is_proven(row["proofs"]):
        raise Broken(f"the bundle is off the node; its proofs are {row['proofs']}, and there is {left}")
    return ""
