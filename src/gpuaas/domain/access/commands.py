"""Commands on personal public keys, on the keys of an allocation, and on its holder."""

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Problem, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.domain.access import keys, store
from gpuaas.domain.access.own_keys import store as own_keys
from gpuaas.domain.access.store import GrantChange
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.authority import Action, authorize, may, readable, require
from gpuaas.domain.allocations.states import LIVE
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.allocations.views import view
from gpuaas.domain.identity import commands as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import is_session, require_session
from gpuaas.domain.timeline.store import NewEntry, Subject, audit, record
from gpuaas.wire.access import AddSshKey, AllocationKeys, AllowOwnKeys, GrantStatus, HandOver, SetSshKeys, SshKey
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import Outcome


class NoWayIn(Problem):
    status, code = 409, "no_way_in"

    def __init__(self) -> None:
        super().__init__(
            "Nobody could log in to this allocation any more. Keep a key, or repeat the request with confirm_no_way_in."
        )


async def add_key(tx: Tx, caller: Caller, data: AddSshKey, *, ids: Ids, now: datetime) -> SshKey:
    caller.require_write()
    key = keys.parse(data.public_key)
    token_id = None if is_session(caller) else caller.credential_id
    row = await store.add(tx, ids.new("key"), caller.user_id, data.title, key, token_id=token_id, now=now)
    await store.render_with(tx, row.fingerprint)
    facts = {"fingerprint": row.fingerprint, "token_id": token_id}
    await audit(tx, Subject(kind="ssh_key", id=row.id), "ssh_key.add", actor=caller.actor, at=now, facts=facts)
    return row.view()


async def get_key(tx: Tx, caller: Caller, id: str) -> SshKey:
    row = await store.get(tx, id)
    caller.require_own("ssh_key", row.user_id)
    return row.view()


async def revoke_token(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    """Revoke the token, and remove every key that it added."""
    await identity.revoke_token(tx, caller, id, now)
    for key_id in await store.keys_of_token(tx, caller.user_id, id):
        await remove_key(tx, caller, key_id, now=now)


async def remove_key(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    """Remove a key. It no longer admits its owner anywhere; a grant that used it waits for another key."""
    caller.require_write()
    row = await store.get(tx, id)
    caller.require_own("ssh_key", row.user_id)
    opened = await store.allocations_opened_by(tx, id)
    for grant in await store.active_grants_by_key(tx, id):
        change = GrantChange(ssh_key_id=None, expires_at=grant.expires_at)
        to, note = GrantStatus.AWAITING_KEY, "its key was removed"
        await store.move(tx, grant, to, actor=caller.actor, note=note, now=now, change=change)
    await store.remove(tx, id)
    for allocation_id in opened:
        await store.render(tx, allocation_id)
    facts = {"fingerprint": row.fingerprint, "allocations": opened}
    await audit(tx, Subject(kind="ssh_key", id=id), "ssh_key.remove", actor=caller.actor, at=now, facts=facts)


def require_live(row: AllocationRow) -> None:
    if row.status not in LIVE:
        raise Conflict(f"The allocation {row.name} is {row.status}, so its access cannot change.", status=row.status)


async def get_keys(tx: Tx, caller: Caller, id: str) -> AllocationKeys:
    """Callers who may not change the keys receive the fingerprints without the ids of the keys."""
    row = readable(caller, await allocations.get(tx, id))
    found = await store.allocation_keys(tx, row.id)
    return found if await may(tx, caller, row, Action.REMOVE_KEYS) else replace(found, ssh_key_ids=[])


async def set_keys(tx: Tx, caller: Caller, id: str, data: SetSshKeys, *, now: datetime) -> AllocationKeys:
    """The holder chooses among their own keys; others who control the allocation may only remove some."""
    row = await authorize(tx, caller, id, Action.REMOVE_KEYS)
    require_live(row)
    before = await store.allocation_keys(tx, id)
    added = sorted(set(data.ssh_key_ids) - set(before.ssh_key_ids))
    if not await store.are_keys_of(tx, added, caller.user_id):
        raise ValidationError(
            "Some of these are not your SSH keys. See GET /ssh-keys.", errors={"ssh_key_ids": "unknown"}
        )
    if added:
        await store.lock_role(tx, row, caller.user_id)
        await require(tx, caller, row, Action.ADD_KEYS)
    await store.set_allocation_keys(tx, row, data.ssh_key_ids)
    await store.render(tx, id)
    after = await store.allocation_keys(tx, id)
    if not after.fingerprints and not data.confirm_no_way_in:
        raise NoWayIn
    removed = sorted(set(before.ssh_key_ids) - set(data.ssh_key_ids))
    note = f"{len(added)} added, {len(removed)} removed"
    await _tell(tx, caller, row, "keys_changed", note=note, now=now, facts={"added": added, "removed": removed})
    return after


async def allow_own_keys(tx: Tx, caller: Caller, id: str, data: AllowOwnKeys, *, now: datetime) -> AllocationKeys:
    """Allow or refuse the own key file. Only the holder may allow it, because the file can admit anybody; project
    admins may refuse it.
    """
    action = Action.ALLOW_OWN_KEYS if data.allowed else Action.REFUSE_OWN_KEYS
    row = await authorize(tx, caller, id, action)
    require_live(row)
    if data.allowed:
        require_session(caller, "allow the own key file")
        await store.lock_role(tx, row, caller.user_id)
        await require(tx, caller, row, action)
    if await own_keys.admit(tx, id, by=caller.user_id if data.allowed else None, now=now):
        await store.render(tx, id)
        what, note = ("own_keys_allowed", own_keys.WARNING) if data.allowed else ("own_keys_refused", "")
        await _tell(tx, caller, row, what, note=note, now=now, facts={"allowed": data.allowed})
    return await store.allocation_keys(tx, id)


async def hand_over(tx: Tx, caller: Caller, id: str, data: HandOver, *, now: datetime) -> Allocation:
    """Make another project member the holder, with keys of that person. The environment keeps running unchanged."""
    row = await authorize(tx, caller, id, Action.HAND_OVER)
    require_live(row)
    if not await store.lock_role(tx, row, data.user_id):
        raise not_a_member("user_id")
    if not await store.are_keys_of(tx, data.ssh_key_ids, data.user_id):
        raise ValidationError("Some of these are not SSH keys of the new holder.", errors={"ssh_key_ids": "unknown"})
    chosen = list(data.ssh_key_ids)
    if grant := await store.live_grant(tx, id, data.user_id):
        chosen += [grant.ssh_key_id] if grant.ssh_key_id and grant.ssh_key_id not in chosen else []
        to, note = GrantStatus.ENDED, "the grantee holds the allocation now"
        await store.move(tx, grant, to, actor=caller.actor, note=note, now=now)
    if row.holder_id != data.user_id or chosen:
        await store.set_allocation_keys(tx, row, chosen)
    await store.set_holder(tx, row, data.user_id)
    if row.holder_id != data.user_id:
        await own_keys.admit(tx, id, by=None, now=now)  # the new holder decides about the file again
    await store.render(tx, id)
    facts = {"from": row.holder_id, "to": data.user_id, "ssh_key_ids": chosen}
    await _tell(tx, caller, row, "handed_over", note=data.reason, now=now, facts=facts)
    return view(await allocations.get(tx, id), caller)


def not_a_member(field: str) -> ValidationError:
    return ValidationError(
        "This person does not work in the project. Only project members above viewer can have access.",
        errors={field: "not a member who works in the project"},
    )


async def _tell(
    tx: Tx, caller: Caller, row: AllocationRow, what: str, *, note: str, now: datetime, facts: Mapping[str, object]
) -> None:
    entry = NewEntry(phase=what, at=now, actor=caller.actor, outcome=Outcome.DONE, note=note, evidence=facts)
    await record(tx, row.subject, entry, None)
    await audit(tx, row.subject, f"allocation.{what}", actor=caller.actor, at=now, facts=facts)
