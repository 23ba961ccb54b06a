"""What clients saw, and whether any moment had two owners of one slot.

A client owns a slot at least from the answer that gave it until it asked for the release: before the answer and after
the asking nobody can tell. So two such spans of one slot that overlap are a double sale, whatever the clocks say.
"""

from dataclasses import dataclass, field
from itertools import count, pairwise


@dataclass(frozen=True, order=True)
class Owned:
    """Positions in the one order of events."""

    since: int
    until: float
    slot: str
    owner: str


@dataclass
class History:
    """Events of all clients, numbered as they happen in this process."""

    owned: list[Owned] = field(default_factory=list)
    refused: int = 0
    _events: "count[int]" = field(default_factory=count)
    _since: dict[str, tuple[int, list[str]]] = field(default_factory=dict)

    def got(self, owner: str, slots: list[str]) -> None:
        """An answer came: these slots are the owner's from here on."""
        self._since[owner] = (next(self._events), slots)

    def gives_back(self, owner: str) -> None:
        """The owner is about to ask for the release: they are the owner's no more."""
        since, slots = self._since.pop(owner)
        now = next(self._events)
        self.owned += [Owned(since, now, slot, owner) for slot in slots]

    def spans(self) -> list[Owned]:
        """Also of those who never gave back."""
        kept = [Owned(since, float("inf"), slot, who) for who, (since, slots) in self._since.items() for slot in slots]
        return [*self.owned, *kept]


def double_owners(spans: list[Owned]) -> list[tuple[Owned, Owned]]:
    """Every two spans of one slot that overlap."""
    by_slot: dict[str, list[Owned]] = {}
    for span in sorted(spans):
        by_slot.setdefault(span.slot, []).append(span)
    return [(one, other) for spans in by_slot.values() for one, other in pairwise(spans) if other.since < one.until]
