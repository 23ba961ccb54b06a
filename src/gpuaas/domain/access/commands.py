"""Personal public keys: added, shown, removed."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.access import keys, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.access import AddSshKey, SshKey


async def add_key(tx: Tx, caller: Caller, data: AddSshKey, *, ids: Ids, now: datetime) -> SshKey:
    caller.require_write()
    key = keys.parse(data.public_key)
    row = await store.add(tx, ids.new("key"), caller.user_id, data.title, key, now=now)
    facts = {"fingerprint": row.fingerprint}
    await audit(tx, Subject(kind="ssh_key", id=row.id), "ssh_key.add", actor=caller.actor, at=now, facts=facts)
    return row.view()


async def get_key(tx: Tx, caller: Caller, id: str) -> SshKey:
    row = await store.get(tx, id)
    caller.require_own("ssh_key", row.user_id)
    return row.view()


async def remove_key(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    """Machines made with it keep admitting it until they are released."""
    caller.require_write()
    row = await store.get(tx, id)
    caller.require_own("ssh_key", row.user_id)
    await store.remove(tx, id)
    facts = {"fingerprint": row.fingerprint}
    await audit(tx, Subject(kind="ssh_key", id=id), "ssh_key.remove", actor=caller.actor, at=now, facts=facts)
