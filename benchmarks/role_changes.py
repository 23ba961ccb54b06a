"""T18, T27: from each change of access to the refusal of a new login and to the end of live connections.

`gpuaas up`, the SDK, SSH, browser terminals and event streams. Each change is made over and over for people who work on
one shared allocation; before each, the person has an SSH connection, a terminal and an event stream open.
"""

import asyncio
import contextlib
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncssh
import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.create_to_ssh import connection_of, up
from benchmarks.harness import CannotMeasureError, Run, load, percentile
from benchmarks.revokes import Guest, shared_machine
from gpuaas.sdk.client import AsyncClient
from gpuaas.sdk.errors import ApiError
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.identity import Role, Scope
from gpuaas.wire.terminals import SUBPROTOCOL, TerminalToken

PEOPLE = 12  # one person may mint ten terminal tokens a minute
LIMIT_SECONDS, MOST_SECONDS = 2.0, 30.0
REFUSED, TOO_MANY = (401, 403, 404), 429


@dataclass
class Times:
    """Seconds from the moment the change was sent."""

    answered: float
    ssh_refused: float
    terminal_refused: float
    ssh_cut: float
    terminal_cut: float
    stream_cut: float | None = None  # only where the change also ends the right to read


@dataclass
class Worker:
    """A member who was let into the shared allocation, with a session and, for one change, a token."""

    session: AsyncClient
    email: str
    user_id: str
    key: asyncssh.SSHKey
    session_token: str
    grant_id: str = ""
    token_id: str = ""
    token: str = ""  # the personal token, where the change is about one


@dataclass
class Place:
    """The shared allocation and whoever holds it."""

    url: str
    holder: AsyncClient
    machine: Allocation
    workers: list[Worker] = field(default_factory=list)

    async def let_in(self, worker: Worker, key_id: str) -> None:
        id = self.machine.id
        worker.grant_id = (await self.holder.access_grants.create(id, worker.user_id, ssh_key_id=key_id)).id
        deadline = time.perf_counter() + MOST_SECONDS
        while not (await self.holder.access_grants.get(id, worker.grant_id)).installed:
            if time.perf_counter() > deadline:
                raise CannotMeasureError("a grant did not reach its allocation")
            await asyncio.sleep(0.01)

    async def add_key(self, client: AsyncClient, worker: Worker) -> str:
        worker.key = asyncssh.generate_private_key("ssh-ed25519")
        return (await client.ssh_keys.add("bench", worker.key.export_public_key().decode().strip())).id


Step = Callable[[Place, Worker], Awaitable[None]]


@dataclass(frozen=True)
class Change:
    """How somebody gets in, what takes it away, and how it is as before afterwards."""

    name: str
    prepare: Step
    make: Step
    restore: Step
    ends_reading: bool = False


async def with_a_grant(place: Place, worker: Worker) -> None:
    await place.let_in(worker, await place.add_key(worker.session, worker))


async def with_a_token(place: Place, worker: Worker) -> None:
    made = await worker.session.tokens.create("bench", [Scope.READ, Scope.WRITE])
    worker.token_id, worker.token = made.details.id, made.token
    async with AsyncClient(place.url, made.token) as client:
        await place.let_in(worker, await place.add_key(client, worker))


async def lower(place: Place, worker: Worker) -> None:
    await place.holder.members.change(place.machine.project_id, worker.user_id, Role.VIEWER)


async def raise_again(place: Place, worker: Worker) -> None:
    await place.holder.members.change(place.machine.project_id, worker.user_id, Role.MEMBER)
    await forget_keys(place, worker)


async def remove(place: Place, worker: Worker) -> None:
    await place.holder.members.remove(place.machine.project_id, worker.user_id)


async def invite_again(place: Place, worker: Worker) -> None:
    sent = await place.holder.members.invite(place.machine.project_id, worker.email, role=Role.MEMBER)
    await worker.session.invitations.accept(sent.link)
    await forget_keys(place, worker)


async def revoke_grant(place: Place, worker: Worker) -> None:
    await place.holder.access_grants.revoke(place.machine.id, worker.grant_id)


async def revoke_token(place: Place, worker: Worker) -> None:  # noqa: ARG001 - the shape of a step
    await worker.session.tokens.revoke(worker.token_id)


async def forget_keys(place: Place, worker: Worker) -> None:  # noqa: ARG001 - the shape of a step
    async for key in worker.session.ssh_keys.list():
        await worker.session.ssh_keys.remove(key.id)


async def end_grant(place: Place, worker: Worker) -> None:
    """The revoked token took the key with it, and the grant waits for another."""
    await revoke_grant(place, worker)
    worker.token = ""


CHANGES = (
    Change("role lowered to viewer", with_a_grant, lower, raise_again),
    Change("member removed", with_a_grant, remove, invite_again, ends_reading=True),
    Change("grant revoked", with_a_grant, revoke_grant, forget_keys),
    Change("token revoked", with_a_token, revoke_token, end_grant, ends_reading=True),
)


async def run(run: Run) -> None:
    each = run.options.pick(60, 5)
    run.facts["load before"] = load()
    got: dict[str, list[Times]] = {change.name: [] for change in CHANGES}
    async with up(run.scratch / "up") as file, contextlib.AsyncExitStack() as stack:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        holder = await stack.enter_async_context(AsyncClient(file.url, token))
        machine = await shared_machine(holder, file, asyncssh.generate_private_key("ssh-ed25519"))
        place = Place(file.url, holder, machine)
        for number in range(PEOPLE):
            place.workers.append(await hired(stack, place, number))
        for number in range(each * len(CHANGES)):
            change = CHANGES[number % len(CHANGES)]
            worker = place.workers[number % PEOPLE]
            got[change.name].append(await measured(place, worker, change))
    report(run, got)


async def hired(stack: contextlib.AsyncExitStack, place: Place, number: int) -> Worker:
    email = f"worker{number}@example.com"
    # Each person signs up from an address of their own: many sign-ups from one are slowed down.
    transport = httpx.AsyncHTTPTransport(local_address=f"127.0.0.{number + 2}")
    async with httpx.AsyncClient(base_url=place.url, transport=transport, timeout=MOST_SECONDS) as stranger:
        credentials = {"email": email, "password": "a long enough password"}
        answer = await stranger.post("/api/v1/auth/personal/signup", json=credentials)
        token = str(answer.raise_for_status().json()["access_token"])
    session = await stack.enter_async_context(AsyncClient(place.url, token))
    sent = await place.holder.members.invite(place.machine.project_id, email, role=Role.MEMBER)
    await session.invitations.accept(sent.link)
    user_id = (await session.auth.me()).user.id
    return Worker(session, email, user_id, asyncssh.generate_private_key("ssh-ed25519"), token)


async def measured(place: Place, worker: Worker, change: Change) -> Times:
    await change.prepare(place, worker)
    door, id = connection_of(place.machine), place.machine.id
    visitor = Guest(worker.key, door.host, door.port, door.username)
    async with contextlib.AsyncExitStack() as stack:
        client = worker.session
        if worker.token:
            client = await stack.enter_async_context(AsyncClient(place.url, worker.token))
        _, lost = await visitor.enter()
        terminal = await opened_terminal(stack, place, client)
        stream = await opened_stream(stack, place, worker.token or worker.session_token)
        began = time.perf_counter()
        refusal = asyncio.create_task(visitor.refused())
        await change.make(place, worker)
        answered = time.perf_counter()
        async with asyncio.timeout(MOST_SECONDS):
            terminal_refused = await refused_terminal(client, id)
            ssh_refused, ssh_cut, terminal_cut = await asyncio.gather(refusal, lost.at, terminal)
            stream_cut = await stream if change.ends_reading else None
    await change.restore(place, worker)
    return Times(
        answered=answered - began,
        ssh_refused=ssh_refused - began,
        terminal_refused=terminal_refused - began,
        ssh_cut=ssh_cut - began,
        terminal_cut=terminal_cut - began,
        stream_cut=None if stream_cut is None else stream_cut - began,
    )


async def opened_terminal(stack: contextlib.AsyncExitStack, place: Place, client: AsyncClient) -> asyncio.Task[float]:
    """A terminal that is open; when its socket ended."""
    while (minted := await mint(client, place.machine.id)) is None:
        await asyncio.sleep(1)
    address = f"ws{place.url.removeprefix('http')}/api/v1/terminal/{place.machine.id}"
    protocols: Any = [SUBPROTOCOL, minted.token]
    socket = await stack.enter_async_context(connect(address, subprotocols=protocols, compression=None, proxy=None))
    await socket.recv()

    async def end() -> float:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
        return time.perf_counter()

    return watched(stack, asyncio.create_task(end()))


async def opened_stream(stack: contextlib.AsyncExitStack, place: Place, token: str) -> asyncio.Task[float]:
    http = await stack.enter_async_context(httpx.AsyncClient(base_url=place.url, timeout=MOST_SECONDS))
    path, headers = f"/api/v1/projects/{place.machine.project_id}/events", {"Authorization": f"Bearer {token}"}
    answer = await stack.enter_async_context(http.stream("GET", path, headers=headers))
    answer.raise_for_status()
    lines = answer.aiter_lines()
    await anext(lines)

    async def end() -> float:
        async for _ in lines:
            pass
        return time.perf_counter()

    return watched(stack, asyncio.create_task(end()))


def watched(stack: contextlib.AsyncExitStack, task: asyncio.Task[float]) -> asyncio.Task[float]:
    async def cancel() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    stack.push_async_callback(cancel)
    return task


async def mint(client: AsyncClient, id: str) -> TerminalToken | None:
    """None while the person has minted too many."""
    try:
        return await client.allocations.mint_terminal_token(id)
    except ApiError as error:
        if error.status != TOO_MANY:
            raise
        return None


async def refused_terminal(client: AsyncClient, id: str) -> float:
    while True:
        try:
            await mint(client, id)
        except ApiError as error:
            if error.status not in REFUSED:
                raise
            return time.perf_counter()


def report(run: Run, got: dict[str, list[Times]]) -> None:
    for name, times in got.items():
        for part, words in (
            ("ssh_refused", "SSH login refused"),
            ("terminal_refused", "terminal refused"),
            ("ssh_cut", "SSH connection cut"),
            ("terminal_cut", "terminal cut"),
            ("stream_cut", "event stream cut"),
        ):
            values = [value for each in times if (value := getattr(each, part)) is not None]
            if not values:
                continue
            run.keep(f"T27 {name} → {part} ms", [value * 1000 for value in values])
            p50, p99, most = statistics.median(values), percentile(values, 0.99), max(values)
            run.row(
                f"T27 {name} → {words}, {len(values)} times",
                f"p50 {p50 * 1000:.0f}  p99 {p99 * 1000:.0f}  max {most * 1000:.0f} ms",
                f"≤ {LIMIT_SECONDS:.0f} s",
                met=most <= LIMIT_SECONDS,
            )
    run.note(f"load {run.facts['load before']} before and {load()} after")
