"""The gateway of a node: the served environments and the requests of the agent."""

import asyncio
import logging
import os
import signal
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from gpuaas.core.clock import Clock
from gpuaas.engines.base import EngineError
from gpuaas.engines.descriptors import Descriptors
from gpuaas.engines.leases import Leases
from gpuaas.engines.logins import Logins
from gpuaas.engines.oci.gateway_protocol import GatewayStatus
from gpuaas.gateway import kernel
from gpuaas.gateway.connections import SshConnection
from gpuaas.gateway.environments import NOT_RUNNING, STOPPED, Inherited, ServedEnvironment
from gpuaas.gateway.lease_file import read_lease
from gpuaas.gateway.limits import Limits
from gpuaas.gateway.node import Node
from gpuaas.gateway.records import ConnectionRecord, Records
from gpuaas.gateway.terminals import Terminals
from gpuaas.wire.environments import Connection, LoginEvent
from gpuaas.wire.gateway import ACCESS_FILE, AccessState, EnvironmentAccess

log = logging.getLogger("gpuaas.gateway")
ENFORCE_SECONDS = 1.0
RESTARTED = "the environment has restarted"
REOPENING_FIELDS = ("bind", "port", "host_key", "username", "first_id", "uid", "init", "image")
"""A change of these values closes and reopens the environment."""


class Gateway:
    def __init__(self, root: Path, *, clock: Clock, version: str, limits: Limits | None = None) -> None:
        leases = Leases(clock.monotonic)
        self.node = Node(
            root=root,
            clock=clock,
            leases=leases,
            records=Records(root / "connections"),
            logins=Logins(),
            descriptors=Descriptors(),
            limits=limits or Limits(),
        )
        self._version = version
        self.environments: dict[str, ServedEnvironment] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.terminals = Terminals(self.node)
        self._news = asyncio.Event()
        self.node.on_news = self._news.set
        self._enforcing: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def start(self, inherited: dict[str, Inherited]) -> None:
        """Serve every environment on disk and adopt connections of the previous gateway."""
        (self.node.root / "gateway").mkdir(mode=0o700, exist_ok=True)
        self.read_lease()
        names = self.node.environment_ids()
        synced = (self.sync(name, inherited.get(name), defer_root=True) for name in names)
        for name, result in zip(names, await asyncio.gather(*synced, return_exceptions=True), strict=True):
            if isinstance(result, BaseException):
                log.warning("environment %s is not served: %s", name, result)
        for name in inherited.keys() - self.environments.keys():
            for listener in inherited[name]:
                listener.close()
        self._adopt()
        for environment in self.environments.values():
            environment.end_strays()
        for path in (self.node.root / "gateway").iterdir():
            if path.name not in names:
                self.node.forget_socket_folder(path.name)
        self.terminals.adopt_recorded()
        self._enforcing = asyncio.create_task(self._enforce_forever())

    def _adopt(self) -> None:
        known = {id for environment in self.environments.values() for id in environment.connections}
        for record in list(self.node.records.all()):
            if record.id in known:
                continue
            environment = self.environments.get(record.allocation_id)
            if environment is None or not environment.adopt(record):
                if self.node.is_this_boot(record.machine_boot):
                    self._kill(record)
                self.node.records.remove(record.id)

    @staticmethod
    def _kill(record: ConnectionRecord) -> None:
        """End a connection to a removed environment."""
        pidfd = kernel.open_process(record.pid, record.born)
        if pidfd is not None:
            kernel.signal_process(pidfd, signal.SIGKILL)
            os.close(pidfd)

    async def sync(
        self, allocation_id: str, inherited: Inherited | None = None, *, defer_root: bool = False
    ) -> AccessState:
        """Apply access.json, and answer afterwards."""
        async with self._locks.setdefault(allocation_id, asyncio.Lock()):
            access = self._read_access(allocation_id)
            served = self.environments.get(allocation_id) or self._former_spare(access)
            if served is not None and (access is None or _reopening_fields(access) != _reopening_fields(served.access)):
                await self._close(served, RESTARTED if access else STOPPED)
                served = None
            if access is None:
                return AccessState(allocation_id=allocation_id, is_open=False, detail=NOT_RUNNING)
            if served is None:
                served = self.environments[allocation_id] = ServedEnvironment(self.node, access, self._stopped)
                await served.open(inherited, defer_root=defer_root)
            else:
                served.set_access(access)
                if not served.is_open:
                    await served.open_again()
            await served.settle()
            return served.state()

    def _former_spare(self, access: EnvironmentAccess | None) -> ServedEnvironment | None:
        """The spare that became this environment. Its waiting connections stay open."""
        spare = self.environments.get(access.was_spare) if access else None
        if access is None or spare is None or not spare.is_open:
            return None
        if _reopening_fields(access) != _reopening_fields(spare.access):
            return None
        self.node.rename_socket_folder(access.was_spare, access.allocation_id)
        self.environments[access.allocation_id] = self.environments.pop(access.was_spare)
        return spare

    def _read_access(self, allocation_id: str) -> EnvironmentAccess | None:
        """The access file; None if the environment is removed. An unreadable file is an error and changes nothing."""
        if not allocation_id or "/" in allocation_id or allocation_id.startswith("."):
            raise EngineError("there is no such environment", repr(allocation_id))
        try:
            data = (self.node.environment_folder(allocation_id) / ACCESS_FILE).read_bytes()
            access = msgspec.json.decode(data, type=EnvironmentAccess)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise EngineError("the access file of the environment is unreadable", str(error)) from error
        if access.allocation_id != allocation_id:
            raise EngineError("the access file belongs to another one", f"{allocation_id}: {access.allocation_id}")
        return access

    async def close_environment(self, allocation_id: str, reason: str) -> None:
        async with self._locks.setdefault(allocation_id, asyncio.Lock()):
            served = self.environments.get(allocation_id)
            if served is not None:
                await self._close(served, reason)
            else:  # left by a gateway that died
                self.node.forget_socket_folder(allocation_id)

    async def _close(self, served: ServedEnvironment, reason: str) -> None:
        ending = self.terminals.end(served.id, reason)
        await served.close(reason)
        for process in ending:
            if not process.ended.done():
                process.signal(signal.SIGKILL)
        await asyncio.gather(*(asyncio.shield(process.ended) for process in ending))
        if self.environments.get(served.id) is served:
            del self.environments[served.id]

    def _stopped(self, served: ServedEnvironment) -> None:
        self.terminals.end(served.id, STOPPED)
        if served.access.is_spare:  # the engine may have died before closing it
            closing = asyncio.create_task(self.close_environment(served.id, STOPPED))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def read_lease(self) -> None:
        read_lease(self.node.root, self.node.leases, self.node.clock)

    async def renew_lease(self) -> int:
        """Read the new lease and close connections that it ends; return their number."""
        self.read_lease()
        return await self.enforce()

    async def enforce(self) -> int:
        environments = list(self.environments.values())
        count = sum(environment.enforce() for environment in environments)
        await asyncio.gather(*(environment.settle() for environment in environments))
        return count

    async def _enforce_forever(self) -> None:
        while True:
            await asyncio.sleep(ENFORCE_SECONDS)
            for environment in self.environments.values():
                try:
                    environment.enforce()
                except Exception:  # house: broad-except because a failure must not delay revokes of others
                    log.exception("the keys of environment %s cannot be enforced", environment.id)

    def connections(self, allocation_id: str | None) -> list[Connection]:
        chosen = [each for id, each in self.environments.items() if allocation_id in (None, id)]
        return [connection for environment in chosen for connection in environment.described()]

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        served = self.environments.get(allocation_id)

        def is_it(connection: SshConnection) -> bool:
            return connection.record.id == id and connection.is_admitted

        return served is not None and await served.end(is_it, reason) > 0

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        served = self.environments.get(allocation_id)

        def is_one(connection: SshConnection) -> bool:
            key = connection.key
            return fingerprints is None or (key is not None and key.fingerprint in fingerprints)

        return 0 if served is None else await served.end(is_one, reason)

    async def events(self, kept: tuple[str, ...]) -> list[LoginEvent]:
        """Wait for login events and return them."""
        self.node.logins.kept(kept)
        while not self.node.logins.waiting():
            self._news.clear()
            await self._news.wait()
        return self.node.logins.waiting()

    def status(self) -> GatewayStatus:
        return GatewayStatus(
            version=self._version,
            pid=os.getpid(),
            environments=len(self.environments),
            connections=len(self.connections(None)),
            terminals=len(self.terminals.states(None)),
        )

    async def stop(self, reason: str) -> None:
        """Close all environments."""
        if self._enforcing is not None:
            self._enforcing.cancel()
        for served in list(self.environments.values()):
            await self.close_environment(served.id, reason)

    def hand_over(self) -> dict[str, Inherited]:
        """Stop serving without closing connections."""
        if self._enforcing is not None:
            self._enforcing.cancel()
        self.terminals.hand_over()
        given = {id: each.hand_over() for id, each in self.environments.items()}
        return {id: listeners for id, listeners in given.items() if listeners is not None}


def _reopening_fields(access: EnvironmentAccess) -> tuple[object, ...]:
    return tuple(getattr(access, name) for name in REOPENING_FIELDS)
