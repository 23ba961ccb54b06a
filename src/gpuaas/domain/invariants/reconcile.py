"""Checks the invariants of the running system, and repairs violations that are safe to repair."""

import structlog
from msgspec.structs import asdict

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.invariants import store
from gpuaas.domain.invariants.store import OPERATION_ORPHAN, RULES
from gpuaas.domain.timeline.store import SYSTEM, Subject, audit
from gpuaas.wire.invariants import Violation

MOST_LOGGED = 20  # per pass; the list has them all
ABANDONED = "abandoned: nothing works on it"
log = structlog.get_logger()


class InvariantWorker:
    """Each pass checks every rule. Only abandoned operations are repaired, because ending one changes nothing else.
    All other violations are shown to operators.
    """

    name = "invariants"
    topics = ()
    due = "select 'all' as id"
    pause = 30.0

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for all rules
        looks = []
        async with self._db.read("look for violations") as tx:
            for rule in RULES:
                began = self._clock.monotonic()
                found = await store.find(tx, rule)
                looks.append((rule, found, self._clock.monotonic() - began))
        violations, now = list[Violation](), self._clock.now()
        async with self._db.write("note violations") as tx:
            for rule, found, seconds in looks:
                violations += await store.note(tx, rule, found, seconds=seconds, now=now)
        for violation in [each for each in violations if each.looks == store.SETTLED_LOOKS][:MOST_LOGGED]:
            log.error("invariant.violated", **asdict(violation))
        for violation in violations:
            if violation.kind == OPERATION_ORPHAN:
                await self._end(violation)

    async def _end(self, violation: Violation) -> None:
        now = self._clock.now()
        async with self._db.write("end orphan operation") as tx:
            ended = await store.end_orphan(tx, violation.subject, reason=ABANDONED, now=now)
            await store.forget(tx, violation.kind, violation.subject)
            if ended is not None:
                place = Subject(kind="operation", id=ended.id, tenant_id=ended.tenant_id, project_id=ended.project_id)
                facts = {"kind": ended.kind, "subject": ended.subject_id, "reason": ABANDONED}
                await audit(tx, place, "operation.end", actor=SYSTEM, at=now, facts=facts)
