"""Declarations of resources: how their changes are written. `transitions` moves any resource by its declaration.

Expressions are SQL over the changed row. They may name parameters (`:now`, `:note`, or a field of the change).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic

from gpuaas.core.states import Machine, S
from gpuaas.wire.timeline import OperationStatus, Outcome


def outcome_of(status: str) -> Outcome:
    """The outcome that a status name implies: `attaching` began, `detach_failed` failed, `attached` is done."""
    if status.endswith("failed"):
        return Outcome.FAILED
    return Outcome.BEGAN if status.endswith("ing") else Outcome.DONE


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The audit row of each move. `{status}` in the action is the new status."""

    action: str
    target_kind: str
    target_id: str = "id"
    facts: str = "jsonb_build_object('note', :note::text)"


@dataclass(frozen=True, kw_only=True)
class Outbox(Generic[S]):
    """The event of each move to one of these states. `{status}` in the topic is the new status."""

    states: frozenset[S]
    topic: str
    payload: str


@dataclass(frozen=True, kw_only=True)
class Billed(Generic[S]):
    """Usage intervals of a resource. A move to a state outside both sets ends the open interval.

    A state of `starts` begins an interval unless one of the same quantity and price is open. A state of `continues`
    changes no interval.
    """

    source: str
    unit: str
    starts: frozenset[S]
    continues: frozenset[S] = frozenset()
    quantity: str
    price: str
    rate: str  # minor units of the currency for one unit and hour
    currency: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind(Generic[S]):
    """One resource: its table, its legal moves, and the rows that a move writes.

    Compared by identity, so that the composed statements can be cached by it.
    """

    noun: str
    table: str
    states: Machine[S]
    subject_kind: str
    subject_id: str = "id"
    id: str = "id"
    status: str = "status"
    guard: str = "version"  # the column that shows whether the row changed since the caller read it
    guard_rises: bool = True
    writes: Mapping[str, str] = field(default_factory=dict)  # columns that every move sets with the status
    given: Mapping[str, str] = field(default_factory=dict)  # columns that a move sets if the change has a value
    facts: Mapping[str, str] = field(default_factory=dict)  # columns that `restate` may set
    tenant: str = "tenant_id"
    project: str = "project_id"
    phase: str | None = "{status}"  # None: a timeline entry is written only if the caller names its phase
    outcome: Callable[[str], Outcome] = outcome_of
    note: str = ":note::text"
    evidence: str = "'{}'::jsonb"
    audit: Audit | None = None
    outbox: Outbox[S] | None = None
    operation: str = "operation_id"  # the operation of the timeline entry
    node: str = "null"  # the node of operations that begin
    ends: Mapping[S, OperationStatus] = field(default_factory=dict)  # how a move ends the operation in progress
    billed: Billed[S] | None = None
    shows: str | None = "t.*"  # columns of the row `t` and its joins that a move returns; None: the caller reads again
    joins: str = ""

    def pays(self, to: S) -> bool | None:
        """Whether usage runs from a move to this state on; None if the move changes no interval."""
        if self.billed is None or to in self.billed.continues:
            return None
        if to in self.billed.starts:
            return True
        paid = self.billed.starts | self.billed.continues
        return False if any(to in onward for state, onward in self.states.moves.items() if state in paid) else None
