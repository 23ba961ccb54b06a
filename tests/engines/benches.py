"""Engines on the bench: each can be asked, crashed, started again and entered, whatever it is made of."""

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import asyncssh
import msgspec

from gpuaas.engines.base import Engine, EngineError
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.fake_environments import FakeEnvironment
from gpuaas.engines.fake_runtimes import FakeBundles
from gpuaas.engines.fake_storage import FakeDisk
from gpuaas.engines.oci import liveness
from gpuaas.wire.environments import (
    AuthorizedKey,
    Connection,
    Environment,
    EnvironmentSpec,
    KeySet,
    SlotDevice,
)
from tests.engines.conversations import Conversation, converse
from tests.engines.remote import RemoteEngine
from tests.engines.sweeping import sweep
from tests.images.real import real_image
from tests.patience import PATIENCE_SECONDS

REPOSITORY = Path(__file__).parents[2]


async def eventually(check: Callable[[], Awaitable[bool]], seconds: float = PATIENCE_SECONDS) -> None:
    """Look again and again until it is so."""
    async with asyncio.timeout(seconds):
        while not await check():
            await asyncio.sleep(0.02)


async def ignore(phase: str, note: str) -> None:
    """For those who do not care how far it has come."""


class Key:
    """A person's key pair."""

    def __init__(self, user_id: str = "ada") -> None:
        self.private = asyncssh.generate_private_key("ssh-ed25519")
        type, blob = self.private.export_public_key().decode().split()[:2]
        self.authorized = AuthorizedKey(
            type=type, blob=blob, fingerprint=self.private.get_fingerprint(), user_id=user_id
        )


def granted(key: Key, ends_at: datetime | None = None) -> AuthorizedKey:
    return msgspec.structs.replace(key.authorized, granted=True, ends_at=ends_at)


def keys(generation: int, *wanted: Key) -> KeySet:
    return KeySet(generation=generation, keys=tuple(key.authorized for key in wanted))


def spec(
    allocation_id: str, wanted: KeySet, *, boot: int = 1, slots: int = 1, devices: tuple[str, ...] = ()
) -> EnvironmentSpec:
    """With GPUs of its own unless `devices` names some: no two environments share one."""
    uuids = devices or tuple(f"GPU-{allocation_id}-{n}" for n in range(slots))
    return EnvironmentSpec(
        allocation_id=allocation_id,
        boot=boot,
        hostname=f"{allocation_id}-host",
        username="ada",
        slots=tuple(SlotDevice(index=n, gpu_uuid=uuid, gpu_pci=f"0000:0{n}:00.0") for n, uuid in enumerate(uuids)),
        vcpus=1,
        memory_mib=512,
        simulated=True,
        keys=wanted,
        facts={"sku": "h100.1x"},
    )


class Way(Protocol):
    """A connection that a person holds."""

    async def ended(self) -> str:
        """Wait for its end; what the person was told."""


class Bench(Protocol):
    engine: Engine
    wheels: Path
    """Where its node finds packages."""

    async def crash(self) -> None:
        """The agent dies at once and a new one starts in its place."""

    async def log_in(self, environment: Environment, key: Key, username: str = "ada") -> Way | None:
        """A way in, or None when refused."""

    async def write_own_file(self, environment: Environment, holder: Key, *wanted: Key) -> None:
        """The holder writes these into ~/.ssh/authorized_keys, from inside."""

    async def pass_time(self, seconds: float) -> None:
        """By the engine's monotonic clock, at once."""

    async def converse(self, allocation_id: str, boot: int, typed: str) -> Conversation:
        """On a terminal of the engine's, until it ends."""

    def starved(self, free: int) -> contextlib.AbstractAsyncContextManager[None]:
        """The agent may open only so many more files meanwhile."""

    def failing(self, phase: str) -> contextlib.AbstractAsyncContextManager[None]:
        """Verbs fail meanwhile once they reach this phase."""


class FakeWay:
    def __init__(self, engine: FakeEngine, allocation_id: str, connection: Connection) -> None:
        self._engine, self._id, self._connection = engine, allocation_id, connection

    async def ended(self) -> str:
        async def is_gone() -> bool:
            return self._connection not in await self._engine.connections(self._id)

        await eventually(is_gone)
        return ""


class FakeBench:
    wheels = Path(tempfile.gettempdir()) / f"gpuaas-wheels-{os.getpid()}"

    def __init__(self) -> None:
        self._ticks, self._bundles = 0.0, FakeBundles()
        self._disk = FakeDisk()
        self._failing = ""
        self._fake = self._made({})
        self.engine: Engine = self._fake

    def _made(self, environments: dict[str, FakeEnvironment]) -> FakeEngine:
        return FakeEngine(
            clock=lambda: datetime.now(UTC),
            environments=environments,
            bundles=self._bundles,
            monotonic=lambda: self._ticks,
            disk=self._disk,
            most_spares=2,
            fault=self._fail,
        )

    async def _fail(self, point: str, allocation_id: str) -> None:
        if point == self._failing:
            raise EngineError("planted", f"{allocation_id}: {point}")

    async def write_own_file(self, environment: Environment, holder: Key, *wanted: Key) -> None:
        self._fake.environments[environment.allocation_id].own_file = {key.authorized.fingerprint for key in wanted}

    async def pass_time(self, seconds: float) -> None:
        self._ticks += seconds

    async def converse(self, allocation_id: str, boot: int, typed: str) -> Conversation:
        return await converse(self._fake.terminals, allocation_id, boot, typed)

    @contextlib.asynccontextmanager
    async def starved(self, free: int) -> AsyncIterator[None]:
        self._fake.blind = f"only {free} files may be opened"
        try:
            yield
        finally:
            self._fake.blind = ""

    @contextlib.asynccontextmanager
    async def failing(self, phase: str) -> AsyncIterator[None]:
        self._failing = phase
        try:
            yield
        finally:
            self._failing = ""

    async def crash(self) -> None:
        self._fake = self._made(self._fake.environments)
        self.engine = self._fake
        await self.engine.start()

    async def log_in(self, environment: Environment, key: Key, username: str = "ada") -> Way | None:
        connection = self._fake.log_in(environment.allocation_id, username, key.authorized.fingerprint)
        return FakeWay(self._fake, environment.allocation_id, connection) if connection else None


class Client(asyncssh.SSHClient):
    def __init__(self) -> None:
        self.lost = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(str(exc))


class SshWay:
    def __init__(self, connection: asyncssh.SSHClientConnection, client: Client) -> None:
        self.connection, self._client = connection, client

    async def ended(self) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return str(await self._client.lost)


class TerminalWay(SshWay):
    """A connection with a shell on a terminal."""

    shell: asyncssh.SSHClientProcess[str]

    @classmethod
    async def over(cls, way: SshWay) -> "TerminalWay":
        found = cls(way.connection, way._client)
        found.shell = await way.connection.create_process(term_type="dumb")
        return found

    async def ended(self) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            shown = await self.shell.stdout.read()
        return f"{shown} {await super().ended()}"


class OciBench:
    """An oci engine in a process of its own, on the base image that all tests share."""

    name = "oci"

    def __init__(self, folder: Path, *, ports: range, storage: Path | None = None) -> None:
        """`storage` is a folder on another file system for shared volumes; GPUAAS_TESTS_SHARED_STORAGE names one for a
        whole run."""
        self.root, self.ports = folder / "node", ports
        storage = storage or Path(os.environ.get("GPUAAS_TESTS_SHARED_STORAGE", folder))
        self.shared = storage / f"{folder.name}-shared"
        self.wheels = folder / "wheels"
        self.images = real_image().root.parents[1]
        self.wrap: tuple[str, ...] = ()
        self.process: asyncio.subprocess.Process | None = None

    async def begin(self) -> None:
        await self.spawn()
        await self.engine.start()

    async def spawn(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *(*self.wrap, sys.executable, "-m", "tests.engines.host"),
            *(str(self.root), str(self.ports.start), str(self.ports.stop)),
            cwd=REPOSITORY,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root.parent),
                "PYTHONPATH": f"{REPOSITORY}/src",
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.wheels),
                "GPUAAS_IMAGES": str(self.images),
                "SHARED_STORAGE": str(self.shared),
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1_000_000,
        )
        self.remote = RemoteEngine(self.process, self.name)
        self.engine: Engine = self.remote

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.wait()
        await self.remote.stop_listening()

    async def died(self) -> None:
        """It was armed, and the step came."""
        assert self.process is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.process.wait()
        await self.remote.stop_listening()

    async def converse(self, allocation_id: str, boot: int, typed: str) -> Conversation:
        return await self.remote.terminals.converse(allocation_id, boot, typed)

    @contextlib.asynccontextmanager
    async def starved(self, free: int) -> AsyncIterator[None]:
        await self.remote.starve(free)
        try:
            yield
        finally:
            await self.remote.starve(None)

    @contextlib.asynccontextmanager
    async def failing(self, phase: str) -> AsyncIterator[None]:
        await self.remote.fail_at(phase)
        try:
            yield
        finally:
            await self.remote.fail_at("")

    async def crash(self) -> None:
        await self.kill()
        await self.begin()

    async def end(self) -> None:
        """Leave the machine as it was found."""
        assert self.process is not None
        if self.process.returncode is not None:
            await self.begin()
        await self.clear()
        await self.engine.close(stop_environments=True)
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self.process.wait()
        await self.remote.stop_listening()

    async def clear(self, prefix: str = "") -> None:
        """Remove the environments whose ids begin so, if the agent lives."""
        if self.process is None or self.process.returncode is not None:
            return
        ids = [one.allocation_id for one in await self.engine.observe() if one.allocation_id.startswith(prefix)]
        await asyncio.gather(*(self.engine.remove(id, ignore) for id in ids))

    async def write_own_file(self, environment: Environment, holder: Key, *wanted: Key) -> None:
        way = await self.log_in(environment, holder)
        assert isinstance(way, SshWay)
        lines = "\n".join(key.private.export_public_key().decode().strip() for key in wanted)
        line = f"umask 077 && mkdir -p ~/.ssh && echo '{lines}' > ~/.ssh/authorized_keys"
        done = await way.connection.run(line)
        assert done.exit_status == 0, done.stderr
        way.connection.close()
        await way.connection.wait_closed()

    async def pass_time(self, seconds: float) -> None:
        await self.remote.pass_time(seconds)

    def first_process(self, allocation_id: str) -> int:
        """Pid 1 of an environment, as the node numbers it."""
        init = liveness.recorded(self.root / "environments" / allocation_id)
        assert init is not None
        return init.pid

    def inside(self, allocation_id: str, path: str) -> Path:
        """A file of a running environment, as the node reaches it. Links in it would be followed on the node."""
        return Path(f"/proc/{self.first_process(allocation_id)}/root") / path.lstrip("/")

    async def log_in(self, environment: Environment, key: Key, username: str = "ada") -> Way | None:
        """With a terminal open: sshd is ended from outside, and only terminals are told why."""
        client = Client()
        try:
            connection, _ = await asyncssh.create_connection(
                lambda: client,
                "127.0.0.1",
                environment.port or 0,
                config=None,
                known_hosts=([asyncssh.import_public_key(environment.host_key or "")], [], []),
                client_keys=[key.private],
                username=username,
                agent_path=None,
            )
        except (asyncssh.DisconnectError, OSError):
            return None
        return await TerminalWay.over(SshWay(connection, client))


@contextlib.contextmanager
def place(uid: int) -> Iterator[Path]:
    """A folder that an ordinary user can use too."""
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-engine-"))
    folder.chmod(0o755)
    if uid != os.geteuid():
        os.chown(folder, uid, uid)
    try:
        yield folder
    finally:
        sweep(folder)
        shutil.rmtree(folder)


@contextlib.asynccontextmanager
async def oci(*, ports: range, storage: Path | None = None) -> AsyncIterator[OciBench]:
    with place(0) as folder:
        bench = OciBench(folder, ports=ports, storage=storage)
        await bench.begin()
        try:
            yield bench
        finally:
            await bench.end()
