"""Handles contested nodes: nodes whose key two live agents use."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.states import MACHINE
from gpuaas.domain.links import store as links
from gpuaas.domain.links.store import CONTEST_SECONDS, Contest
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.timeline.store import SYSTEM, NewEntry, Subject, audit, record
from gpuaas.wire.capacity import Intent
from gpuaas.wire.timeline import Outcome

DETAIL = (
    "Two live agents used this node's key in turn within a minute. Somebody may have stolen it. Determine which agent "
    "belongs to the node, then rotate the key: docs/runbooks/node-keys.md."
)


async def contest(tx: Tx, found: Contest, now: datetime) -> bool:
    """Quarantine the node and doubt its answers since the other agent appeared; False if that was done before."""
    await tasks.doubt_removals(tx, found.node_id, found.other_epoch)
    if not await capacity.set_contested(tx, found.node_id, now, DETAIL):
        return False
    facts = {"agents": [found.instance, found.other], "within_seconds": CONTEST_SECONDS}
    subject = Subject(kind="node", id=found.node_id)
    entry = NewEntry(phase="link_contested", outcome=Outcome.FAILED, at=now, actor=SYSTEM, note=DETAIL, evidence=facts)
    await record(tx, subject, entry, None)
    await audit(tx, subject, "node.contested", actor=SYSTEM, at=now, facts=facts)
    row = await capacity.node(tx, found.node_id, lock=True)
    if Intent.QUARANTINED in MACHINE.moves[row.intent]:
        await capacity.move_node(tx, row, Intent.QUARANTINED, actor=SYSTEM, reason=DETAIL, now=now)
    return True


async def settle_contest(tx: Tx, node_id: str) -> None:
    """The node's identity is certain again: an operator confirmed it, or only one agent has the new key."""
    await capacity.clear_contested(tx, node_id)
    await capacity.install_keysets_again(tx, node_id)
    await links.forget_holders(tx, node_id)
