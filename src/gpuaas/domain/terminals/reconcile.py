"""Ends terminals whose person may no longer use them: after a release, a sign-out, a lost role or the time limit."""

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.allocations.store import KEYS, OVERLAYS
from gpuaas.domain.identity.store import CREDENTIALS
from gpuaas.domain.terminals import commands, store
from gpuaas.domain.terminals.commands import Policy
from gpuaas.domain.timeline.store import SYSTEM


class TerminalWorker:
    name = "terminals"
    topics = (OVERLAYS, KEYS, CREDENTIALS)
    pause = 1.0

    def __init__(self, db: Database, clock: Clock, policy: Policy) -> None:
        self._db, self._clock, self._policy = db, clock, policy
        self.due = store.DUE.format(seconds=policy.life.total_seconds())

    async def __call__(self, row_id: str) -> None:
        async with self._db.write("close terminal") as tx:
            row = await store.objection(tx, row_id)
            reason = row.reason if row else f"a terminal stays open for at most {self._policy.hours:g} hours"
            await commands.close(tx, row_id, reason=reason, now=self._clock.now(), actor=SYSTEM)
