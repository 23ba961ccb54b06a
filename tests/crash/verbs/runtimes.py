"""Bundles are applied: one that the node has, and one that it has to stage first."""

import itertools

from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.domain.runtimes.catalog import publish_as
from tests.crash.stages import UNREACHED, Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case
from tests.runtimes.wheels import publication

SLUG, READY = "tiny-data", "1.0"
STATE = "select state, reason, observed_boot from allocation_runtimes where allocation_id = $1"
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
    try:
        said = await stage.says(case.allocation_id, f"gpuaas-runtime run {SLUG} -- tiny")
    except UNREACHED as error:
        return f"SSH: {error!r}"
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
