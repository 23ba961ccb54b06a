"""Commands of operators that rotate and retire task keys. docs/design/task-keys.md has the reasons."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Problem
from gpuaas.core.secrets import TaskKeyring
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.task_keys import store
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.task_keys import MOST_GENERATIONS, TaskKey

PLATFORM = "platform"


class NodesMissing(Problem):
    status, code = 409, "nodes_missing"


async def list_keys(tx: Tx, caller: Caller, keyring: TaskKeyring) -> list[TaskKey]:
    caller.require_platform(Permission.FLEET_READ)
    current = (await store.generations(tx)).current
    return [_view(row, current, keyring) for row in await store.all_keys(tx)]


async def rotate(tx: Tx, caller: Caller, keyring: TaskKeyring, *, reason: str, now: datetime) -> TaskKey:
    """Add a generation. Replicas announce it to their nodes, and each node gets tasks under it after accepting it."""
    caller.require_platform(Permission.FLEET_OPERATE)
    await store.lock(tx)
    generation = (await store.generations(tx)).current + 1
    if generation > MOST_GENERATIONS:
        raise Conflict("The number of task key generations is exhausted.")
    await store.add(tx, generation, by=caller.actor, reason=reason, now=now)
    await audit(tx, _subject(generation), "task_key.rotate", actor=caller.actor, at=now, facts={"reason": reason})
    return _view(await store.get(tx, generation), generation, keyring)


async def retire(
    tx: Tx, caller: Caller, keyring: TaskKeyring, generation: int, *, reason: str, force: bool, now: datetime
) -> TaskKey:
    """End the trust of nodes in this generation and older ones."""
    caller.require_platform(Permission.FLEET_OPERATE)
    await store.lock(tx)
    row, known = await store.get(tx, generation), await store.generations(tx)
    if generation >= known.current:
        raise Conflict(f"Generation {generation} is the current task key. Rotate the task key first.")
    missing = await store.get(tx, generation + 1)
    if missing.nodes_missing and row.retired_at is None and not force:
        names = ", ".join(missing.missing) + (", …" if missing.nodes_missing > len(missing.missing) else "")
        raise NodesMissing(
            f"{missing.nodes_missing} nodes trust no newer task key than generation {generation}: {names}. Bring them "
            "online, retire them, or use force: forced nodes need `gpuaas agent rotate-key` before they work again.",
            nodes=missing.missing,
        )
    retired = await store.retire(tx, generation, by=caller.actor, reason=reason, is_forced=force, now=now)
    if retired:
        facts = {"reason": reason, "force": force, "generations": sorted(retired), "missing": missing.missing}
        await audit(tx, _subject(generation), "task_key.retire", actor=caller.actor, at=now, facts=facts)
    return _view(await store.get(tx, generation), known.current, keyring)


async def recover(tx: Tx, generation: int, *, node_id: str, now: datetime) -> None:
    """Restore generations that a node trusts and the database lost, so that no node is asked to trust an older one."""
    current = (await store.generations(tx)).current
    for lost in range(current + 1, generation + 1):
        if await store.add(tx, lost, by=None, reason="found on a node after the database lost it", now=now):
            await audit(tx, _subject(lost), "task_key.recover", actor=PLATFORM, at=now, facts={"node": node_id})


def _subject(generation: int) -> Subject:
    return Subject(kind="task_key", id=str(generation))


def _view(row: store.TaskKeyRow, current: int, keyring: TaskKeyring) -> TaskKey:
    fields = {name: getattr(row, name) for name in store.TaskKeyRow.__struct_fields__}
    verifier_id = keyring.signer(row.generation).verifier.id
    return TaskKey(**fields, verifier_id=verifier_id, is_current=row.generation == current)
