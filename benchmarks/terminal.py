"""S12 and S13: a browser terminal over two hops with recording on, against terminado over one, by the same client; a
reader that stalls; and many terminals at once."""

import asyncio
import contextlib
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.create_to_ssh import Person, up
from benchmarks.harness import CannotMeasureError, Run, cpu_seconds, memory_bytes, percentile, ratio
from benchmarks.stage import free_port, process
from gpuaas.core.embedded import Embedded
from gpuaas.sdk import AsyncClient
from gpuaas.wire.terminals import SUBPROTOCOL

KEYS, FLOOD = 1_000, 30_000_000
STALL_SECONDS, GROWTH = 60, 8_000_000
RATE = 40_000  # bytes a second on each of the many
MACHINES = 8
AT_ONCE = 8  # terminals opened together; a person may have ten tokens a minute
# Paced by the clock: only what is measured can make it slower. Perl: a thousand loops of shells cost as much as we do.
TRICKLE = (
    b'exec perl -MTime::HiRes=sleep,time -e \'$text = ("x" x 99 . "\\n") x 40; $next = time; '
    b"while (1) { syswrite STDOUT, $text; $next += 0.1; $wait = $next - time; sleep $wait if $wait > 0 }'\n"
)
READY = b"ready-for-it"
Open = Callable[[], Awaitable["Wire"]]


class Wire:
    """Terminal bytes both ways, however the server frames them."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def write(self, data: bytes) -> None:
        await self.socket.send(data)

    async def read(self) -> bytes:
        while not isinstance(message := await self.socket.recv(), bytes):
            pass
        return message

    async def until(self, wanted: bytes) -> None:
        seen = b""
        while wanted not in seen:
            seen = (seen + await self.read())[-4096:]


class TerminadoWire(Wire):
    """JSON lists: `["stdin", text]` there, `["stdout", text]` here."""

    async def write(self, data: bytes) -> None:
        await self.socket.send(msgspec.json.encode(("stdin", data.decode())).decode())

    async def read(self) -> bytes:
        while True:
            kind, *rest = msgspec.json.decode(await self.socket.recv())
            if kind == "stdout":
                return str(rest[0]).encode()


@dataclass(frozen=True)
class Ours:
    """A whole platform on this machine, its machine, and who holds it."""

    url: str
    token: str
    machines: list[str]
    server_pid: int
    agent_pid: int
    dsn: str

    def cpu(self) -> list[float]:
        """The server's, the agent's, and our own."""
        return [cpu_seconds(pid) for pid in (self.server_pid, self.agent_pid, os.getpid())]

    async def open(self, machine: int = 0) -> Wire:
        await self.forget_tokens()
        return await self.enter(machine, record=True)

    async def forget_tokens(self) -> None:
        """Ten a minute are too few for a benchmark: earlier ones are made to look older."""
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute("update terminal_tickets set created_at = created_at - interval '1 hour'")
        finally:
            await connection.close()

    async def enter(self, machine: int, *, record: bool) -> Wire:
        async with AsyncClient(self.url, self.token) as client:
            minted = await client.allocations.mint_terminal_token(self.machines[machine], record=record)
        wire = Wire(await dial(minted.url, [SUBPROTOCOL, minted.token]))
        await quiet(wire)
        return wire


async def dial(url: str, protocols: list[str] | None = None) -> ClientConnection:
    options: Any = {"subprotocols": protocols, "compression": None, "proxy": None, "max_size": None}
    return await connect(url, ping_interval=None, **options)


async def quiet(wire: Wire) -> None:
    """At a shell without editing or a prompt: what is typed is echoed by the terminal alone, on both sides."""
    await wire.write(b"exec bash --noprofile --norc --noediting\n")
    await wire.write(b"PS1=; echo ready-for-'it'\n")
    await wire.until(READY)
    await asyncio.sleep(0.3)


async def run(run: Run) -> None:
    """Nothing is pinned: three processes of ours and two of the peer's find their place on two cores."""
    async with platform(run.scratch) as ours, terminado(run.scratch) as theirs:
        await echo(run, ours.open, theirs)
        await flood(run, partial(ours.open, 1), theirs)  # a shell lives on for a while: each machine has 128 at most
        await stalled(run, ours, run.options.pick(STALL_SECONDS, 5))
        await many(run, ours, run.options.pick(1_000, 16), run.options.pick(300, 5))


@asynccontextmanager
async def platform(folder: Path) -> AsyncIterator[Ours]:
    """`gpuaas up`, and as many machines on it as there is room for: of so many terminals each has its share."""
    async with up(folder / "up") as file:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        async with AsyncClient(file.url, token) as client:
            person = await Person.with_key(client, file, folder)
            machines = [(await person.active(f"bench-{number}")).id for number in range(MACHINES)]
        server, agent = children(folder / "up")
        dsn = await Embedded(folder / "up" / "postgres").start()
        yield Ours(file.url, token, machines, server, agent, dsn)


@asynccontextmanager
async def terminado(folder: Path) -> AsyncIterator[Open]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.peers.terminado_server", str(port)]
    async with process(command, folder / "terminado.log", {}):
        await listening(port)

        async def open_wire() -> Wire:
            wire = TerminadoWire(await dial(f"ws://127.0.0.1:{port}/websocket"))
            await quiet(wire)
            return wire

        yield open_wire


async def echo(run: Run, ours: Open, theirs: Open) -> None:
    """One key at a time, each after the last was seen; in blocks of a hundred, the two sides in turn."""
    took: dict[str, list[float]] = {"ours": [], "terminado": []}
    wires = {"ours": await ours(), "terminado": await theirs()}
    for wire in wires.values():
        await wire.write(b"cat\n")
        await wire.until(b"cat")
        await keystrokes(wire, 50)
    for block in range(KEYS // 100):
        order = list(wires) if block % 2 == 0 else list(reversed(wires))
        for name in order:
            took[name] += await keystrokes(wires[name], 100)
    for name, wire in wires.items():
        run.keep(f"S12 echo seconds, {name}", took[name])
        await wire.socket.close()
    p50 = {name: statistics.median(each) * 1000 for name, each in took.items()}
    p99 = {name: percentile(each, 0.99) * 1000 for name, each in took.items()}
    shown = f"p50 {p50['ours']:.2f}  p99 {p99['ours']:.2f} ms"
    run.row("S12 echo, two hops, recorded", shown, "p99 ≤ 3 ms", met=p99["ours"] <= 3)
    run.row("S12 echo of terminado, one hop", f"p50 {p50['terminado']:.2f}  p99 {p99['terminado']:.2f} ms")
    times = p50["ours"] / p50["terminado"]
    run.row("S12 echo p50 by terminado's", f"{times:.2f} x", "≤ 1.0 x", met=times <= 1.0)


async def keystrokes(wire: Wire, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        await wire.write(b"x")
        while b"x" not in await wire.read():
            pass
        took.append(time.perf_counter() - began)
    return took


async def flood(run: Run, ours: Open, theirs: Open) -> None:
    size, rounds = run.options.pick(FLOOD, 6_000_000), run.options.pick(5, 2)
    wires = {"ours": await ours(), "terminado": await theirs()}
    async with bare(size) as bare_flood:
        floods = {name: partial(one_flood, wire, size) for name, wire in wires.items()} | {"nobody's": bare_flood}
        rates: dict[str, list[float]] = {name: [] for name in floods}
        for number in range(rounds):
            order = list(floods) if number % 2 == 0 else list(reversed(floods))
            for name in order:
                rates[name].append(await floods[name]())
    for wire in wires.values():
        await wire.socket.close()
    for name, each in rates.items():
        run.keep(f"S12 flood bytes per second, {name}", each)
    run.steady("terminado", rates["terminado"])
    times, worst = ratio(rates["ours"], rates["terminado"])
    for name, each in rates.items():
        run.row(f"S12 flood of {size / 1e6:.0f} MB, {name}", f"{statistics.median(each) / 1e6:.1f} MB/s")
    floor = statistics.median(rates["nobody's"]) / statistics.median(rates["terminado"])
    run.row("S12 flood of a terminal that nobody serves, by terminado's", f"{floor:.2f} x")
    run.row("S12 flood by terminado's", f"{times:.2f} x (worst {worst:.2f})", "≥ 1.5 x", met=times >= 1.5)


@asynccontextmanager
async def bare(size: int) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """A terminal on no socket: more than this, nobody can show."""
    command = [sys.executable, "-m", "benchmarks.peers.bare_pty", str(size)]
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert child.stdin
    assert child.stdout

    async def one(stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader) -> float:
        stdin.write(b"again\n")
        return float(await stdout.readline())

    try:
        yield partial(one, child.stdin, child.stdout)
    finally:
        child.kill()
        await child.wait()


async def one_flood(wire: Wire, size: int) -> float:
    """Printable lines, as a build or a log would be; from the command to its last byte."""
    began = time.perf_counter()
    await wire.write(f"head -c {size * 3 // 4} /dev/zero | base64 -w 100; echo over-and-'out'\n".encode())
    seen, tail = 0, b""
    while b"over-and-out" not in tail:
        data = await wire.read()
        seen += len(data)
        tail = tail[-20:] + data
    return seen / (time.perf_counter() - began)


async def stalled(run: Run, ours: Ours, seconds: int) -> None:
    """`yes` to a reader that reads nothing; another terminal is used meanwhile."""
    stuck, other = await ours.open(2), await ours.open(3)
    await other.write(b"cat\n")
    await other.until(b"cat")
    await keystrokes(other, 50)
    before = memory_bytes(ours.server_pid) + memory_bytes(ours.agent_pid)
    await stuck.write(b"yes\n")
    stuck.socket.transport.pause_reading()
    took: list[float] = []
    deadline, most = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        took += await keystrokes(other, 20)
        most = max(most, memory_bytes(ours.server_pid) + memory_bytes(ours.agent_pid) - before)
        await asyncio.sleep(0.2)
    run.keep("S12 echo beside a stalled reader, seconds", took)
    p99 = percentile(took, 0.99) * 1000
    what = f"S12 memory gained by `yes` for {seconds} s, nobody reading"
    run.row(what, f"{most / 1e6:.1f} MB", "≤ 8 MB", met=most <= GROWTH)
    run.row("S12 echo of another terminal meanwhile", f"p99 {p99:.2f} ms", "≤ 10 ms", met=p99 <= 10)
    for wire in (stuck, other):
        wire.socket.transport.abort()


async def many(run: Run, ours: Ours, count: int, seconds: int) -> None:
    """Each shows forty kilobytes a second in ten portions; whoever falls behind or is cut counts."""
    wires: list[Wire] = []
    while len(wires) < count:
        await ours.forget_tokens()
        next_ones = (number % len(ours.machines) for number in range(len(wires), min(count, len(wires) + AT_ONCE)))
        wires += await asyncio.gather(*(ours.enter(machine, record=False) for machine in next_ones))
    got = [0] * count

    async def drain(number: int, wire: Wire) -> None:
        while True:
            got[number] += len(await wire.read())

    for wire in wires:
        await wire.write(TRICKLE)
    tasks = [asyncio.create_task(drain(number, wire)) for number, wire in enumerate(wires)]
    await asyncio.sleep(3)
    began, start, used = time.monotonic(), list(got), ours.cpu()
    await asyncio.sleep(seconds)
    elapsed = time.monotonic() - began
    shares = [(late - early) / elapsed for early, late in zip(used, ours.cpu(), strict=True)]
    rates = [(late - early) / elapsed for early, late in zip(start, got, strict=True)]
    lost = sum(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for wire in wires:
        wire.socket.transport.abort()
    run.keep("S13 bytes per second of each terminal", rates)
    share = sum(rates) / (count * RATE)
    what = f"S13 {count} terminals at 40 kB/s for {seconds} s"
    met = share >= 0.95 and not lost if (count, seconds) == (1_000, 300) else None
    run.row(what, f"{share:.0%} of the rate, {lost} lost", "1,000, ≥ 95 %, 0 lost in 5 min", met=met)
    run.row("S13 server, agent, generator", "  ".join(f"{each:.0%}" for each in shares) + " of a core")


def children(data: Path) -> tuple[int, int]:
    """The server and the agent of the supervisor of this folder."""
    found: dict[bytes, int] = {}
    for pid in sorted(int(path.name) for path in Path("/proc").glob("[0-9]*")):  # of forks, the first
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"gpuaas.main" in words and any(str(data).encode() in word for word in words):
                found = {name: pid for name in (b"server", b"agent") if name in words} | found
    if len(found) != 2:
        raise CannotMeasureError(f"the server and the agent of {data} were not found: {found}")
    return found[b"server"], found[b"agent"]


async def listening(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise CannotMeasureError("terminado does not listen; is it installed? `make bench` installs it")
