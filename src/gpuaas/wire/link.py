"""The node link: what server and agent say to each other, as msgpack over one WebSocket.

Opening: server `Challenge` → agent `Hello` → server `Welcome`. Then tasks go down, progress, results, reports and
beats come up, and an `Ack` lets the agent forget a result that the database has. A `Lease`, renewed each minute, keeps
what was shared with others open: a node that is cut off stops admitting them by itself.
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
LEASE_SECONDS = 300.0  # how long keys admit without hearing from the server, but for the current holder's
HOLDER_LEASE_SECONDS = 24 * 3600.0  # how long the current holder's do, unless the server says otherwise


class Enrol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    token: str
    public_key: str  # base64 of 32 raw Ed25519 bytes
    agent_version: str
    facts: NodeFacts


class RotateKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node changes its key: an operator's token, and a signature of the same bytes by the old key and by the new."""

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
    """What is signed: these exact bytes, verified before they are decoded and never encoded again."""

    id: str
    node_id: str
    allocation_id: str | None
    lane: str = "environment"  # what of the allocation it is about: tasks of a lane follow each other
    seq: int  # rises per allocation; an older one of the same lane is answered `superseded`
    boot: int
    kind: str
    wants: msgspec.Raw
    issued_at: Moment
    expires_at: Moment


class TaskStatus(StrEnum):
    """How a task ended, as the agent tells it."""

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
    """Why no link opens; said only to a node that proved who it is."""

    reason: str


class Task(Struct, frozen=True, kw_only=True, tag="task"):
    body: bytes
    signer: str
    signature: bytes


class Ack(Struct, frozen=True, kw_only=True, tag="ack"):
    task_ids: list[str]


class Lease(Dated, frozen=True, kw_only=True, tag="lease"):
    """How long keys admit from this moment without another lease. The holder's keys last longer than all others."""

    server_time: Moment
    seconds: float
    holder_seconds: float = HOLDER_LEASE_SECONDS


class Sessions(Dated, frozen=True, kw_only=True, tag="sessions"):
    """Who is in one environment, whole; sent when somebody came or went, and now and then while anybody is in."""

    allocation_id: str
    sessions: list[Connection]
    at: Moment


class Logins(Struct, frozen=True, kw_only=True, tag="logins"):
    """SSH logins and logouts, each sent until the server has kept it; `dropped` counts those the agent had no room
    for since it started."""

    events: list[LoginEvent]
    dropped: int = 0


class LoginsKept(Struct, frozen=True, kw_only=True, tag="logins_kept"):
    ids: list[str]


class StreamBody(Dated, frozen=True, kw_only=True):
    """What is signed: who dials where, to be joined to what. Good once, for seconds."""

    id: str
    node_id: str
    allocation_id: str
    kind: str  # a name of wire/streams.py; an agent answers one that it does not know
    target: msgspec.Raw
    url: str  # of the replica that asked
    secret: str  # shown to it as the second subprotocol
    expires_at: Moment


class OpenStream(Struct, frozen=True, kw_only=True, tag="stream"):
    body: bytes
    signer: str
    signature: bytes


class EndTerminals(Struct, frozen=True, kw_only=True, tag="end_terminals"):
    """These must be no more; the reason is for whoever still looks."""

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
    """Every terminal on the node, whole; and those that ended since the last telling."""

    live: list[LiveTerminal]
    ended: list[EndedTerminal]
    at: Moment


class Report(Dated, frozen=True, kw_only=True, tag="report"):
    """Everything that exists on the node, whole; sent after `welcome` and whenever it changed unasked."""

    environments: list[Environment]
    at: Moment


class Hello(Struct, frozen=True, kw_only=True, tag="hello"):
    node_id: str
    proof: bytes
    agent_version: str
    engine: str
    boot_id: str
    facts: NodeFacts
    instance: str = ""  # of this agent process, made at its start; empty: an older agent
    origin: str = ""  # that the agent dialled and signed, so that a refusal can name it
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
    bundle: StagedBundle | None = None  # what `runtime.stage` left
    volume: VolumeObservation | None = None  # what tasks about a volume found of it
    checks: list[Check] = []  # what `storage.conformance` tried
    note: str = ""  # how it was done, in words, where there is more than one way
    found: dict[str, object] = {}  # all else that the kind of task declares as its result
    phases: list[Progress] = []  # all of them again: progress may have been lost with a link


class Beat(Struct, frozen=True, kw_only=True, tag="beat"):
    pass


Opened = Challenge | Welcome | Refused
Down = Opened | Task | Ack | LoginsKept | Lease | OpenStream | EndTerminals | TaskKeyStatement | WantedSpares
Seen = Report | TerminalReport | VolumeReport | SpareReport | DiskReport | ImageReport
Reported = Seen | Sessions | Logins | Samples | TrustedKeys
Up = Hello | Progress | LogLines | Result | Reported | Beat


def link_proof(nonce: bytes, node_id: str, origin: str) -> bytes:
    """The bytes a node signs to open its link: bound to this server's nonce, this node and the origin it dialled."""
    return msgspec.msgpack.encode((LINK_PURPOSE, nonce, node_id, origin))


def rotation_proof(token: str, public_key: bytes) -> bytes:
    """The bytes that both keys of a node sign to change one for the other."""
    return msgspec.msgpack.encode((ROTATION_PURPOSE, token, public_key))


def origin_of(url: str) -> str:
    """`scheme://host:port`, the port always written: what a link proof is bound to, and what a server expects."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or DEFAULT_PORTS.get(parts.scheme, 80)}"
