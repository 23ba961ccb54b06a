"""State machines as tables of legal moves."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Generic, TypeVar

from gpuaas.core.errors import IllegalMove

S = TypeVar("S", bound=StrEnum)


class Machine(Generic[S]):
    """All states with their legal next states."""

    def __init__(self, noun: str, moves: Mapping[S, AbstractSet[S]]) -> None:
        self.noun, self.moves = noun, moves

    def check(self, here: S, there: S) -> None:
        if there not in self.moves[here]:
            raise IllegalMove(self.noun, here.value, there.value)

    def sources(self, *there: S) -> str:
        """As an SQL list, which guards statements that move many rows: where each of these moves is legal from."""
        return "({})".format(", ".join(f"'{state}'" for state, onward in self.moves.items() if onward >= set(there)))

    @property
    def final(self) -> frozenset[S]:
        return frozenset(state for state, onward in self.moves.items() if not onward)
