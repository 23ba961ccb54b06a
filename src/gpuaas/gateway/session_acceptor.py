"""Accepts session requests at an environment's socket: identifies the requester, checks it, starts the session."""

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpuaas.gateway import kernel
from gpuaas.gateway.connections import SshConnection
from gpuaas.gateway.limits import NODE_FULL
from gpuaas.gateway.node import Node
from gpuaas.gateway.processes import WatchedProcess
from gpuaas.gateway.records import SessionRecord
from gpuaas.gateway.sessions import (
    SESSION_DESCRIPTORS,
    STANDARD_ERROR,
    STARTED,
    NotASession,
    Session,
    StartedProcess,
    Waiter,
    exit_byte,
    name_of,
    order_of,
    refuse,
    reply,
    start_inside,
)

if TYPE_CHECKING:
    from gpuaas.gateway.environments import ServedEnvironment

NO_ACCESS = "The key of this connection no longer admits."
NOT_RUNNING = "The environment is not running."
LOST = "The session was lost when the SSH gateway of this node restarted."
TOO_MANY_SESSIONS = "This connection has too many sessions. Close some first."
REFUSED = "The session could not be started."


class Refused(Exception):
    """The message is shown to the client."""


class SessionAcceptor:
    def __init__(self, node: Node, environment: "ServedEnvironment") -> None:
        self._node, self._environment = node, environment
        self._orphans: dict[tuple[str, int], WatchedProcess] = {}

    def accept(self, line: socket.socket) -> None:
        try:
            pid, uid, pidfd = kernel.peer_of(line)
        except OSError:
            line.close()
            return
        try:
            self._start(line, pid, uid, pidfd)
        except Refused as refused:
            refuse(line, str(refused))
        except NotASession:
            line.close()
        except OSError as error:
            refuse(line, f"{REFUSED} {error.strerror}")
        finally:
            os.close(pidfd)

    def _start(self, line: socket.socket, pid: int, uid: int, pidfd: int) -> None:
        access = self._environment.access
        if uid != access.first_id + access.uid:
            raise NotASession
        connection = self._connection_of(pid)
        connection.read_log()
        if connection.refusal:
            raise Refused(connection.refusal)
        if not connection.is_admitted:
            raise Refused(NO_ACCESS)
        waiter = Waiter(pid, pidfd)
        known = self._node.records.session(connection.record.id, pid, waiter.born)
        if known is not None:
            self._resume(line, connection, known)
            return
        if len(connection.sessions) >= self._node.limits.sessions:
            raise Refused(TOO_MANY_SESSIONS)
        self._add(line, connection, waiter.pid, lambda: self._spawn(connection, waiter))

    def _connection_of(self, pid: int) -> SshConnection:
        """The connection that owns the pid namespace of this process; tenants cannot enter one."""
        namespace = kernel.pid_namespace_of(pid)
        for connection in self._environment.connections.values():
            if connection.pid_namespace == namespace:
                return connection
        raise NotASession

    def _spawn(self, connection: SshConnection, waiter: Waiter) -> StartedProcess:
        init = self._environment.init
        if init is None or init.ended.done():
            raise Refused(NOT_RUNNING)
        descriptors = waiter.descriptors()
        try:
            error = name_of(descriptors[STANDARD_ERROR])
            order = order_of(
                self._environment.access,
                init.pidfd,
                command=waiter.command,
                variables=waiter.variables,
                descriptors=descriptors,
            )
            record = SessionRecord(waiter=waiter.pid, waiter_born=waiter.born)
            self._node.records.write_session(connection.record.id, record)
            pid = start_inside(order, self._node.pid_namespace)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        born = kernel.birth_of(pid)
        started = SessionRecord(waiter=waiter.pid, waiter_born=waiter.born, pid=pid, born=born, error=error)
        self._node.records.write_session(connection.record.id, started)
        return StartedProcess(pid, os.pidfd_open(pid), born, error)

    def _resume(self, line: socket.socket, connection: SshConnection, known: SessionRecord) -> None:
        """Resume the waiter of a session from a previous gateway. Its process may have ended since."""
        orphan = self._orphans.pop((connection.record.id, known.waiter), None)
        if orphan is None:
            raise Refused(LOST)
        if orphan.ended.done():
            reply(line, STARTED + bytes([exit_byte(orphan.ended.result())]))
            line.close()
            self._node.records.remove_session(connection.record.id, known.waiter)
            return
        pidfd = os.dup(orphan.pidfd)
        orphan.forget()
        self._add(line, connection, known.waiter, lambda: StartedProcess(known.pid, pidfd, known.born, known.error))

    def adopt(self, connection: str) -> None:
        """Watch sessions of the previous gateway until their waiters have reconnected."""
        for known in self._node.records.sessions(connection):
            pidfd = kernel.open_process(known.pid, known.born) if known.pid else None
            if pidfd is not None:
                process = WatchedProcess(known.pid, pidfd, known.born, lambda _: None)
                self._orphans[connection, known.waiter] = process

    def forget(self, connection: str) -> None:
        """Remove an ended session."""
        for key in [key for key in self._orphans if key[0] == connection]:
            self._orphans.pop(key).forget()

    def _add(
        self, line: socket.socket, connection: SshConnection, waiter: int, process: Callable[[], StartedProcess]
    ) -> None:
        share = self._node.descriptors.take(SESSION_DESCRIPTORS)
        if share is None:
            raise Refused(NODE_FULL)

        def forget(session: Session) -> None:
            self._node.sessions.discard(session)
            if connection.sessions.get(waiter) is session:
                del connection.sessions[waiter]
            self._node.records.remove_session(connection.record.id, waiter)
            self._node.on_session_end()

        try:
            session = Session(line, process(), share, forget)
        except BaseException:
            share.give_back()
            raise
        connection.sessions[waiter] = session
        self._node.sessions.add(session)
        reply(line, STARTED)
