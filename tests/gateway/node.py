"""A gateway on a folder, as an engine would use it, and OpenSSH clients that connect to it."""

import asyncio
import base64
import hashlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from gpuaas.engines.leases import Leases
from gpuaas.engines.node.processes import readable
from gpuaas.engines.oci.gateway import GatewayClient
from gpuaas.gateway import kernel
from gpuaas.wire.environments import AuthorizedKey, KeySet
from gpuaas.wire.gateway import ACCESS_FILE, LEASE_FILE, AccessState, EnvironmentAccess, InitProcess
from tests.gateway.bundle import CAPABILITIES, Container
from tests.images.real import real_image

T = TypeVar("T")
ALLOCATION = "alc_example"
PATIENCE = 30.0  # seconds that a busy machine may need; nothing waits that long when all is well


def base_image() -> Path:
    """GPUAAS_TEST_IMAGE names its root folder; else it is the image that all tests share."""
    given = os.environ.get("GPUAAS_TEST_IMAGE")
    return Path(given) if given else real_image().root


class Keys:
    """Key pairs by name, made when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def private(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)
        return path

    def public(self, name: str) -> str:
        return self.private(name).with_suffix(".pub").read_text().strip()

    def authorized(self, name: str, *, granted: bool = False, ends_at: datetime | None = None) -> AuthorizedKey:
        kind, blob = self.public(name).split()[:2]
        digest = base64.b64encode(hashlib.sha256(base64.b64decode(blob)).digest()).decode().rstrip("=")
        return AuthorizedKey(
            type=kind,
            blob=blob,
            fingerprint=f"SHA256:{digest}",
            user_id=f"usr_{name}",
            granted=granted,
            ends_at=ends_at,
        )


class Node:
    def __init__(self, root: Path, container: Container, keys: Keys, username: str) -> None:
        self.root, self.container, self.keys, self.username = root, container, keys, username
        self.gateway = GatewayClient(root)
        self.port = free_port()
        self.generation = 1
        self.access = self.first_access()
        self.leases = Leases(lambda: 0.0, file=root / LEASE_FILE, clock=lambda: datetime.now(UTC))

    def first_access(self) -> EnvironmentAccess:
        pid = self.container.pid
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return EnvironmentAccess(
            allocation_id=ALLOCATION,
            boot=1,
            bind="127.0.0.1",
            port=self.port,
            host_key=self.keys.private("host").read_text(),
            username=self.username,
            keys=KeySet(generation=1, keys=(self.keys.authorized("holder"),)),
            first_id=self.container.first_id,
            init=InitProcess(pid=pid, born=kernel.birth_of(pid), machine_boot=boot),
            image=str(base_image()),
            variables={"EXAMPLE": "of the platform"},
            capabilities=tuple(CAPABILITIES.values()),
        )

    async def start(self) -> None:
        self.lease(300.0)
        await self.gateway.start()
        await self.sync()

    async def close(self) -> None:
        await self.gateway.close_environment(ALLOCATION, "the test is over")
        await self.gateway.close(stop=True)

    async def reset(self) -> None:
        """As at the start: the holder's key alone, nobody connected, a lease that lasts."""
        self.lease(300.0)
        await self.gateway.renew_lease()
        await self.gateway.end_connections(ALLOCATION, None, "")
        self.generation += 1
        keys = KeySet(generation=self.generation, keys=(self.keys.authorized("holder"),))
        state = await self.sync(msgspec.structs.replace(self.first_access(), keys=keys))
        assert state.is_open, state

    def lease(self, seconds: float, holder_seconds: float = 3600.0) -> None:
        self.leases.renew(datetime.now(UTC), seconds, holder_seconds)

    async def sync(self, access: EnvironmentAccess | None = None) -> AccessState:
        self.access = access or self.access
        folder = self.root / "environments" / ALLOCATION
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"{ACCESS_FILE}.new"
        fresh.write_bytes(msgspec.json.encode(self.access))
        fresh.rename(folder / ACCESS_FILE)
        return await self.gateway.sync(ALLOCATION)

    async def set_keys(
        self, *keys: AuthorizedKey, admits_own: bool = False, refused: tuple[str, ...] = ()
    ) -> AccessState:
        self.generation += 1
        keyset = KeySet(generation=self.generation, keys=keys, admits_own=admits_own, refused_own=refused)
        return await self.sync(msgspec.structs.replace(self.access, keys=keyset))

    # Clients

    def options(self, key: str = "holder") -> list[str]:
        known = self.keys.folder / "known_hosts"
        known.write_text(f"[127.0.0.1]:{self.port} {self.keys.public('host')}\n")
        return [
            *("-F", "none", "-i", str(self.keys.private(key)), "-o", f"UserKnownHostsFile={known}"),
            *("-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes"),
            *("-o", "LogLevel=ERROR", "-o", "ExitOnForwardFailure=yes"),
        ]

    def ssh_words(self, *words: str, key: str = "holder") -> list[str]:
        return ["ssh", *self.options(key), "-p", str(self.port), *words]

    @property
    def target(self) -> str:
        return f"{self.username}@127.0.0.1"

    async def ssh(self, command: str, *options: str, key: str = "holder", stdin: bytes = b"") -> tuple[int, str, str]:
        """Run one command by OpenSSH: exit code, output, error output."""
        return await run(*self.ssh_words(*options, self.target, command, key=key), stdin=stdin)

    @asynccontextmanager
    async def session(self, *options: str, command: str = "", key: str = "holder") -> AsyncIterator["LiveSession"]:
        """A client that stays; ended when the block is left."""
        words = self.ssh_words(*options, self.target, *([command] if command else []), key=key)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        live = LiveSession(process)
        try:
            yield live
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    @asynccontextmanager
    async def on_terminal(self, *options: str) -> AsyncIterator["LocalTerminal"]:
        """A client on a terminal of this machine, as a person has it."""
        master, slave = os.openpty()
        kernel.resize_terminal(master, 24, 80)
        words = self.ssh_words("-t", *options, self.target)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=take_terminal
        )
        os.close(slave)
        try:
            yield LocalTerminal(master)
        finally:
            os.close(master)
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def wait_for_connections(self, count: int) -> list[str]:
        async def look() -> list[str] | None:
            ids = [connection.id for connection in await self.gateway.connections(ALLOCATION)]
            return ids if len(ids) == count else None

        return await until(look)


class LiveSession:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen = b""

    async def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        await self.process.stdin.drain()

    async def see(self, wanted: str) -> str:
        """Read until this text was shown."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while wanted.encode() not in self.seen:
                data = await self.process.stdout.read(65_536)
                assert data, f"{wanted!r} was not shown: {self.seen!r}"
                self.seen += data
        return self.seen.decode(errors="replace")

    async def end(self) -> tuple[int, str]:
        """Wait for its end: exit code and all that it showed."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            self.seen += await self.process.stdout.read()
            return await self.process.wait(), self.seen.decode(errors="replace")


class LocalTerminal:
    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.seen = descriptor, b""
        os.set_blocking(descriptor, False)

    async def see(self, wanted: str) -> None:
        while wanted.encode() not in self.seen:
            await readable(self.descriptor, PATIENCE)
            self.seen += os.read(self.descriptor, 65_536)


def take_terminal() -> None:
    kernel.take_own_terminal(0)


async def run(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, error = await process.communicate(stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(errors="replace"), error.decode(errors="replace")


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    """Ask until there is an answer."""
    async with asyncio.timeout(PATIENCE):
        while (found := await look()) is None:
            await asyncio.sleep(0)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
