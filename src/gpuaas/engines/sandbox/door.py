"""The way in: one SSH listener per allocation, admitting exactly the key set in force."""

# ruff: noqa: ARG002 (the signatures are AsyncSSH's)

import asyncio
import base64
import hashlib
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any
from weakref import WeakSet

import asyncssh

from gpuaas.engines.base import EngineError
from gpuaas.engines.descriptors import Descriptors, Share
from gpuaas.engines.leases import WITHDRAWN, Leases
from gpuaas.engines.logins import Logins
from gpuaas.engines.sandbox.inside import Inside
from gpuaas.engines.sandbox.own_keys import OwnKeys
from gpuaas.engines.sandbox.sessions import ForwardSession, ProcessSession, Traffic
from gpuaas.wire.environments import AuthorizedKey, Connection, KeySet

LOGIN_SECONDS = 20
ATTEMPT_LIMIT = 20
CONNECTION_LIMIT = 100
STRANGER_LIMIT = 20
SESSION_LIMIT = 64
"""Per connection; with the limit of connections it bounds the descriptors one person can make the agent hold."""

SESSION_DESCRIPTORS = 4  # the line to pid 1, and three pipes
FORWARD_DESCRIPTORS = 2
NO_ROOM = "The node has too many connections. Close some, or try again later."

CLOSE_SECONDS = 1.0
"""How long a cut connection may take to read why before it is dropped."""

KEEPALIVE_SECONDS = 30
CUT = asyncssh.DISC_SERVICE_NOT_AVAILABLE  # clients show its text as an error; that of DISC_BY_APPLICATION they hide

KEY_EXCHANGES = ("curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256")
CIPHERS = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
)


class Visitor(asyncssh.SSHServer):
    """One connection, from first byte to last."""

    def __init__(self, door: "Door") -> None:
        self._door = door
        self._attempts = 0
        self._offered: AuthorizedKey | None = None
        self.key: AuthorizedKey | None = None
        self.traffic = Traffic()
        self.is_cut = self.is_logged_in = False
        self.share: Share | None = None
        self._sessions: WeakSet[ProcessSession] = WeakSet()
        self._forwards: WeakSet[ForwardSession] = WeakSet()

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.connection = conn
        host, port, *_ = conn.get_extra_info("peername") or ("?", 0)
        _, here, *_ = conn.get_extra_info("sockname") or ("?", 0)
        self.address = (str(host), int(port), int(here))
        self.source = f"{host}:{port}"
        self.opened_at = self._door.clock()
        self.id = hashlib.sha256(f"{self.source} {self.opened_at.isoformat()}".encode()).hexdigest()[:16]
        if not self._door.welcome(self):
            conn.abort()

    @property
    def is_in(self) -> bool:
        return self.key is not None and not self.is_cut

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.visitors.discard(self)
        if self.share is not None:
            self.share.give_back()
        if self.is_logged_in and self.key is not None:
            self._door.logins.closed(self.described(self.key), self._door.clock())

    def described(self, key: AuthorizedKey) -> Connection:
        return Connection(
            id=self.id,
            allocation_id=self._door.allocation_id,
            user_id=key.user_id,
            key_fingerprint=key.fingerprint,
            source=self.source,
            opened_at=self.opened_at,
            bytes_in=self.traffic.into,
            bytes_out=self.traffic.out,
        )

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Asked for each offer, and again right before a signature is checked: the last asked is the one proven."""
        self._attempts += 1
        if self._attempts > ATTEMPT_LIMIT:
            self.connection.disconnect(asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE, "Too many keys tried")
            return False
        self._offered = self._door.admits(username, key.public_data)
        return self._offered is not None

    def auth_completed(self) -> None:
        self.key = self._offered
        if self._door.check(self) and self.key is not None:
            self.is_logged_in = True
            self._door.logins.opened(self.described(self.key))

    def session_requested(self) -> ProcessSession | bool:
        if not self._door.check(self):
            return False
        host, port, here = self.address
        variables = {"SSH_CLIENT": f"{host} {port} {here}", "SSH_CONNECTION": f"{host} {port} {host} {here}"}
        if len(self._sessions) >= SESSION_LIMIT:
            return False
        share = self._door.descriptors.take(SESSION_DESCRIPTORS)
        if share is None:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, NO_ROOM)
        session = ProcessSession(self._door.inside, variables, self.traffic, share)
        self._sessions.add(session)
        return session

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Coroutine[Any, Any, ForwardSession] | bool:
        if not self._door.check(self) or len(self._forwards) >= SESSION_LIMIT:
            return False
        return self._forward(dest_host, dest_port)

    def cut(self, reason: str) -> None:
        """Told in every session first: a client whose channel closes may leave before it reads the disconnect."""
        self.is_cut = True
        for session in self._sessions:
            session.tell(reason)
        self.connection.disconnect(CUT, reason)
        asyncio.get_running_loop().call_later(CLOSE_SECONDS, self.connection.abort)

    async def _forward(self, host: str, port: int) -> ForwardSession:
        share = self._door.descriptors.take(FORWARD_DESCRIPTORS)
        if share is None:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, NO_ROOM)
        try:
            session = ForwardSession(await self._door.inside.connect(host, port), self.traffic, share)
        except BaseException as error:
            share.give_back()
            if isinstance(error, EngineError):
                raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, error.detail) from error
            raise
        self._forwards.add(session)
        return session


class Door:
    """Opens when the environment runs, closes with it; keys may change at any time."""

    def __init__(
        self,
        *,
        inside: Inside,
        username: str,
        keys: KeySet,
        own: OwnKeys,
        clock: Callable[[], datetime],
        leases: Leases,
        descriptors: Descriptors,
        logins: Logins,
        allocation_id: str,
    ) -> None:
        self.logins, self.allocation_id = logins, allocation_id
        self.descriptors = descriptors
        self.inside, self.clock = inside, clock
        self._username, self._leases, self._own = username, leases, own
        self.visitors: set[Visitor] = set()
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self.set_keys(keys)

    @property
    def is_open(self) -> bool:
        return self._acceptor is not None

    async def open(self, listener: socket.socket, host_key: asyncssh.SSHKey) -> None:
        self._acceptor = await asyncssh.listen(
            sock=listener,
            backlog=64,
            server_factory=lambda: Visitor(self),
            server_host_keys=[host_key],
            server_version="GPUaaS",
            kex_algs=KEY_EXCHANGES,
            encryption_algs=CIPHERS,
            compression_algs=None,
            x509_trusted_certs=None,
            login_timeout=LOGIN_SECONDS,
            keepalive_interval=KEEPALIVE_SECONDS,
            gss_host=None,
            agent_forwarding=False,
            encoding=None,
            line_editor=False,
        )

    def set_keys(self, keys: KeySet) -> None:
        """From here on; who is in by a key that is not among them is out."""
        self.keys = keys
        self._admitted = {base64.b64decode(key.blob): key for key in keys.keys}
        self.enforce()

    def enforce(self) -> int:
        """Cut who would not be let in now; how many."""
        judged = [(visitor, self._objection(visitor.key)) for visitor in self.visitors if visitor.key and visitor.is_in]
        unwanted = [(visitor, reason) for visitor, reason in judged if reason]
        for visitor, reason in unwanted:
            visitor.cut(reason)
        return len(unwanted)

    def _objection(self, key: AuthorizedKey) -> str:
        """Judged as the set in force has it: the same key may by now be granted, the holder's own, or gone."""
        if not key.user_id and self.keys.admits_own:
            return self._own_objection(key)
        current = self._admitted.get(base64.b64decode(key.blob))
        return WITHDRAWN if current is None else self._leases.objection(current)

    def welcome(self, visitor: Visitor) -> bool:
        """Room for one more; strangers have not proven a key yet."""
        strangers = sum(other.key is None for other in self.visitors)
        if len(self.visitors) >= CONNECTION_LIMIT or strangers >= STRANGER_LIMIT:
            return False
        visitor.share = self.descriptors.take(1)
        if visitor.share is None:
            return False
        self.visitors.add(visitor)
        return True

    def admits(self, username: str, public_data: bytes) -> AuthorizedKey | None:
        """One that the platform knows; else one of the person's own file, where that is allowed."""
        if username != self._username:
            return None
        key = self._admitted.get(public_data)
        if key is not None and not self._leases.objection(key):
            return key
        if not self.keys.admits_own:
            return None
        own = None
        with suppress(OSError):  # a file that cannot be read now admits nobody
            own = self._own.read().get(public_data)
        return None if own is None or self._own_objection(own) else own

    def _own_objection(self, key: AuthorizedKey) -> str:
        """Why a key of the own file does not admit: its person is known to have no access, or there is no lease."""
        return WITHDRAWN if key.fingerprint in self.keys.refused_own else self._leases.objection(key, is_own_file=True)

    def own_keys(self) -> tuple[str, ...] | None:
        """Fingerprints of those in the person's own file that the platform does not know."""
        if not self.keys.admits_own:
            return None
        return tuple(sorted(key.fingerprint for blob, key in self._own.read().items() if blob not in self._admitted))

    def check(self, visitor: Visitor) -> bool:
        """The key may have been withdrawn between proof and use."""
        reason = WITHDRAWN if visitor.key is None else self._objection(visitor.key)
        if reason:
            visitor.connection.disconnect(asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE, reason)
        return not reason

    def connections(self) -> list[Connection]:
        return [visitor.described(visitor.key) for visitor in self.visitors if visitor.key and visitor.is_in]

    def end_one(self, id: str, reason: str) -> bool:
        chosen = [visitor for visitor in self.visitors if visitor.is_in and visitor.id == id]
        for visitor in chosen:
            visitor.cut(reason)
        return bool(chosen)

    def end(self, fingerprints: frozenset[str] | None, reason: str) -> int:
        """Cut; each is told why, and dropped if it will not listen."""
        chosen = [
            visitor
            for visitor in self.visitors
            if fingerprints is None or (visitor.key is not None and visitor.key.fingerprint in fingerprints)
        ]
        for visitor in chosen:
            visitor.cut(reason)
        return sum(visitor.key is not None for visitor in chosen)

    async def close(self, reason: str) -> None:
        """Stop listening, cut everyone, and come back when all are gone."""
        if self._acceptor is not None:
            self._acceptor.close()
            await self._acceptor.wait_closed()
            self._acceptor = None
        gone = [visitor.connection.wait_closed() for visitor in self.visitors]
        self.end(None, reason)
        await asyncio.gather(*gone)
