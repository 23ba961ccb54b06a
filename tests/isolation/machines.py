"""A machine with a key of its own, that dials in by the real link and says whatever it is told to."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import Ack, Challenge, Down, Hello, Up, Welcome, link_proof
from gpuaas.wire.task_keys import TrustedKey
from tests.isolation.asgi import Socket
from tests.world import World

ORIGIN = "http://127.0.0.1:8080"
decoder: msgspec.msgpack.Decoder[Down] = msgspec.msgpack.Decoder(Down)


@dataclass(frozen=True)
class Machine:
    world: World
    id: str
    key: Ed25519PrivateKey
    facts: NodeFacts

    def dial(self, path_id: str = "", *, token: str = "") -> Socket:
        app: Any = self.world.app
        return Socket(app, f"/internal/v1/nodes/{path_id or self.id}/link", token)

    def hello(
        self,
        nonce: bytes,
        *,
        as_: str = "",
        origin: str = ORIGIN,
        instance: str = "",
        trusts: Sequence[TrustedKey] = (),
    ) -> bytes:
        id = as_ or self.id
        return encode(
            Hello(
                node_id=id,
                proof=self.key.sign(link_proof(nonce, id, origin)),
                agent_version="1",
                engine="fake",
                boot_id="b",
                facts=self.facts,
                instance=instance,
                origin=origin,
                trusted_keys=list(trusts),
            )
        )

    async def link(self) -> Socket:
        """Opened, and welcomed."""
        socket = self.dial()
        nonce = await challenged(socket)
        socket.say(self.hello(nonce))
        assert isinstance(await heard(socket), Welcome)
        return socket


async def enrol(world: World, name: str) -> Machine:
    """By token, with two slots approved."""
    operator, key = world.operator.http, Ed25519PrivateKey.generate()
    asked = await operator.post("/api/v1/admin/enrolment-tokens", json={"node_name": name})
    issued = asked.raise_for_status().json()
    facts = await FakeEngine(clock=world.clock.now, gpus=2).probe()
    public = base64.b64encode(key.public_key().public_bytes_raw()).decode()
    shown = {"token": issued["token"], "public_key": public, "agent_version": "1", "facts": msgspec.to_builtins(facts)}
    (await world.stranger.post("/internal/v1/nodes/enrol", json=shown)).raise_for_status()
    for index in range(2):
        approved = await operator.post(f"/api/v1/admin/nodes/{issued['node_id']}/slots/{index}/approve", json={})
        approved.raise_for_status()
    return Machine(world, issued["node_id"], key, facts)


async def challenged(socket: Socket) -> bytes:
    """The server takes any caller's connection and asks who it is, before it looks anything up."""
    assert (await socket.next())["type"] == "websocket.accept"
    message = await heard(socket)
    assert isinstance(message, Challenge)
    return message.nonce


async def heard(socket: Socket) -> Down:
    return decoder.decode((await socket.next())["bytes"])


async def acknowledged(socket: Socket) -> Ack:
    """Whatever else comes first, tasks for one, is let by."""
    while not isinstance(message := await heard(socket), Ack):
        pass
    return message


def encode(message: Up) -> bytes:
    return msgspec.msgpack.encode(message)
