"""Clients that create, restart, attach and release through the API, and write down what was acknowledged to them."""

import asyncio
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

SKU = "sim-h200-slice"
WAIT_SECONDS = 30.0
MOST_KEPT = 3


@dataclass(frozen=True)
class Ack:
    """An operation that a client was told of: accepted, under this id."""

    kind: str
    allocation_id: str
    operation_id: str
    at: float


@dataclass
class Record:
    """Of one scenario; `kept` allocations stay from one to the next."""

    acks: list[Ack] = field(default_factory=list)
    released: set[str] = field(default_factory=set)  # somebody asked for it, acknowledged or not
    kept: set[str] = field(default_factory=set)
    refused: int = 0  # answers that were neither an acknowledgement nor a reason to try again
    errors: int = 0  # answers 500


class Load:
    def __init__(self, url: str, token: str, *, project: str, key_id: str, volumes: list[str], seed: int) -> None:
        self._http = httpx.AsyncClient(
            base_url=f"{url}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=8,
            limits=httpx.Limits(max_keepalive_connections=0),
        )
        self._project, self.key_id, self._volumes = project, key_id, volumes
        self._random = random.Random(seed)
        self.record = Record()
        self._ends_at = 0.0
        self.pause = 0.3  # between two tries

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, clients: int, until: asyncio.Event) -> None:
        """Until told to stop; then every client ends what it has begun."""
        self._ends_at = float("inf")
        tasks = [asyncio.create_task(self._live(until, number)) for number in range(clients)]
        await until.wait()
        self._ends_at = time.monotonic() + WAIT_SECONDS
        await asyncio.gather(*tasks)

    async def ask(self, method: str, path: str, body: dict[str, object] | None = None) -> Any:
        """With one idempotency key until there is an answer; None when there was none, or a refusal."""
        headers = {"X-Idempotency-Key": uuid.uuid4().hex} if method != "GET" else {}
        while time.monotonic() < self._ends_at:
            try:
                answer = await self._http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                await asyncio.sleep(self.pause)
                continue
            if answer.status_code >= 500 or (answer.content and answer.json().get("code") == "request_in_progress"):
                self.record.errors += answer.status_code == 500
                await asyncio.sleep(self.pause)
                continue
            if answer.is_success:
                return answer.json() if answer.content else {}
            self.record.refused += 1
            return None
        return None

    async def insist(self, method: str, path: str, body: dict[str, object]) -> Any:
        """Outside a run: until there is an acknowledgement."""
        self._ends_at = time.monotonic() + 2 * WAIT_SECONDS
        answer = await self.ask(method, path, body)
        assert answer is not None, f"{method} {path} was refused"
        return answer

    def _acknowledged(self, kind: str, allocation_id: str, operation_id: str | None) -> None:
        self.record.acks.append(Ack(kind, allocation_id, operation_id or "", time.time()))

    async def _live(self, until: asyncio.Event, number: int) -> None:
        await asyncio.sleep(number * 0.05)
        while not until.is_set():
            await self._once(self._volumes[number % len(self._volumes)])
            await asyncio.sleep(0.05)

    async def _once(self, volume: str) -> None:
        made = await self.ask("POST", "/allocations", {"sku": SKU, "ssh_key_ids": [self.key_id]})
        if made is None:
            await asyncio.sleep(0.5)
            return
        allocation = made["allocations"][0]
        id = str(allocation["id"])
        self._acknowledged("create", id, allocation.get("operation_id"))
        if await self._is_active(id):
            match self._random.randrange(3):
                case 0:
                    if (done := await self.ask("POST", f"/allocations/{id}/restart", {})) is not None:
                        self._acknowledged("restart", id, done.get("operation_id"))
                case 1:
                    await self._attach_and_detach(id, volume)
        if len(self.record.kept) < MOST_KEPT and await self._is_active(id):
            self.record.kept.add(id)
            return
        await self.release(id)

    async def release(self, id: str) -> None:
        self.record.released.add(id)
        if (done := await self.ask("POST", f"/allocations/{id}/release", {"reason": "done"})) is not None:
            self._acknowledged("release", id, done.get("operation_id"))

    async def _attach_and_detach(self, id: str, volume: str) -> None:
        """At once one after the other: the second takes the place of the first."""
        place = f"/allocations/{id}/storage-attachments"
        made = await self.ask("POST", place, {"volume_id": volume, "mount_path": "/data"})
        if made is None:
            return
        self._acknowledged("attach", id, made.get("operation_id"))
        done = await self.ask("DELETE", f"{place}/{made['id']}")
        if done is not None:
            self._acknowledged("detach", id, (done or {}).get("operation_id"))

    async def _is_active(self, id: str) -> bool:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < min(deadline, self._ends_at):
            found = await self.ask("GET", f"/allocations/{id}")
            if found is None or found["status"] in ("failed", "released"):
                return False
            if found["status"] == "active":
                return True
            await asyncio.sleep(0.2)
        return False
