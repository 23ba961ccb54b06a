"""Actions of people and operators over HTTP; the server may run the code of any release."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import httpx

from gpuaas.agent import identity
from gpuaas.agent.loop import run_agent
from gpuaas.core.clock import SystemClock
from gpuaas.core.points import NoPoints
from gpuaas.engines.fake import FakeEngine
from tests.patience import PATIENCE_SECONDS
from tests.world import SLICE

GPUS = 2
T = TypeVar("T")


class Account(Protocol):
    """Values of a create request that depend on the requester."""

    @property
    def key_id(self) -> str: ...

    @property
    def project_id(self) -> str: ...


@asynccontextmanager
async def client(url: str, token: str) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as http:
        yield http


async def enrol(url: str, operator: str, folder: Path) -> str:
    """Make a folder a node of that server, with its slots approved; the node's id."""
    async with client(url, operator) as http:
        issued = (await http.post("/api/v1/admin/enrolment-tokens", json={"node_name": folder.name})).raise_for_status()
        facts = await FakeEngine(clock=SystemClock().now, gpus=GPUS).probe()
        token = issued.json()["token"]
        node = await identity.enrol(url, token, folder, facts, agent_version="1", points=NoPoints())
        for gpu in facts.gpus:
            path = f"/api/v1/admin/nodes/{node.node_id}/slots/{gpu.index}/approve"
            (await http.post(path, json={})).raise_for_status()
    return node.node_id


async def create(http: httpx.AsyncClient, person: Account, **fields: Any) -> str:
    """An allocation of one GPU that has become active."""
    body = {"sku": SLICE, "ssh_key_ids": [person.key_id], "project_id": person.project_id, **fields}

    async def asked() -> str | None:
        """A node that came a moment ago is not offered at once."""
        answer = await http.post("/api/v1/allocations", json=body, headers={"X-Idempotency-Key": uuid4().hex})
        if answer.status_code == httpx.codes.CONFLICT:
            return None
        assert answer.is_success, answer.text
        return str(answer.raise_for_status().json()["allocations"][0]["id"])

    id = await until(asked)
    await reaches(http, id, "active")
    return id


async def release(http: httpx.AsyncClient, id: str) -> None:
    (await http.post(f"/api/v1/allocations/{id}/release", json={"reason": "done"})).raise_for_status()
    await reaches(http, id, "released")


async def restart(http: httpx.AsyncClient, id: str) -> None:
    (await http.post(f"/api/v1/allocations/{id}/restart", json={"reason": "driver"})).raise_for_status()
    await reaches(http, id, "active")


async def reaches(http: httpx.AsyncClient, id: str, status: str) -> None:
    async def is_there() -> bool:
        answer = (await http.get(f"/api/v1/allocations/{id}")).raise_for_status().json()
        assert answer["status"] not in {"failed", "release_failed"}, answer
        return bool(answer["status"] == status)

    await until(is_there)


async def shown(http: httpx.AsyncClient, id: str) -> dict[str, Any]:
    answer: dict[str, Any] = (await http.get(f"/api/v1/allocations/{id}")).raise_for_status().json()
    return answer


async def listed(http: httpx.AsyncClient, project_id: str) -> list[dict[str, Any]]:
    """All allocations of a project, page by page."""
    rows: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        asked: dict[str, str | int] = {"limit": 100, **({"cursor": cursor} if cursor else {})}
        answer = (await http.get(f"/api/v1/projects/{project_id}/allocations", params=asked)).raise_for_status().json()
        rows, cursor = [*rows, *answer["items"]], answer["next_cursor"]
    return rows


async def settles(http: httpx.AsyncClient, id: str) -> str:
    """Until its cleanup is proven; released here where the load did not come to it."""

    async def is_settled() -> str | None:
        row = await shown(http, id)
        if row["status"] in {"active", "release_failed"}:
            await http.post(f"/api/v1/allocations/{id}/release", json={"reason": "load"})
        return str(row["status"]) if row["cleanup_proven"] else None

    return await until(is_settled)


async def phases(http: httpx.AsyncClient, id: str) -> list[str]:
    """Of its timeline, newest first."""
    answer = (await http.get(f"/api/v1/allocations/{id}/timeline")).raise_for_status().json()
    return [entry["phase"] for entry in answer["items"]]


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := await look()):
            await asyncio.sleep(0.05)
    return found


@asynccontextmanager
async def new_agent(folder: Path) -> AsyncIterator[None]:
    """An agent of this code for a node that is enrolled."""
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_agent(
            folder=folder,
            engine=FakeEngine(clock=SystemClock().now, gpus=GPUS),
            clock=SystemClock(),
            points=NoPoints(),
            stop=stop,
            stop_environments=lambda: False,
            agent_version="1",
        )
    )
    try:
        yield
    finally:
        stop.set()
        await running
