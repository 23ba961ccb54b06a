"""Server-sent events, without the network: bytes in, entries out, and where to resume."""

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from gpuaas.sdk.errors import UnreadableAnswer
from gpuaas.wire.timeline import LogLine

T = TypeVar("T")
MESSAGE = b"message"  # what an event is when it does not say
DONE = b"done"


class EventReader(Generic[T]):
    """Reads `text/event-stream` in chunks of any size, as things of one type.

    Splits on line feeds alone: JSON may hold U+2028 and its kin, which `str.splitlines` takes for line ends.
    """

    def __init__(self, kind: type[T]) -> None:
        self._type = kind
        self.is_done = False  # the server says that nothing will come any more
        self.last_id: str | None = None
        self.retry_seconds: float | None = None
        self._rest = b""
        self._id: str | None = None
        self._kind = MESSAGE
        self._data: list[bytes] = []

    def forget_partial(self) -> None:
        """A connection broke: half an event is dropped, and its id was never reached."""
        self._rest, self._id, self._kind, self._data = b"", None, MESSAGE, []

    def feed(self, chunk: bytes) -> list[T | None]:
        """Whole entries, and None for a comment: the server's way to show that it is alive."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [found for line in lines for found in self._take(line.removesuffix(b"\r"))]

    def _take(self, line: bytes) -> Iterator[T | None]:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"" if line:
                yield None
            case b"":
                yield from self._dispatch()
            case b"id":
                self._id = value.decode()
            case b"event":
                self._kind = value
            case b"data":
                self._data.append(value)
            case b"retry" if value.isdigit():
                self.retry_seconds = int(value) / 1000

    def _dispatch(self) -> Iterator[T]:
        data, self._data = b"\n".join(self._data), []
        kind, self._kind = self._kind, MESSAGE
        self.last_id, self._id = self._id or self.last_id, None
        self.is_done = self.is_done or kind == DONE
        if data and kind == MESSAGE:  # other kinds are the server's remarks about the stream itself
            yield self._decode(data)

    def _decode(self, data: bytes) -> T:
        try:
            return msgspec.json.decode(data, type=self._type)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what = "a log line" if self._type is LogLine else "a timeline entry"
            raise UnreadableAnswer(f"The event stream holds something that is not {what}: {error}") from error
