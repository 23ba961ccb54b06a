"""Opens a node's link: challenge, hello, proof of identity, and the row that records which replica has the link."""

import asyncio
import os
from contextlib import suppress
from datetime import timedelta

import asyncpg
import msgspec
import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gpuaas.core.batching import Batcher
from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.contests import contest
from gpuaas.domain.links import store as link_rows
from gpuaas.links.link import Link, Socket, UnreadableError, read
from gpuaas.links.task_keys import NO_KEY, LinkTaskKeys
from gpuaas.wire.link import Challenge, Hello, Refused, link_proof
from gpuaas.wire.protocol import SUPPORTED, ProtocolMismatch, ProtocolRange, agree

HELLO_SECONDS = 10.0
INSTANCE_LENGTH = 64
log = structlog.get_logger()
OPENED = 200  # links opened in one transaction, because a fleet reconnects within seconds


class LinkRefused(Exception):
    """The connecting agent could not prove that it is the node."""


class Handshakes:
    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        replica_id: str,
        origins: frozenset[str],
        keys: LinkTaskKeys,
        supported: ProtocolRange = SUPPORTED,
    ) -> None:
        self._db, self._clock = db, clock
        self._replica_id, self._origins = replica_id, list(origins)
        self._keys, self.supported = keys, supported
        self._known = Batcher(self._look_up, most=OPENED)
        self._rows = Batcher(self._write, most=OPENED)

    async def open(self, socket: Socket, node_id: str) -> Link:
        nonce = os.urandom(32)
        challenge = Challenge(nonce=nonce, server_time=self._clock.now(), protocol=self.supported)
        await socket.send(msgspec.msgpack.encode(challenge))
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                hello = read(await socket.receive())
        except (TimeoutError, UnreadableError) as error:
            raise LinkRefused("no hello") from error
        if not isinstance(hello, Hello) or hello.node_id != node_id:
            raise LinkRefused("the first message is not this node's hello")
        try:
            known = await self._known.submit(node_id)
            await self._check(socket, hello, nonce, known.public_key)
            version = await self._agree(socket, hello)
            trusted = await self._trusted(socket, hello, known.task_key_generation)
            epoch = await self._rows.submit((hello, trusted))
            if epoch is None:
                raise LinkRefused("it does not name its agent process, as the node's agents did before")
        except (asyncpg.DataError, ValueError) as error:  # such as an id that no text column can store
            raise LinkRefused("its hello cannot be stored") from error
        # The time that the server needs to open the link does not count as silence: thousands may open at once.
        return Link(node_id, socket, epoch, self._clock.monotonic() + HELLO_SECONDS, trusted, protocol=version)

    async def _look_up(self, node_ids: list[str]) -> list[capacity.LinkKey]:
        async with self._db.read() as tx:
            return await capacity.link_keys(tx, node_ids)

    async def _agree(self, socket: Socket, hello: Hello) -> int:
        """A mismatch is reported only to a node that has proved its identity."""
        try:
            return agree(agent=hello.protocol, server=self.supported)
        except ProtocolMismatch as error:
            await socket.send(msgspec.msgpack.encode(Refused(reason=str(error))))
            raise LinkRefused(str(error)) from error

    async def _trusted(self, socket: Socket, hello: Hello, recorded: int) -> tuple[int, ...]:
        trusted = self._keys.trusted_by(hello, recorded)
        if not trusted:
            await socket.send(msgspec.msgpack.encode(Refused(reason=NO_KEY)))
            raise LinkRefused("the node trusts no task key that is still used")
        return trusted

    async def _check(self, socket: Socket, hello: Hello, nonce: bytes, public_key: bytes | None) -> None:
        if public_key is None:
            raise LinkRefused("unknown, not enrolled, or retired")
        key = Ed25519PublicKey.from_public_bytes(public_key)
        for origin in list(self._origins):
            with suppress(InvalidSignature):
                key.verify(hello.proof, link_proof(nonce, hello.node_id, origin))
                if origin != self._origins[0]:  # most nodes use the same origin; a wrong guess costs 0.1 ms
                    self._origins.sort(key=lambda each: each != origin)
                return
        with suppress(InvalidSignature):
            key.verify(hello.proof, link_proof(nonce, hello.node_id, hello.origin))
            reason = (
                f"The agent used {hello.origin or 'an empty URL'}, and this server is {' or '.join(self._origins)}. "
                "Set GPUAAS_URL of the server to the URL that agents use, or run `gpuaas agent move --server URL` "
                "on the node with the server's URL."
            )
            await socket.send(msgspec.msgpack.encode(Refused(reason=reason)))
            raise LinkRefused(reason)
        raise LinkRefused("the proof is not valid")

    async def _write(self, proved: list[tuple[Hello, tuple[int, ...]]]) -> list[int | None]:
        """Returns the epoch of each link, or None if it does not open. If a node occurs twice in a batch, the
        database refuses the batch, and the batcher tries each link alone.
        """
        now, hellos = self._clock.now(), [hello for hello, _ in proved]
        opened = [
            capacity.OpenedLink(
                node_id=hello.node_id,
                facts=hello.facts,
                agent_version=hello.agent_version,
                boot_id=hello.boot_id,
                task_key_generation=trusted[-1],
            )
            for hello, trusted in proved
        ]
        instances = {hello.node_id: hello.instance[:INSTANCE_LENGTH] for hello in hellos}
        async with self._db.write() as tx:
            links, contests = await link_rows.open_links(tx, instances, self._replica_id, now)
            await capacity.links_opened(tx, [each for each in opened if each.node_id in links], now)
            trusts = {hello.node_id: trusted for hello, trusted in proved if hello.node_id in links}
            if trusts:
                await self._keys.recover(tx, trusts, now)
            disputed = [id for id, link in links.items() if link.replaces_live]
            if disputed:
                await capacity.dispute(tx, disputed, now + timedelta(seconds=link_rows.DISPUTE_SECONDS))
            raised = [each.node_id for each in contests if await contest(tx, each, now)]
        for node_id in raised:
            log.error("link.contested", node=node_id)
        return [link.epoch if (link := links.get(hello.node_id)) else None for hello in hellos]
