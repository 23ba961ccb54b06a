"""Ends terminals whose reader may no longer be there, whatever the reason: a release, a sign-out, a lost role, time."""

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
            reason = row.reason if row else f"a terminal lives {self._policy.hours:g} hours at most"
            await commands.close(tx, row_id, reason=reason, now=self._clock.now(), actor=SYSTEM)
