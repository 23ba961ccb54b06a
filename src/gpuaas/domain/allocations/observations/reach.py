"""Handles offline nodes: billing ends at the last proof of life, and after a day their allocations fail.

Time counts only while a control plane runs. If more than a third of the fleet is offline, the cause is probably the
control plane, and no allocation fails automatically.
"""

from datetime import datetime, timedelta

import structlog
from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.allocations.commands import fail_lost
from gpuaas.domain.allocations.observations import store
from gpuaas.domain.allocations.observations.store import OfflineNode
from gpuaas.domain.allocations.store import pause_billing, resume_billing
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.wire.allocations import Status
from gpuaas.wire.timeline import Outcome

BILLING_ENDS_AFTER = timedelta(minutes=10)
LOST_AFTER = timedelta(hours=24)
COUNTED_AT_MOST = timedelta(seconds=60)  # a longer gap means that the control plane was down
FLEET_SHARE = 3
log = structlog.get_logger()


class Act(Struct, frozen=True, kw_only=True):
    stop_billing: bool = False
    resume_billing: bool = False
    fail: bool = False
    alarm: bool = False


def decide(seen: OfflineNode) -> Act:
    """Pure: same facts, same answer."""
    if seen.offline_since is None:
        return Act(resume_billing=True)
    fleet_gone = seen.fleet_offline * FLEET_SHARE > seen.fleet and seen.fleet > 1
    lost = seen.offline_for > LOST_AFTER
    return Act(
        stop_billing=seen.offline_for > BILLING_ENDS_AFTER,
        fail=lost and not fleet_gone,
        alarm=lost and fleet_gone,
    )


class ReachWorker:
    """Checks one node that is offline, or that is back with paused billing."""

    name = "reach"
    topics = (capacity.CAPACITY,)
    due = """
        select id from nodes where intent <> 'retired' and (offline_since is not null or offline_for > interval '0')
    """
    pause = 15.0

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    async def __call__(self, row_id: str) -> None:
        now = self._clock.now()
        async with self._db.write() as tx:
            seen = await store.count_offline(tx, row_id, now, COUNTED_AT_MOST)
            act = decide(seen)
            if act.alarm:
                log.error("fleet.mostly_gone", offline=seen.fleet_offline, fleet=seen.fleet)
            for row in await store.live_on_node(tx, row_id):
                if act.fail:
                    await fail_lost(tx, row, actor=SYSTEM, note="The node was offline for a day.", now=now)
                elif act.stop_billing and row.status is Status.ACTIVE and not row.billing_stopped_at:
                    await pause_billing(tx, row, _because(now, seen.offline_since))
                elif act.resume_billing and row.status is Status.ACTIVE and row.billing_stopped_at:
                    await resume_billing(tx, row, _because(now, None))


def _because(now: datetime, at: datetime | None) -> transitions.Act:
    note = "billing follows the node's last proof of life"
    return transitions.Act(actor=SYSTEM, now=now, at=at, note=note, outcome=Outcome.BEGAN)
