"""Keyset pages: newest first, by id, since ids sort by birth."""

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
    """`and column = $n` for each filter that is set, and the values: a statement without the other filters is planned
    with the index that serves it, whatever was asked before. Columns are ours, never a caller's."""
    given = {column: value for column, value in wanted.items() if value is not None}
    words = [f"and {column} = ${number}" for number, column in enumerate(given, first)]
    return " ".join(words), list(given.values())


class NotACursor(ValidationError):
    def __init__(self) -> None:
        wrong = {"cursor": "not a cursor of ours"}
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
        """From one row more than asked for: the page, and where the next begins."""
        items = rows[: self.limit]
        more = len(rows) > self.limit
        return Page(
            items=items, next_cursor=base64.urlsafe_b64encode(key(items[-1]).encode()).decode() if more else None
        )
