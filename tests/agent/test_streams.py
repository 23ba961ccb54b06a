"""Streams are dialled as they were asked for: by whom, by which node, once and in time."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from gpuaas.wire.link import OpenStream, StreamBody
from gpuaas.wire.terminals import TERMINAL
from tests.agent.link_server import NOON, eventually
from tests.agent.world import NODE_ID, SIGNER, world_in


def asked(
    id: str, url: str, *, node_id: str = NODE_ID, expires_at: datetime = NOON + timedelta(minutes=1)
) -> OpenStream:
    body = StreamBody(
        id=id,
        node_id=node_id,
        allocation_id="alloc_a",
        kind=TERMINAL.name,
        target=msgspec.Raw(msgspec.msgpack.encode(None)),
        url=url,
        secret="s",
        expires_at=expires_at,
    )
    return SIGNER.sign_stream(msgspec.msgpack.encode(body))


async def test_a_stream_is_dialled_once_and_only_as_signed_for_this_node_and_in_time(tmp_path: Path) -> None:
    dialled: list[str] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled.append((await reader.readline()).decode().split()[1].rpartition("/")[2])
        writer.close()

    async with (
        await asyncio.start_server(hang_up, "127.0.0.1", 0) as replica,
        world_in(tmp_path) as world,
        world.agent(),
    ):
        url = f"http://127.0.0.1:{replica.sockets[0].getsockname()[1]}"
        task_signature = SIGNER.sign(asked("as_a_task", url).body).signature
        for message in (
            asked("first", url),
            asked("late", url, expires_at=NOON - timedelta(seconds=1)),
            asked("elsewhere", url, node_id="node_other"),
            asked("in_clear", "http://gpuaas.example.com"),
            msgspec.structs.replace(asked("forged", url), signature=bytes(64)),
            msgspec.structs.replace(asked("as_a_task", url), signature=task_signature),
            asked("first", url),
            asked("last", url),
        ):
            await world.server.say(message)
        await eventually(lambda: {"first", "last"} <= set(dialled))
    assert sorted(dialled) == ["first", "last"]
