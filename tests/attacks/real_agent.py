"""A real agent in a process of its own, with the oci engine, beside a real control plane."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from gpuaas.agent import identity
from gpuaas.core.points import NoPoints
from gpuaas.main.agent import oci
from gpuaas.wire.environments import Environment, EnvironmentState
from tests.engines.benches import Key
from tests.engines.openssh import OpenSsh
from tests.live import eventually
from tests.world import World

AGENT = ("-m", "gpuaas.main", "agent")


async def enrol(world: World, url: str, folder: Path, *, gpus: int) -> str:
    """Enrolled with all its slots approved; its node's id."""
    operator = world.operator.http
    asked = {"node_name": folder.name.replace("_", "-").strip("-")}
    issued = (await operator.post("/api/v1/admin/enrolment-tokens", json=asked)).raise_for_status().json()
    facts = await oci(folder, gpus=gpus).probe()
    await identity.enrol(url, issued["token"], folder, facts, agent_version="1", points=NoPoints())
    for index in range(gpus):
        approve = f"/api/v1/admin/nodes/{issued['node_id']}/slots/{index}/approve"
        (await operator.post(approve, json={})).raise_for_status()
    return str(issued["node_id"])


@asynccontextmanager
async def running_agent(
    world: World,
    folder: Path,
    node_id: str,
    *,
    program: Sequence[str] = AGENT,
    ports: range,
    files: int = 0,
    wrap: Sequence[str] = (),
    options: Sequence[str] = (),
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Until the end of the block; `files` is the most it may ever open, `wrap` a program that executes it."""
    limit = (*wrap, *(("prlimit", f"--nofile={files}:{files}") if files else ()))
    words = ("--folder", str(folder), "--gpus", "2", "--ports", f"{ports[0]}-{ports[-1]}", "--stop-environments")
    command = (*limit, sys.executable, *program, *words, *options, "--with-parent", str(os.getpid()))
    with (folder / "agent.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL, stderr=log)

    async def is_online() -> bool:
        assert process.returncode is None, (folder / "agent.log").read_text()
        node = (await world.operator.http.get(f"/api/v1/admin/nodes/{node_id}")).json()
        return node["offline_since"] is None and any(world.services.index.fleet.views())

    try:
        await eventually(is_online)
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def allocation(world: World, folder: Path) -> tuple[str, OpenSsh, Key]:
    """An active allocation of Ada's, and the way in."""
    key = Key()
    line = f"{key.authorized.type} {key.authorized.blob}"
    title = key.authorized.fingerprint[-8:]
    added = await world.http.post("/api/v1/ssh-keys", json={"title": title, "public_key": line})
    id = str((await world.submit(ssh_key_ids=[added.json()["id"]])).json()["allocations"][0]["id"])

    async def is_up() -> bool:
        shown = await world.seen(id)
        assert shown["status"] != "failed", shown["status_reason"]
        return bool(shown["status"] == "active")

    await eventually(is_up)
    connection = (await world.seen(id))["connection"]
    where = Environment(
        allocation_id=id,
        state=EnvironmentState.RUNNING,
        boot=1,
        port=connection["port"],
        host_key=connection["host_key"],
    )
    return id, OpenSsh(folder, where, key, "gpu"), key
