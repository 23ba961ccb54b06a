"""The node link: the messages of server and agent, as msgpack over one WebSocket.

Opening: server `Challenge` → agent `Hello` → server `Welcome`. Then the server sends tasks, and the agent sends
progress, results, reports and beats. After an `Ack` the agent deletes a result, because the database has it. A
`Lease`, renewed each minute, keeps grants open: an offline node stops admitting them automatically.
"""

from enum import StrEnum
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from gpuaas.wire.common import Dated, Moment
from gpuaas.wire.environments import (
    Connection,
    DiskReport,
    Environment,
    LoginEvent,
    NodeFacts,
    ProofItem,
)
from gpuaas.wire.images import ImageReport
from gpuaas.wire.metrics import Samples
from gpuaas.wire.protocol import UNDECLARED, ProtocolRange
from gpuaas.wire.runtimes import StagedBundle
from gpuaas.wire.spares import SpareReport, WantedSpares
from gpuaas.wire.storage import (
    Check,
    VolumeObservation,
    VolumeReport,
)
from gpuaas.wire.task_keys import TaskKeyStatement, TrustedKey, TrustedKeys, Verifier

LINK_PURPOSE = "gpuaas-link-v1"
ROTATION_PURPOSE = "gpuaas-rotate-key-v1"
DEFAULT_PORTS = {"http": 80, "https": 443}
TASK_PURPOSE = b"gpuaas-task-v1\x00"
STREAM_PURPOSE = b"gpuaas-stream-v1\x00"
BEAT_SECONDS = 2.0
DEAD_AFTER_SECONDS = 5.0
LEASE_SECONDS = 300.0  # how long keys admit without contact to the server, except the current holder's
HOLDER_LEASE_SECONDS = 24 * 3600.0  # the same for the current holder's keys, unless the server sets another time


class Enrol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    token: str
    public_key: str  # base64 of 32 raw Ed25519 bytes
    agent_version: str
    facts: NodeFacts


class RotateKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node rotates its key: an operator's token, and signatures of the same bytes by the old key and the new one."""

    token: str
    public_key: str  # the new one: base64 of 32 raw Ed25519 bytes
    old_proof: str  # base64
    new_proof: str


class RotatedKey(Struct, frozen=True, kw_only=True):
    node_id: str
    verifiers: list[Verifier] = []  # the node trusts these task keys, and no others, from then on


class Enrolled(Struct, frozen=True, kw_only=True):
    node_id: str
    verifiers: list[Verifier]


class TaskBody(Dated, frozen=True, kw_only=True):
    """The signed part: exactly these bytes are verified before decoding, and never encoded again."""

    id: str
    node_id: str
    allocation_id: str | None
    lane: str = "environment"  # the part of the allocation that it is about: tasks of a lane run in order
    seq: int  # rises per allocation; an older one of the same lane is answered `superseded`
    boot: int
    kind: str
    wants: msgspec.Raw
    issued_at: Moment
    expires_at: Moment


class TaskStatus(StrEnum):
    """How a task ended, as the agent reports it."""

    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    REFUSED = "refused"  # unknown kind, bad signature, not for this node, stale boot: nothing was done


ENVIRONMENT_REMOVED = "the environment was removed and is never made again"
"""Why a node takes no further task for it but its removal; with the status `superseded`."""


class Challenge(Dated, frozen=True, kw_only=True, tag="challenge"):
    nonce: bytes
    server_time: Moment
    protocol: ProtocolRange = ProtocolRange()  # what the server supports; an older server declares none


class Welcome(Dated, frozen=True, kw_only=True, tag="welcome"):
    epoch: int
    server_time: Moment
    protocol: int = UNDECLARED  # the version that this link uses


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """Why no link opens; sent only to a node that proved its identity."""

    reason: str


class Task(Struct, frozen=True, kw_only=True, tag="task"):
    body: bytes
    signer: str
    signature: bytes


class Ack(Struct, frozen=True, kw_only=True, tag="ack"):
    task_ids: list[str]


class Lease(Dated, frozen=True, kw_only=True, tag="lease"):
    """How long keys admit from now without another lease. The holder's keys last longer than all others."""

    server_time: Moment
    seconds: float
    holder_seconds: float = HOLDER_LEASE_SECONDS


class Sessions(Dated, frozen=True, kw_only=True, tag="sessions"):
    """All connections to one environment; sent when they change, and periodically while there are any."""

    allocation_id: str
    sessions: list[Connection]
    at: Moment


class Logins(Struct, frozen=True, kw_only=True, tag="logins"):
    """SSH logins and logouts, each sent until the server has stored it; `dropped` counts those that did not fit into
    the agent's buffer since it started.
    """

    events: list[LoginEvent]
    dropped: int = 0


class LoginsKept(Struct, frozen=True, kw_only=True, tag="logins_kept"):
    ids: list[str]


class StreamBody(Dated, frozen=True, kw_only=True):
    """The signed part: which agent connects where, and to what the stream is joined. Valid once, for seconds."""

    id: str
    node_id: str
    allocation_id: str
    kind: str  # a name of wire/streams.py; an agent refuses one that it does not know
    target: msgspec.Raw
    url: str  # of the replica that asked
    secret: str  # presented to the replica as the second subprotocol
    expires_at: Moment


class OpenStream(Struct, frozen=True, kw_only=True, tag="stream"):
    body: bytes
    signer: str
    signature: bytes


class EndTerminals(Struct, frozen=True, kw_only=True, tag="end_terminals"):
    """Terminals that must end; the reason is for people who have one open."""

    terminal_ids: list[str]
    reason: str


class LiveTerminal(Struct, frozen=True, kw_only=True):
    id: str
    allocation_id: str
    is_attached: bool


class EndedTerminal(Struct, frozen=True, kw_only=True):
    id: str
    reason: str
    exit_code: int | None = None


class TerminalReport(Dated, frozen=True, kw_only=True, tag="terminals"):
    """All terminals on the node, and those that ended since the last report."""

    live: list[LiveTerminal]
    ended: list[EndedTerminal]
    at: Moment


class Report(Dated, frozen=True, kw_only=True, tag="report"):
    """All environments on the node; sent after `welcome`, and whenever they changed without a task."""

    environments: list[Environment]
    at: Moment


class Hello(Struct, frozen=True, kw_only=True, tag="hello"):
    node_id: str
    proof: bytes
    agent_version: str
    engine: str
    boot_id: str
    facts: NodeFacts
    instance: str = ""  # id of this agent process, chosen at its start; empty: an older agent
    origin: str = ""  # that the agent connected to and signed, so that a refusal can name it
    trusted_keys: list[TrustedKey] = []  # task keys; empty: an older agent
    protocol: ProtocolRange = ProtocolRange()  # what the agent supports; an older agent declares none


class Progress(Dated, frozen=True, kw_only=True, tag="progress"):
    task_id: str
    phase: str
    note: str
    at: Moment


class LogLines(Dated, frozen=True, kw_only=True, tag="log"):
    task_id: str
    first_seq: int
    lines: list[str]
    at: Moment


class Result(Dated, frozen=True, kw_only=True, tag="result"):
    task_id: str
    status: TaskStatus
    at: Moment
    reason: str = ""  # safe to show to the person
    detail: str = ""  # for operators
    highest_seq: int = 0  # superseded by its number: the highest that the node has taken in this lane
    environment: Environment | None = None
    proofs: list[ProofItem] = []
    bundle: StagedBundle | None = None  # of `runtime.stage`
    volume: VolumeObservation | None = None  # of tasks about a volume
    checks: list[Check] = []  # of `storage.conformance`
    note: str = ""  # how it was done, if there is more than one way
    found: dict[str, object] = {}  # all other fields that the kind of task declares as its result
    phases: list[Progress] = []  # all of them again: progress may have been lost with a link


class Beat(Struct, frozen=True, kw_only=True, tag="beat"):
    pass


Opened = Challenge | Welcome | Refused
Down = Opened | Task | Ack | LoginsKept | Lease | OpenStream | EndTerminals | TaskKeyStatement | WantedSpares
Seen = Report | TerminalReport | VolumeReport | SpareReport | DiskReport | ImageReport
Reported = Seen | Sessions | Logins | Samples | TrustedKeys
Up = Hello | Progress | LogLines | Result | Reported | Beat


def link_proof(nonce: bytes, node_id: str, origin: str) -> bytes:
    """The bytes that a node signs to open its link, bound to the server's nonce, the node and the origin it connected
    to.
    """
    return msgspec.msgpack.encode((LINK_PURPOSE, nonce, node_id, origin))


def rotation_proof(token: str, public_key: bytes) -> bytes:
    """The bytes that both keys of a node sign for a rotation."""
    return msgspec.msgpack.encode((ROTATION_PURPOSE, token, public_key))


def origin_of(url: str) -> str:
    """`scheme://host:port`, always with the port: a link proof is bound to it, and the server compares it."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or DEFAULT_PORTS.get(parts.scheme, 80)}"
