"""Named parameters: statements are composed with `:name` and sent with `$1`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

NAME = re.compile(r"(?<![:\w]):([a-z_]\w*)")  # not a cast, `::text`


@dataclass(frozen=True)
class Statement:
    """SQL with numbered parameters, and the name of each."""

    sql: str
    names: tuple[str, ...]

    def values(self, given: Mapping[str, object]) -> list[object]:
        return [given[name] for name in self.names]


def numbered(text: str) -> Statement:
    """Every occurrence of a name is the same parameter."""
    names = tuple(dict.fromkeys(NAME.findall(text)))
    return Statement(NAME.sub(lambda found: f"${names.index(found[1]) + 1}", text), names)
