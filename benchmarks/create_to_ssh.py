"""S1: from a client's request to a command run over SSH inside a new machine, on an idle system: `gpuaas up` as anybody
would start it, the SDK, OpenSSH. Floors of the same run: Slurm's salloc + srun, OpenSSH into a plain sshd, and OpenSSH
into an allocation that is there already. Creates that use a spare and creates on demand are told apart."""

import asyncio
import contextlib
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from benchmarks.harness import CannotMeasureError, Run, needs, percentile
from benchmarks.peers.slurm import run as run_program
from benchmarks.peers.slurm import slurm
from benchmarks.peers.sshd import plain_sshd
from benchmarks.stage import SKU, free_port, process
from gpuaas.main.up_file import UpFile, read
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.allocations import Allocation, SshConnection, Status
from gpuaas.wire.timeline import Entry

UP_SECONDS = 60.0
SPARE_NOTE = "a spare is ready"
PAUSE_SECONDS = 1.5  # until the next spare is made, as between people
BLOCK = 5  # of ours, then of the floors, then the other way round


@dataclass
class Times:
    """Seconds of one create; the shares come from the timeline, all by one machine's clock."""

    accepted: float  # the answer to the request
    banner: float
    total: float  # the first command has run
    control: float  # accepted → the agent starts
    agent: float  # the agent starts → its last word
    told: float  # its last word → active
    is_spare: float  # 1: a prepared environment was used
    is_early: float  # 1: it connected to `early_connection`


async def run(run: Run) -> None:
    creates = run.options.pick(200, 20)
    needs("ssh", "openssh-client")
    got: list[Times] = []
    slurms: list[float] = []
    bare: list[float] = []
    standing_logins: list[float] = []
    async with up(run.scratch / "up") as file, contextlib.AsyncExitStack() as stack:
        cluster = None
        (run.scratch / "slurm").mkdir()
        try:
            cluster = await stack.enter_async_context(slurm(run.scratch / "slurm"))
        except CannotMeasureError as why:
            run.note(f"Slurm was not measured: {why}")
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        client = await stack.enter_async_context(AsyncClient(file.url, token))
        person = await Person.with_key(client, file, run.scratch)
        standing = await person.create("standing")
        plain = await stack.enter_async_context(plain_sshd(run.scratch / "sshd", person.key))

        async def ours() -> None:
            for _ in range(BLOCK):
                got.append(await person.create_and_enter(f"bench-{len(got)}"))

        async def floors() -> None:
            for _ in range(BLOCK):
                if cluster:
                    slurms.append(await cluster.allocate())
                bare.append(await timed(plain.ssh("true")))
                standing_logins.append(await person.enter(standing))

        await person.create_and_enter("first")  # the first of all also fills caches
        for number in range(-(-creates // BLOCK)):
            for side in (ours, floors) if number % 2 == 0 else (floors, ours):
                await side()
    run.keep("S1 login into a standing allocation ms", [each * 1000 for each in standing_logins])
    run.row("S1 login into a standing allocation, p50", f"{statistics.median(standing_logins) * 1000:.0f} ms")
    report(run, got, slurms, bare)


async def timed(command: list[str]) -> float:
    began = time.perf_counter()
    await run_program(command, {})
    return time.perf_counter() - began


def report(run: Run, got: list[Times], slurms: list[float], bare: list[float]) -> None:
    def of(part: str) -> list[float]:
        return [getattr(each, part) * 1000 for each in got]

    for part in Times.__dataclass_fields__:
        run.keep(f"S1 {part} ms", of(part))
    run.keep("S1 slurm salloc+srun ms", [each * 1000 for each in slurms])
    run.keep("S1 bare ssh ms", [each * 1000 for each in bare])
    total, banner = of("total"), of("banner")
    p50, p99 = statistics.median(total), percentile(total, 0.99)
    run.row(f"S1 create → command over SSH, p50 of {len(got)}", f"{p50:.0f} ms", "≤ 300 ms", met=p50 <= 300)
    run.row("S1 create → command over SSH, p99", f"{p99:.0f} ms", "≤ 800 ms", met=p99 <= 800)
    middle = statistics.median(banner)
    run.row("S1 request → SSH banner, p50", f"{middle:.0f} ms", "≤ 80 ms", met=middle <= 80)
    ssh = statistics.median(bare) * 1000
    run.row("S1 plain sshd: login + command, p50", f"{ssh:.0f} ms  p99 {percentile(bare, 0.99) * 1000:.0f} ms")
    run.row("S1 create → command to a plain login", f"{p50 / ssh:.2f} x", "≤ 1.5 x", met=p50 <= 1.5 * ssh)
    spare = sum(each.is_spare for each in got)
    run.row("S1 creates that used a spare", f"{spare:.0f} of {len(got)}")
    run.row("S1 creates that connected early", f"{sum(each.is_early for each in got):.0f} of {len(got)}")
    run.row("S1 request → answer, p50", f"{statistics.median(of('accepted')):.0f} ms")
    run.row("S1 control plane: accepted → agent starts, p50", f"{statistics.median(of('control')):.1f} ms")
    run.row("S1 agent and engine, p50", f"{statistics.median(of('agent')):.1f} ms")
    run.row("S1 agent's last word → active, p50", f"{statistics.median(of('told')):.1f} ms")
    if slurms:
        peer = statistics.median(slurms) * 1000
        share = statistics.median(of("control")) / peer
        run.row("S1 Slurm salloc + srun, p50", f"{peer:.0f} ms  p99 {percentile(slurms, 0.99) * 1000:.0f} ms")
        run.row("S1 control-plane share to Slurm", f"{share:.2f} x", "≤ 1.0 x", met=share <= 1)
    run.note("JupyterHub (S1's ratio to its spawn) is not measured here")


@asynccontextmanager
async def up(folder: Path) -> AsyncIterator[UpFile]:
    """`gpuaas up`, as a person would; nothing is pinned, as nothing would be."""
    folder.mkdir()
    folder.chmod(0o755)
    log = folder.parent / "up.log"
    command = [sys.executable, "-m", "gpuaas.main", "up", "--data", str(folder), "--port", str(free_port())]
    async with process(command, log) as child:
        deadline = time.monotonic() + UP_SECONDS
        while "is up at" not in log.read_text(errors="replace"):
            if child.returncode is not None or time.monotonic() > deadline:
                raise CannotMeasureError(f"`gpuaas up` did not come up: {log.read_text(errors='replace')[-1500:]}")
            await asyncio.sleep(0.1)
        file = read(folder / "up.json")
        if file is None:
            raise CannotMeasureError("`gpuaas up` left no up.json")
        yield file


class Person:
    """Somebody with the SDK, an SSH key and OpenSSH."""

    def __init__(self, client: AsyncClient, project_id: str, key: Path, key_id: str) -> None:
        self._client, self._project, self.key, self._key_id = client, project_id, key, key_id

    @classmethod
    async def with_key(cls, client: AsyncClient, file: UpFile, scratch: Path) -> "Person":
        key = scratch / "id_ed25519"
        await run_program(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], {})
        added = await client.ssh_keys.add("bench", key.with_suffix(".pub").read_text().strip())
        return cls(client, file.project_id or "", key, added.id)

    async def create(self, name: str) -> SshConnection:
        return connection_of(await self.active(name))

    async def active(self, name: str) -> Allocation:
        made = await self._client.allocations.create(SKU, [self._key_id], project_id=self._project, name=name)
        return await self._client.allocations.wait(made.allocations[0].id, timeout=30)

    async def create_and_enter(self, name: str) -> Times:
        began = time.perf_counter()
        made = await self._client.allocations.create(SKU, [self._key_id], project_id=self._project, name=name)
        accepted = time.perf_counter() - began
        (machine,) = made.allocations
        early = machine.early_connection
        door = early or connection_of(await self._client.allocations.wait(machine.id, timeout=30))
        async with BannerWatch(door) as watch:
            await self.enter(watch.door)
        total = time.perf_counter() - began
        shown = watch.seen_at - began
        machine = await self._client.allocations.wait(machine.id, timeout=30)
        entries = [entry async for entry in self._client.allocations.timeline(machine.id)]
        await self._client.allocations.release(machine.id)
        await self._client.allocations.wait(machine.id, until=Status.RELEASED, timeout=60)
        await asyncio.sleep(PAUSE_SECONDS)  # an idle system
        control, agent, told = shares(entries, machine.node.id)
        is_spare = any(entry.note == SPARE_NOTE for entry in entries)
        return Times(accepted, shown, total, control, agent, told, float(is_spare), float(early is not None))

    async def enter(self, door: SshConnection) -> float:
        """A new OpenSSH process, a handshake, a key, a command, its exit code."""
        began = time.perf_counter()
        known = self.key.with_name(f"known-{door.port}")
        known.write_text(door.known_hosts + "\n")
        options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", f"UserKnownHostsFile={known}"]
        options += [
            "PreferredAuthentications=publickey",
            "LogLevel=ERROR",
            f"HostKeyAlias={door.known_hosts.split()[0]}",
        ]
        command = ["ssh", "-F", "none", "-i", str(self.key), "-p", str(door.port)]
        command += [word for option in options for word in ("-o", option)]
        await run_program([*command, f"{door.username}@{door.host}", "true"], {})
        return time.perf_counter() - began


class BannerWatch:
    """A door before the door: notes when the banner passes on a connection that goes on to run a command."""

    def __init__(self, door: SshConnection) -> None:
        self._door, self.seen_at = door, 0.0
        self._copies: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.door = replace(self._door, host="127.0.0.1", port=self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for copy in self._copies:
            copy.cancel()
        await asyncio.gather(*self._copies, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection(self._door.host, self._door.port)
        self._copies |= {
            asyncio.create_task(self._copy(reader, questions)),
            asyncio.create_task(self._copy(answers, writer, is_watched=True)),
        }

    async def _copy(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_watched: bool = False
    ) -> None:
        try:
            while data := await source.read(65_536):
                if is_watched and not self.seen_at:
                    if not data.startswith(b"SSH-2.0"):
                        raise CannotMeasureError(f"no SSH banner but {data[:40]!r}")
                    self.seen_at = time.perf_counter()
                target.write(data)
                await target.drain()
        finally:
            target.close()


def connection_of(machine: Allocation) -> SshConnection:
    if machine.connection is None:
        raise CannotMeasureError(f"{machine.name} is {machine.status} and has no way in")
    return machine.connection


def shares(entries: list[Entry], node_id: str) -> tuple[float, float, float]:
    """Accepted → first word of the agent → its last → active, in seconds."""
    by_agent = [entry.at for entry in entries if entry.actor == node_id]
    accepted = min(entry.at for entry in entries)
    active = [entry.at for entry in entries if entry.phase == Status.ACTIVE]
    if not by_agent or not active:
        raise CannotMeasureError(f"the timeline does not tell who did what: {[entry.phase for entry in entries]}")
    first, last = min(by_agent), max(by_agent)
    return tuple((b - a).total_seconds() for a, b in ((accepted, first), (first, last), (last, max(active))))  # type: ignore[return-value]
