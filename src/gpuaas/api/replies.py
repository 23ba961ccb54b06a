"""A complete response that can be sent with or without Litestar."""

from collections.abc import Mapping

from litestar import Response
from litestar.types import Message
from msgspec import Struct

JSON = "application/json"
NO_HEADERS: Mapping[str, str] = {}


class Reply(Struct, frozen=True):
    status: int
    body: bytes
    media_type: str = JSON
    headers: Mapping[str, str] = NO_HEADERS

    def response(self) -> Response[bytes]:
        return Response(self.body, status_code=self.status, media_type=self.media_type, headers=self.headers)

    def messages(self) -> list[Message]:
        """Byte for byte the messages that Litestar would send."""
        headers = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        headers.append((b"content-type", self.media_type.encode()))
        headers.append((b"content-length", b"%d" % len(self.body)))
        return [
            {"type": "http.response.start", "status": self.status, "headers": headers},
            {"type": "http.response.body", "body": self.body, "more_body": False},
        ]
