"""The statements of the transition function, composed as it composes them: for each declared kind and each status.

A kind may change its own table, which its package must own; the entry, audit row, operation, outbox row and usage
interval beside it are written for it by the transition function, so their tables must be owned by `timeline` or `core`.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from gpuaas.domain.timeline.kinds import Audit, Kind
from gpuaas.domain.timeline.statements import store as composer
from gpuaas.domain.timeline.statements.store import Form
from gpuaas.wire.timeline import OperationStatus, Outcome
from tools.ownership.rules import CORE, Owners, Violation, violations
from tools.ownership.sql import use_of
from tools.ownership.statements import Statement

WRITTEN_FOR_ALL = frozenset({"timeline", CORE})


def kinds_of(modules: Mapping[str, ModuleType]) -> Iterator[tuple[str, Kind[Any]]]:
    """Each kind by the place that declares it: `domain.allocations.kinds:ALLOCATION`."""
    seen = set[int]()
    for name, module in modules.items():
        for label, value in vars(module).items():
            if isinstance(value, Kind) and name.endswith(".kinds") and id(value) not in seen:
                seen.add(id(value))
                yield f"{name}:{label}", value


def statements_of_kind(where: str, kind: Kind[Any]) -> Iterator[Statement]:
    """With every part that a statement may have."""
    audit = kind.audit or Audit(action="planned", target_kind=kind.noun)
    for pays in (True, False):
        form = Form(begins=True, ends=OperationStatus.FAILED, audit=audit, given=tuple(kind.given), pays=pays)
        for to in {status for onward in kind.states.moves.values() for status in onward}:
            yield Statement(where, composer.move(kind, to, form).sql)
        if kind.facts:
            restated = composer.restate(kind, tuple(kind.facts), Outcome.DONE, Form(audit=audit, pays=pays))
            yield Statement(where, restated.sql)


def kind_violations(owners: Owners, where: str, kind: Kind[Any]) -> Iterator[Violation]:
    package = where.partition(":")[0].removeprefix("domain.").removesuffix(".kinds")
    for statement in statements_of_kind(where, kind):
        yield from violations(owners, where, package, use_of(statement.text), writes_for=WRITTEN_FOR_ALL)
