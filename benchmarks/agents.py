"""Thousands of agents in one process, over real sockets: the opening with real proofs, beats, answers to tasks.

The client half of WebSocket is written out here, for what a load generator needs of it: a library's costs more than
the server it is to load. Frames are masked with zeros, as the protocol allows."""

import asyncio
import hashlib
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from benchmarks.harness import CannotMeasureError
from benchmarks.stage import Stage
from gpuaas.agent.link import FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import (
    BEAT_SECONDS,
    TASK_PURPOSE,
    Ack,
    Beat,
    Challenge,
    Down,
    Hello,
    Report,
    Result,
    Task,
    TaskBody,
    TaskStatus,
    Up,
    Welcome,
    link_proof,
)

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FACTS = NodeFacts(engine="fake", simulated=True, vcpus=8, memory_mib=8192, ssh_host="127.0.0.1")
decoder: msgspec.msgpack.Decoder[Down] = msgspec.msgpack.Decoder(Down)
body_decoder = msgspec.msgpack.Decoder(TaskBody)


def frame(opcode: int, payload: bytes) -> bytes:
    size = len(payload)
    if size < 126:
        head = bytes((0x80 | opcode, 0x80 | size))
    elif size < 65536:
        head = bytes((0x80 | opcode, 0x80 | 126)) + struct.pack("!H", size)
    else:
        head = bytes((0x80 | opcode, 0x80 | 127)) + struct.pack("!Q", size)
    return head + bytes(4) + payload


def up(message: Up) -> bytes:
    return frame(BINARY, msgspec.msgpack.encode(message))


SLICES = 100  # of the agents; each beats in its own
BEAT = up(Beat())


class Node:
    """Who an agent is; its key is made from the seed."""

    def __init__(self, id: str, seed: int) -> None:
        self.id = id
        self.key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"{seed}:{id}".encode()).digest())

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes_raw()


class Agent(asyncio.Protocol):
    """One link; what happens on it is counted in `crowd`."""

    def __init__(self, node: Node, crowd: "Crowd") -> None:
        self.node, self.crowd = node, crowd
        self.transport: asyncio.Transport | None = None
        self.welcomed = self.upgraded = self.silent = False
        self.epoch = 0
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        path = f"/internal/v1/nodes/{self.node.id}/link"
        self.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.crowd.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def write(self, data: bytes) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self.upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head[:20]:
                self.crowd.refused += 1
                self.close()
                return
            self.upgraded, self._buffer = True, rest
        for opcode, payload in self._frames():
            if opcode == BINARY:
                self._on_message(decoder.decode(payload))
            elif opcode == PING:
                self.write(frame(PONG, payload))
            elif opcode == PONG:
                self.crowd.ponged(self)
            elif opcode == CLOSE:
                self.close()
        self.crowd.send_due_beats()

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        buffer, at = self._buffer, 0
        while len(buffer) - at >= 2:
            size, start = buffer[at + 1] & 0x7F, at + 2
            if size == 126:
                if len(buffer) - at < 4:
                    break
                size, start = struct.unpack_from("!H", buffer, at + 2)[0], at + 4
            elif size == 127:
                if len(buffer) - at < 10:
                    break
                size, start = struct.unpack_from("!Q", buffer, at + 2)[0], at + 10
            if len(buffer) < start + size:
                break
            yield buffer[at] & 0x0F, buffer[start : start + size]
            at = start + size
        self._buffer = buffer[at:]

    def _on_message(self, message: Down) -> None:
        match message:
            case Challenge():
                proof = self.node.key.sign(link_proof(message.nonce, self.node.id, self.crowd.origin))
                hello = Hello(
                    node_id=self.node.id, proof=proof, agent_version="bench", engine="fake", boot_id="1", facts=FACTS
                )
                self.write(up(hello))
            case Welcome():
                self.welcomed, self.epoch = True, message.epoch
                self.crowd.on_welcome(self)
            case Task():
                self.crowd.on_task(self, message)
            case Ack():
                self.crowd.on_ack(self, message.task_ids)

    def close(self) -> None:
        if self.transport:
            self.transport.abort()

    def connection_lost(self, _error: Exception | None) -> None:
        self.welcomed = False
        self.crowd.on_lost(self)


class Crowd:
    """All agents of this process; reconnects like the real agent does."""

    def __init__(self, nodes: list[Node], port: int, *, seed: int, verifier: bytes | None = None) -> None:
        self.nodes, self.port, self.origin = nodes, port, f"http://127.0.0.1:{port}"
        self.agents: dict[str, Agent] = {}
        self.refused = self.acked = self.received = 0
        self.reconnects = False
        self.reconciled: set[str] = set()
        self.changed = asyncio.Event()
        self.received_at: dict[str, float] = {}
        self.on_pong: Callable[[Agent], None] | None = None
        self._chance, self._failures = random.Random(seed), dict.fromkeys((node.id for node in nodes), 0)
        self._verifier = Ed25519PublicKey.from_public_bytes(verifier) if verifier else None
        self._dialling: set[asyncio.Task[None]] = set()
        self._redialling: set[str] = set()
        self._beating_since: float | None = None
        self._beats = 0

    @property
    def welcomed(self) -> int:
        return sum(agent.welcomed for agent in self.agents.values())

    async def connect(self, *, at_once: int = 200, limit: float = 120.0) -> float:
        """All of them, some at a time; seconds it took."""
        began, gate = time.monotonic(), asyncio.Semaphore(at_once)

        async def one(node: Node) -> None:
            async with gate:
                await self._dial(node)
                while not (self.agents[node.id].welcomed or self.agents[node.id].silent):
                    await asyncio.sleep(0.01)

        async with asyncio.timeout(limit):
            await asyncio.gather(*(one(node) for node in self.nodes))
        return time.monotonic() - began

    async def _dial(self, node: Node) -> None:
        loop = asyncio.get_running_loop()
        agent = Agent(node, self)
        self.agents[node.id] = agent
        await loop.create_connection(lambda: agent, "127.0.0.1", self.port)

    def on_welcome(self, agent: Agent) -> None:
        """As the real agent: a report of all there is; and an answer to nothing, whose ack says that both are kept."""
        self._failures[agent.node.id] = 0
        now = datetime.now(UTC)
        agent.write(up(Report(environments=[], at=now)))
        agent.write(up(Result(task_id=f"none-{agent.node.id}", status=TaskStatus.DONE, at=now)))
        agent.write(BEAT)

    def on_task(self, agent: Agent, task: Task) -> None:
        if self._verifier:
            self._verifier.verify(task.signature, TASK_PURPOSE + task.body)
        body = body_decoder.decode(task.body)
        self.received += 1
        self.received_at[body.id] = time.time()
        agent.write(up(Result(task_id=body.id, status=TaskStatus.DONE, at=datetime.now(UTC))))

    def on_ack(self, agent: Agent, task_ids: list[str]) -> None:
        for task_id in task_ids:
            if task_id.startswith("none-"):
                self.reconciled.add(agent.node.id)
            else:
                self.acked += 1
        self.changed.set()

    def ponged(self, agent: Agent) -> None:
        if self.on_pong:
            self.on_pong(agent)

    def on_lost(self, agent: Agent) -> None:
        is_current = self.agents.get(agent.node.id) is agent and agent.node.id not in self._redialling
        if self.reconnects and not agent.silent and is_current:
            self._redialling.add(agent.node.id)
            task = asyncio.get_running_loop().create_task(self._redial(agent.node))
            self._dialling.add(task)
            task.add_done_callback(self._dialling.discard)

    async def _redial(self, node: Node) -> None:
        """Full jitter under a ceiling that doubles: the real agent's rule."""
        while True:
            self._failures[node.id] += 1
            doublings = min(self._failures[node.id] - 1, 8)
            await asyncio.sleep(min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**doublings) * self._chance.random())
            with suppress(OSError):
                await self._dial(node)
                self._redialling.discard(node.id)
                return

    async def beat(self) -> None:
        """Each agent every BEAT_SECONDS, spread evenly; for ever."""
        self._beating_since, self._beats = time.monotonic(), 0
        while True:
            self.send_due_beats()
            await asyncio.sleep(BEAT_SECONDS / SLICES)

    def send_due_beats(self) -> None:
        """Also called between reads: a turn of this loop may last longer than a real agent is ever silent."""
        if self._beating_since is None:
            return
        due = int((time.monotonic() - self._beating_since) / BEAT_SECONDS * SLICES) + 1
        for part in range(self._beats, due):
            for node in self.nodes[part % SLICES :: SLICES]:
                agent = self.agents.get(node.id)
                if agent and agent.welcomed and not agent.silent:
                    agent.write(BEAT)
        self._beats = due

    async def until(self, done: Callable[[], bool], limit: float) -> float:
        began = time.monotonic()
        while not done():
            if time.monotonic() - began > limit:
                raise CannotMeasureError(
                    f"not done in {limit:.0f} s: {self.welcomed} linked, {self.acked} acknowledged"
                )
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    def close(self) -> None:
        self.reconnects = False
        for task in self._dialling:
            task.cancel()
        for agent in self.agents.values():
            agent.close()


async def enrol(stage: Stage, count: int, seed: int) -> list[Node]:
    """Give the first nodes of the fleet their keys."""
    nodes = [Node(f"node_{number:08d}", seed) for number in range(1, count + 1)]
    await stage.run_sql(
        "update nodes n set public_key = k.key from unnest($1::text[], $2::bytea[]) as k (id, key) where n.id = k.id",
        [node.id for node in nodes],
        [node.public_key for node in nodes],
    )
    return nodes
