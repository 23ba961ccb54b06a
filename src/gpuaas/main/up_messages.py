"""Messages between the supervisor of `gpuaas up` and its setup process, as JSON lines."""

from pathlib import Path

import msgspec

from gpuaas.main.engine_kinds import EngineKind
from gpuaas.main.up_file import UpFile


class SetUp(msgspec.Struct, tag="set_up", frozen=True, kw_only=True):
    """The first order. `has_root`: a root process prepares the node, and the supervisor exchanges messages with it."""

    folder: Path
    url: str
    engine: EngineKind
    with_demo: bool
    has_root: bool


class MakeToken(msgspec.Struct, tag="make_token", frozen=True):
    """An enrolment token, for the root process."""


class NodeIs(msgspec.Struct, tag="node_is", frozen=True):
    """The root process has prepared this node."""

    node_id: str


class DatabaseReady(msgspec.Struct, tag="database_ready", frozen=True):
    """The server can start."""

    dsn: str


class Progress(msgspec.Struct, tag="progress", frozen=True):
    """A line for the person."""

    line: str


class NeedsNode(msgspec.Struct, tag="needs_node", frozen=True):
    """The root process has to prepare the node now."""


class TokenMade(msgspec.Struct, tag="token_made", frozen=True):
    token: str


class NodeReady(msgspec.Struct, tag="node_ready", frozen=True):
    """The agent can start."""


class Done(msgspec.Struct, tag="done", frozen=True):
    """Server and node answer."""

    file: UpFile


class NotDone(msgspec.Struct, tag="not_done", frozen=True, kw_only=True):
    why: str
    details: tuple[str, ...] = ()
    next_step: str = ""


Order = SetUp | MakeToken | NodeIs
Event = DatabaseReady | Progress | NeedsNode | TokenMade | NodeReady | Done | NotDone
orders = msgspec.json.Decoder(Order, dec_hook=lambda kind, value: kind(value))
events = msgspec.json.Decoder(Event)


def encode(message: Order | Event) -> bytes:
    return msgspec.json.encode(message, enc_hook=str) + b"\n"
