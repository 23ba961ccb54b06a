"""Types that many resources share: names, pages, money, problem documents."""

from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

T = TypeVar("T")

# In Python a `$` also matches before a final line break; `(?!\n)` excludes that in every regex dialect.
NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$(?!\n)"
EMAIL_PATTERN = r"^[^@\s\x00]+@[^@\s\x00]+$(?!\n)"
Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=63,
        pattern=NAME_PATTERN,
        description="lower case, digits, -",
    ),
]
Reference = Annotated[str, Meta(min_length=1, max_length=64, description="the id or name of an existing resource")]
NO_CONTROL_CHARACTERS = r"^[^\x00-\x1f\x7f-\x9f]*$(?!\n)"  # text that is shown to others, also on their terminals
Reason = Annotated[str, Meta(max_length=500, pattern=NO_CONTROL_CHARACTERS)]
Title = Annotated[str, Meta(min_length=1, max_length=100)]
Moment = Annotated[datetime, Meta(tz=True)]  # from another computer: decoding refuses a time without a zone
Email = Annotated[str, Meta(min_length=3, max_length=254, pattern=EMAIL_PATTERN)]


class Dated(Struct, frozen=True, kw_only=True):
    """A struct with times that a node or the server wrote. Decoding refuses a time that UTC cannot represent, because
    every later conversion of it would raise OverflowError.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime) and not MINYEAR < value.year < MAXYEAR:
                try:
                    value.astimezone(UTC)
                except OverflowError as error:
                    raise ValueError(f"{name} is a time that UTC cannot represent") from error


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """One page, newest first; `next_cursor` is null on the last page."""

    items: list[T]
    next_cursor: str | None = None


class Money(Struct, frozen=True, kw_only=True):
    amount_minor: int
    currency: str


class FieldError(Struct, frozen=True, kw_only=True):
    field: str
    message: str


class ProblemDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RFC 9457. `code` is stable; `detail` is a sentence with a next step."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    correlation_id: str
    errors: list[FieldError] = []
    facts: dict[str, object] = {}
