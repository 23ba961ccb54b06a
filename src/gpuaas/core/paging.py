"""Keyset pagination: newest first by id, because ids sort by creation time."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from gpuaas.core.errors import ValidationError
from gpuaas.wire.common import Page

T = TypeVar("T")
LIMIT, MOST = 50, 200
PAST_ALL_IDS = "~"  # sorts after every id


def matching(wanted: Mapping[str, object | None], *, first: int) -> tuple[str, list[object]]:
    """`and column = $n` for each filter that is set, and the values. A statement without unused filters gets a plan
    with the right index. Column names come from our code, never from a caller."""
    given = {column: value for column, value in wanted.items() if value is not None}
    words = [f"and {column} = ${number}" for number, column in enumerate(given, first)]
    return " ".join(words), list(given.values())


class NotACursor(ValidationError):
    def __init__(self) -> None:
        wrong = {"cursor": "not a valid cursor"}
        super().__init__("Use the next_cursor of the page before, unchanged.", errors=wrong)


class Paging(Struct, frozen=True):
    limit: int
    before: str

    @classmethod
    def of(cls, limit: int | None, cursor: str | None) -> "Paging":
        if cursor is None:
            return cls(limit or LIMIT, PAST_ALL_IDS)
        try:
            before = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode("ascii")
        except (binascii.Error, UnicodeError) as error:
            raise NotACursor from error
        if not before.isprintable() or not before:
            raise NotACursor
        return cls(limit or LIMIT, before)

    def page(self, rows: list[T], key: Callable[[T], str]) -> Page[T]:
        """Split rows, fetched with one extra row, into the page and the cursor of the next page."""
        items = rows[: self.limit]
        more = len(rows) > self.limit
        return Page(
            items=items, next_cursor=base64.urlsafe_b64encode(key(items[-1]).encode()).decode() if more else None
        )
