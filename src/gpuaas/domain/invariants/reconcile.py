"""Looks for violations of the invariants on the running system, and repairs those that are safe to repair."""

import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.invariants import store
from gpuaas.domain.invariants.store import OPERATION_ORPHAN, RULES, Rule
from gpuaas.domain.timeline.store import SYSTEM, Subject, audit
from gpuaas.wire.invariants import Violation

ABANDONED = "abandoned: nothing works on it any more"
log = structlog.get_logger()


class InvariantWorker:
    """One pass looks at every rule. Only an operation that nothing works on is repaired: ending it changes nothing
    else. Everything else is shown to operators."""

    name = "invariants"
    topics = ()
    due = "select 'all' as id"
    pause = 30.0

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for all rules
        async with self._db.read("note cluster") as tx:
            if await store.note_cluster(tx):
                log.warning("history.epoch_raised", reason="the database runs in another cluster than before")
        for rule in RULES:
            await self._look(rule)

    async def _look(self, rule: Rule) -> None:
        began = self._clock.monotonic()
        async with self._db.read(f"look for {rule.kind}") as tx:
            found = await store.find(tx, rule)
        seconds, now = self._clock.monotonic() - began, self._clock.now()
        async with self._db.write(f"note {rule.kind}") as tx:
            violations = await store.note(tx, rule, found, seconds=seconds, now=now)
        for violation in violations:
            if violation.looks == store.SETTLED_LOOKS:
                log.error("invariant.violated", kind=rule.kind, subject=violation.subject, detail=violation.detail)
            if rule.kind == OPERATION_ORPHAN:
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
