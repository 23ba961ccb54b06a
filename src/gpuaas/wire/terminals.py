"""Browser terminals: the token request, and the messages on its sockets in addition to terminal bytes.

Binary messages are terminal bytes, in both directions on both sockets; text messages are one of the structs below, as
JSON. On the browser's socket, the browser sends `Resize` and `Shown`, and the server `Session`, `Exit`, `Error` and
`Notice`. On the agent's stream, the server sends `Resize` and `Confirm`, and the agent `Begin`, `Exit` and `Error`.
"""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from gpuaas.wire.common import NO_CONTROL_CHARACTERS, Reference
from gpuaas.wire.streams import StreamKind

SUBPROTOCOL = "gpuaas.terminal.v1"
WINDOW = 256 * 1024  # bytes of output that may be unconfirmed, and that are kept for a reattach
UNREADABLE, TAKEN_OVER, ENDED, UNREACHABLE = 4400, 4409, 4410, 4502  # close codes
Cells = Annotated[int, Meta(ge=1, le=10_000)]


class MintTerminalToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`session_id` reattaches to an open terminal; `record` records its output."""

    session_id: Reference | None = None
    record: bool = False


class TerminalToken(Struct, frozen=True, kw_only=True):
    """Valid once, for half a minute, as the second subprotocol of a WebSocket to `url`."""

    token: str
    expires_at: datetime
    url: str
    session_id: str | None = None
    recorded: bool = False


class OpenBreakGlass(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An operator's access to an allocation of other people. They see the reason, and may end the access."""

    reason: Annotated[str, Meta(min_length=5, max_length=500, pattern=NO_CONTROL_CHARACTERS)]
    minutes: Annotated[int, Meta(ge=1, le=240)] = 60
    session_id: Reference | None = None  # reattaches to an open terminal


class BreakGlass(Struct, frozen=True, kw_only=True):
    id: str
    project_id: str
    allocation_id: str
    user_id: str
    email: str
    reason: str
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    ended_by: str | None = None


class BreakGlassOpened(Struct, frozen=True, kw_only=True):
    access: BreakGlass
    terminal: TerminalToken


class Terminal(Struct, frozen=True, kw_only=True):
    """One shell that was opened in a browser, from its start to its end."""

    id: str
    allocation_id: str
    user_id: str
    source: str
    opened_at: datetime
    recorded: bool
    closed_at: datetime | None = None
    reason: str = ""
    exit_code: int | None = None
    recorded_bytes: int = 0


class Resize(Struct, frozen=True, kw_only=True, tag="resize"):
    cols: Cells
    rows: Cells


class Shown(Struct, frozen=True, kw_only=True, tag="shown"):
    """How many bytes of this socket a page has drawn. A page cannot stop reading its socket; after the first such
    message, the server sends at most one window more than was drawn.
    """

    bytes: Annotated[int, Meta(ge=0)]


class Session(Struct, frozen=True, kw_only=True, tag="session"):
    """The first message to a browser. With `resumed`, the last output follows again, so the page starts with an empty
    screen.
    """

    session_id: str
    resumed: bool
    recorded: bool
    notice: str = ""  # to be shown: that it is recorded, and why


class Exit(Struct, frozen=True, kw_only=True, tag="exit"):
    """The shell exited; a negative code is the signal that ended it."""

    code: int


class Error(Struct, frozen=True, kw_only=True, tag="error"):
    """The terminal ended, or is unavailable. With `reattach` it may still be open: request a token with its
    `session_id`.
    """

    reason: str
    reattach: bool = False


class Notice(Struct, frozen=True, kw_only=True, tag="notice"):
    text: str


class Begin(Struct, frozen=True, kw_only=True, tag="begin"):
    """The first message of an agent: the next byte is byte `offset` of the terminal's output."""

    offset: int
    resumed: bool


class Confirm(Struct, frozen=True, kw_only=True, tag="confirm"):
    """All bytes before `offset` are recorded and on their way to the browser."""

    offset: int


FromBrowser = Resize | Shown
ToBrowser = Session | Exit | Error | Notice
FromAgent = Begin | Exit | Error
ToAgent = Resize | Confirm
from_browser: msgspec.json.Decoder[FromBrowser] = msgspec.json.Decoder(FromBrowser)
from_agent: msgspec.json.Decoder[FromAgent] = msgspec.json.Decoder(FromAgent)
to_agent: msgspec.json.Decoder[ToAgent] = msgspec.json.Decoder(ToAgent)
to_browser: msgspec.json.Decoder[ToBrowser] = msgspec.json.Decoder(ToBrowser)


class TerminalTarget(Struct, frozen=True, kw_only=True):
    """The terminal that an agent joins to a stream."""

    terminal_id: str
    boot: int
    is_new: bool
    seconds_left: float  # of the longest life of a terminal
    detached_seconds: float  # how long it stays open without a browser


TERMINAL = StreamKind("terminal", TerminalTarget)
