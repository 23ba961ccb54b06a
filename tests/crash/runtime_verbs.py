"""A bundle applied while processes die: one that the node has, and one that it has to stage first."""

import itertools

import asyncssh

from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.domain.runtimes.catalog import publish_as
from tests.crash.stages import Broken, Stage
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


async def apply(stage: Stage, allocation_id: str, version: str, key: str) -> None:
    body: dict[str, object] = {"runtime_bundle_slug": SLUG, "version": version}
    await stage.change(allocation_id, "runtime-bundles", body, key)


async def not_applied(stage: Stage, allocation_id: str, version: str) -> str:
    """Until the version is current inside, and works there."""
    (row,) = await stage.query(STATE, allocation_id)
    if row["state"] == "failed":
        raise Broken(f"the runtime failed: {row['reason']}")
    if row["state"] != "applied":
        return f"the runtime is {row['state']}"
    try:
        said = await stage.says(allocation_id, f"gpuaas-runtime run {SLUG} -- tiny")
    except (OSError, TimeoutError, asyncssh.Error) as error:
        return f"SSH: {error!r}"
    if said != f"tiny {version}":
        raise Broken(f"{allocation_id} says {said}, not {version}")
    return ""
