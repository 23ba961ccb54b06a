"""An environment served by the gateway: its listener, its connections and their sessions."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import msgspec

from gpuaas.gateway import kernel, sshd
from gpuaas.gateway.admission import Admission
from gpuaas.gateway.connections import SshConnection, SshdOrder, adopt_log, adopt_stream, socket_name, start_sshd
from gpuaas.gateway.limits import NODE_FULL
from gpuaas.gateway.listeners import Acceptor, listen, listen_unix
from gpuaas.gateway.node import Node
from gpuaas.gateway.processes import WatchedProcess
from gpuaas.gateway.records import ConnectionRecord
from gpuaas.gateway.session_acceptor import SessionAcceptor
from gpuaas.gateway.sessions import hang_up
from gpuaas.gateway.sshd_root import SshdRoot
from gpuaas.wire.environments import Connection
from gpuaas.wire.gateway import SESSION_SOCKET, AccessState, EnvironmentAccess

STOPPED = "the environment has stopped"
NOT_RUNNING = "the environment is not running"
TOO_MANY = "This person has too many connections to this environment. Close some first."
FULL = "This environment has reached its limit of connections. Close some first."
REFUSED_SECONDS = 2.0  # for a connection above the limit of its person to request a session, which shows the reason
CONNECTION_DESCRIPTORS = 3  # the socket, the pipe of sshd, its pidfd
log = logging.getLogger("gpuaas.gateway")
Inherited = tuple[socket.socket, socket.socket]
"""Listeners of a previous gateway: the port and the session socket."""


class ServedEnvironment:
    """Served from `open` until `close`; `set_access` changes only keys."""

    def __init__(
        self, node: Node, access: EnvironmentAccess, on_stopped: Callable[["ServedEnvironment"], None]
    ) -> None:
        self._node, self.access, self._on_stopped = node, access, on_stopped
        self.admission = Admission(access, node.leases)
        self.connections: dict[str, SshConnection] = {}
        self.init: WatchedProcess | None = None
        self._root: SshdRoot | None = None
        self._clients: Acceptor | None = None
        self._waiters: Acceptor | None = None
        self._sessions = SessionAcceptor(node, self)
        self.detail = NOT_RUNNING

    @property
    def id(self) -> str:
        return self.access.allocation_id

    @property
    def is_open(self) -> bool:
        return self._clients is not None

    def state(self) -> AccessState:
        return AccessState(
            allocation_id=self.id,
            is_open=self.is_open,
            key_generation=self.access.keys.generation,
            own_keys=self.admission.own_fingerprints(),
            detail="" if self.is_open else self.detail,
        )

    async def open(self, inherited: Inherited | None = None, *, defer_root: bool = False) -> None:
        """Serve the environment if its pid 1 is alive; otherwise `detail` has the reason. With `defer_root`, the root
        of sshd is created for the first connection, because a starting gateway opens many environments."""
        init = self.access.init
        pidfd = kernel.open_process(init.pid, init.born) if self._node.is_this_boot(init.machine_boot) else None
        if pidfd is None:
            self.detail = NOT_RUNNING
            return
        self.init = WatchedProcess(init.pid, pidfd, init.born, self._stopped)
        self._listen_for_waiters(inherited[1] if inherited else None)
        try:
            if not defer_root:
                self._sshd_root()
        except OSError as error:
            self.detail = f"the base image cannot be used: {error.strerror or error}"
            self._close_listeners()
            return
        await self._open_port(inherited[0] if inherited else None)

    async def open_again(self) -> None:
        """The last attempt to open failed: its port was in use, or it was not running."""
        if self.init is None or self.init.ended.done() or self._waiters is None:
            self._let_go()
            await self.open()
        else:
            await self._open_port()

    async def _open_port(self, inherited: socket.socket | None = None) -> None:
        address, port = self.access.bind, self.access.port
        listener = inherited or await listen(address, port, self._node.limits.listen_seconds)
        if listener is None:
            self.detail = f"another program has port {port}"
        elif self.init is None or self.init.ended.done():
            listener.close()
        else:
            self._clients = Acceptor(listener, self._accept)

    def _listen_for_waiters(self, inherited: socket.socket | None) -> None:
        folder = self._node.socket_folder(self.id)
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        folder.chmod(0o711)
        self._waiters = Acceptor(inherited or listen_unix(folder / SESSION_SOCKET, 0o666), self._sessions.accept)

    def set_access(self, access: EnvironmentAccess) -> None:
        """Apply changed keys or session settings, or the holder of a spare; close connections with a removed key."""
        self.access = access
        self.admission = Admission(access, self._node.leases)
        self._rename_connections()
        self.enforce()
        self._write_keys()

    def _rename_connections(self) -> None:
        """Connections to the spare get the id of its allocation."""
        for connection in self.connections.values():
            if connection.record.allocation_id != self.id:
                connection.record = msgspec.structs.replace(connection.record, allocation_id=self.id)
                self._node.records.write(connection.record)

    def _write_keys(self) -> None:
        if self._root is not None and not self.access.is_spare:
            self._root.admit(self.access, sshd.authorized_keys(self.admission.admitting().values()))

    def enforce(self) -> int:
        """Close connections whose key is no longer accepted; return their number."""
        live = [(each, each.key) for each in self.connections.values() if each.is_admitted]
        judged = [(connection, self.admission.objection(key)) for connection, key in live if key is not None]
        unwanted = [(connection, reason) for connection, reason in judged if reason]
        for connection, reason in unwanted:
            connection.cut(reason)
        return len(unwanted)

    # Connections

    def _accept(self, stream: socket.socket) -> None:
        try:
            host, port, *_ = stream.getpeername()
            self._make_room(host)
            self._serve(stream, f"{host}:{port}")
        except ConnectionRefusedError as refusal:
            with suppress(OSError):  # lines before the version string are free text; ssh shows them with -v
                stream.send(f"{refusal}\r\n".encode())
            stream.close()
        except OSError as error:
            log.warning("a connection to %s is refused: %s", self.id, error)
            stream.close()

    def _make_room(self, host: str) -> None:
        """Close the oldest connection without a proven key, so that idle ones cannot block new connections."""
        limits = self._node.limits
        strangers = [each for each in self.connections.values() if each.key is None and not each.is_cut]
        beside = [each for each in strangers if each.record.source.rpartition(":")[0] == host]
        live = sum(not each.is_cut for each in self.connections.values())
        for group, most in ((beside, limits.strangers_per_source), (strangers, limits.strangers)):
            if group and len(group) >= most:
                group[0].cut("")
                return
        if live >= limits.connections:
            if not strangers:
                raise ConnectionRefusedError(FULL)
            strangers[0].cut("")

    def _serve(self, stream: socket.socket, source: str) -> None:
        share = self._node.descriptors.take(CONNECTION_DESCRIPTORS)
        if share is None or self.init is None:
            raise ConnectionRefusedError(NODE_FULL)
        try:
            root = self._sshd_root()
            self._write_keys()
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pid, log_pipe = start_sshd(
                stream,
                SshdOrder(
                    init=self.init.pidfd,
                    root=root.namespace,
                    first_id=self.access.first_id,
                    cgroups=self.access.connection_cgroups,
                ),
                self._node.pid_namespace,
            )
        except BaseException:
            share.give_back()
            raise
        record = ConnectionRecord(
            id=self._node.new_id(),
            allocation_id=self.id,
            machine_boot=self._node.machine_boot,
            init_born=self.init.born,
            pid=pid,
            born=kernel.birth_of(pid),
            socket=socket_name(stream),
            source=source,
            opened_at=self._node.clock.now(),
        )
        self._node.records.write(record)
        self._add(record, os.pidfd_open(pid), stream, log_pipe).share = share

    def _sshd_root(self) -> SshdRoot:
        if self._root is None:
            self._root = SshdRoot(self.access, str(self._node.socket_folder(self.id)), str(self._node.root))
        return self._root

    def _add(self, record: ConnectionRecord, pidfd: int, stream: socket.socket, log_pipe: int) -> SshConnection:
        connection = SshConnection(
            record,
            pidfd=pidfd,
            stream=stream,
            log_pipe=log_pipe,
            username=self.access.username,
            on_proven=self._judge,
            on_end=self._ended,
        )
        self.connections[record.id] = connection
        return connection

    def adopt(self, record: ConnectionRecord) -> bool:
        """Take over a connection of a previous gateway; False if it has ended."""
        is_this_boot = self._node.is_this_boot(record.machine_boot)
        pidfd = kernel.open_process(record.pid, record.born) if is_this_boot else None
        if pidfd is None:
            return False
        try:
            if self.init is None or self.init.born != record.init_born:
                raise ProcessLookupError("the environment has restarted")
            stream = adopt_stream(record, pidfd)
            log_pipe = adopt_log(record)
        except OSError:
            kernel.signal_process(pidfd, signal.SIGKILL)  # otherwise no process could close it
            os.close(pidfd)
            return False
        connection = self._add(record, pidfd, stream, log_pipe)
        connection.share = self._node.descriptors.take(CONNECTION_DESCRIPTORS)
        connection.read_log()
        self._sessions.adopt(record.id)
        return True

    def end_strays(self) -> None:
        """Kill an sshd whose gateway died before writing its record, because no process could close it."""
        known = {connection.pid_namespace for connection in self.connections.values()}
        for pid in kernel.members_of(self.access.connection_cgroups):
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                if kernel.pid_namespace_of(pid) not in known:
                    os.kill(pid, signal.SIGKILL)

    def _judge(self, connection: SshConnection, fingerprint: str) -> None:
        """Handle a key that a client has proven. It may have been removed since sshd read the key file."""
        key = self.admission.admitting().get(fingerprint)
        if key is None:
            connection.cut(self.admission.refusal(fingerprint))
            return
        connection.record = msgspec.structs.replace(connection.record, key=key)
        admitted = [each for each in self.connections.values() if each.is_admitted]
        same = [each for each in admitted if each.key and each.key.user_id == key.user_id]
        if key.user_id and len(same) > self._node.limits.connections_per_person:
            connection.refuse(TOO_MANY, REFUSED_SECONDS)
            return
        self._node.records.write(connection.record)
        connection.has_login_event = True
        self._node.logins.opened(connection.described())
        self._node.on_news()

    def _ended(self, connection: SshConnection) -> None:
        self.connections.pop(connection.record.id, None)
        for session in self._node.records.sessions(connection.record.id):  # also those of a previous gateway
            hang_up(session)
        self._sessions.forget(connection.record.id)
        self._node.records.remove(connection.record.id)
        if connection.has_login_event:
            self._node.logins.closed(connection.described(), self._node.clock.now())
            self._node.on_news()

    def described(self) -> list[Connection]:
        return [each.described() for each in self.connections.values() if each.is_admitted]

    async def end(self, chosen: Callable[[SshConnection], bool], reason: str) -> int:
        """Close these and wait for their end; return how many had proven a key."""
        ending = [each for each in self.connections.values() if chosen(each)]
        count = sum(each.is_admitted for each in ending)
        for connection in ending:
            connection.cut(reason)
        await self.settle(ending)
        return count

    async def settle(self, ending: list[SshConnection] | None = None) -> None:
        """Wait for connections that are being closed."""
        waiting = [each for each in self.connections.values() if each.is_cut] if ending is None else ending
        await asyncio.gather(*(asyncio.shield(each.process.ended) for each in waiting))

    # End

    def _stopped(self, _code: int | None) -> None:
        self.detail = STOPPED
        self._close_listeners()
        for connection in list(self.connections.values()):
            connection.cut(STOPPED)
        self._on_stopped(self)

    async def close(self, reason: str) -> None:
        """Close listeners and connections, and release all descriptors of the environment."""
        self.detail = NOT_RUNNING
        self._close_listeners()
        await self.end(lambda _: True, reason)
        self._let_go()
        self._node.forget_socket_folder(self.id)

    def hand_over(self) -> Inherited | None:
        """Stop serving without closing connections; return the listeners for the next gateway."""
        for connection in self.connections.values():
            connection.forget()
            self._sessions.forget(connection.record.id)
        self.connections.clear()
        self._let_go()
        if self._clients is None or self._waiters is None:
            self._close_listeners()
            return None
        for acceptor in (self._clients, self._waiters):
            acceptor.pause()
        return self._clients.listener, self._waiters.listener

    def _close_listeners(self) -> None:
        for acceptor in (self._clients, self._waiters):
            if acceptor is not None:
                acceptor.close()
        self._clients = self._waiters = None

    def _let_go(self) -> None:
        if self._root is not None:
            self._root.close()
            self._root = None
        if self.init is not None:
            self.init.forget()
            self.init = None
