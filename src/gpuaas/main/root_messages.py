"""Messages between the supervisor of `gpuaas up` and the root process that runs its agent, as JSON lines."""

from pathlib import Path

import msgspec

PYCACHE = "/var/cache/gpuaas/python"  # root must not leave files in a checkout of another user


class Begin(msgspec.Struct, tag="begin", frozen=True, kw_only=True):
    """The order to prepare and run a node; `environ` has the variables that sudo removes."""

    folder: Path
    url: str
    gpus: int
    shared_storage: Path
    log: Path
    environ: dict[str, str]


class Token(msgspec.Struct, tag="token", frozen=True):
    """An enrolment token, in answer to `NeedsToken`."""

    token: str


class Run(msgspec.Struct, tag="run", frozen=True):
    """Run the agent, and start it again whenever it ends."""


class Stop(msgspec.Struct, tag="stop", frozen=True):
    """End the agent in order, and then this process."""


class Ready(msgspec.Struct, tag="ready", frozen=True):
    """The root process has started."""


class NeedsToken(msgspec.Struct, tag="needs_token", frozen=True):
    """The node is not enrolled yet."""


class Prepared(msgspec.Struct, tag="prepared", frozen=True):
    node_id: str


class Failed(msgspec.Struct, tag="failed", frozen=True, kw_only=True):
    """The node could not be prepared."""

    why: str
    details: tuple[str, ...] = ()
    next_step: str = ""


class CrashLooping(msgspec.Struct, tag="crash_looping", frozen=True):
    """The agent ends right after its start, repeatedly."""


class Handover(msgspec.Struct, frozen=True):
    """Sent by the root process to its restarted self when the node is prepared."""

    begin: Begin
    node_id: str


Order = Begin | Token | Run | Stop
Event = Ready | NeedsToken | Prepared | Failed | CrashLooping
orders = msgspec.json.Decoder(Order, dec_hook=lambda kind, value: kind(value))
events = msgspec.json.Decoder(Event)
handovers = msgspec.json.Decoder(Handover, dec_hook=lambda kind, value: kind(value))


def encode(message: Order | Event | Handover) -> bytes:
    return msgspec.json.encode(message, enc_hook=str) + b"\n"
