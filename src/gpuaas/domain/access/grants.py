"""Commands on access grants: grant access, request it, choose the key, revoke."""

from datetime import datetime

from msgspec import UNSET

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, InsufficientPermissions, Place, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.access import store
from gpuaas.domain.access.commands import not_a_member, require_live
from gpuaas.domain.access.own_keys import store as own_keys
from gpuaas.domain.access.states import LIVE
from gpuaas.domain.access.store import GrantChange, GrantRow, NewGrant
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.authority import Action, authorize, readable, require
from gpuaas.domain.allocations.commands import check_end
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.access import AccessGrant, AskAccess, ChangeAccessGrant, CreateAccessGrant, GrantStatus

NOTICE = (
    "New logins are refused and live connections are closed. A person who could run programs there may have left "
    "other ways to access it: look for processes, keys in ~/.ssh and scheduled jobs that you do not know."
)


async def create(
    tx: Tx, caller: Caller, allocation_id: str, data: CreateAccessGrant, *, ids: Ids, now: datetime
) -> AccessGrant:
    """Active at once if it names a key of the grantee, otherwise it waits for a key. Accepts an open request of this
    person.
    """
    row = await authorize(tx, caller, allocation_id, Action.GRANT)
    require_live(row)
    _check_end(data.expires_at, now)
    if not await store.lock_role(tx, row, data.user_id):
        raise not_a_member("user_id")
    if data.user_id == row.holder_id:
        raise Conflict("The holder does not need a grant. See PUT /allocations/{id}/ssh-keys.")
    await _check_key(tx, data.ssh_key_id, data.user_id)
    asked = await store.live_grant(tx, allocation_id, data.user_id)
    if asked is not None and asked.status is GrantStatus.ASKED:
        key = data.ssh_key_id or asked.ssh_key_id
        change = GrantChange(ssh_key_id=key, expires_at=data.expires_at)
        to, note = _ready(key), "granted as asked"
        grant_id = asked.id
        await store.move(tx, asked, to, actor=caller.actor, note=note, now=now, change=change)
    else:
        grant_id = await _add(tx, row, caller, _ready(data.ssh_key_id), wish=data, ids=ids, now=now)
    await store.render(tx, allocation_id)
    return (await store.grant(tx, allocation_id, grant_id)).view(caller.user_id)


async def ask(tx: Tx, caller: Caller, allocation_id: str, data: AskAccess, *, ids: Ids, now: datetime) -> AccessGrant:
    """Request access for the caller; the holder, or a project admin, accepts it with `create`."""
    row = await authorize(tx, caller, allocation_id, Action.ASK_ACCESS)
    require_live(row)
    if caller.user_id == row.holder_id:
        raise Conflict("You hold this allocation. See PUT /allocations/{id}/ssh-keys.")
    await _check_key(tx, data.ssh_key_id, caller.user_id)
    wish = CreateAccessGrant(user_id=caller.user_id, ssh_key_id=data.ssh_key_id)
    grant_id = await _add(tx, row, caller, GrantStatus.ASKED, wish=wish, reason=data.reason, ids=ids, now=now)
    return (await store.grant(tx, allocation_id, grant_id)).view(caller.user_id)


async def listed(tx: Tx, caller: Caller, allocation_id: str, paging: Paging) -> list[GrantRow]:
    row = readable(caller, await allocations.get(tx, allocation_id))
    return await store.grants_of_allocation(tx, row.id, paging)


async def get(tx: Tx, caller: Caller, allocation_id: str, id: str) -> AccessGrant:
    readable(caller, await allocations.get(tx, allocation_id))
    return (await store.grant(tx, allocation_id, id)).view(caller.user_id)


async def change(
    tx: Tx, caller: Caller, allocation_id: str, id: str, data: ChangeAccessGrant, *, now: datetime
) -> AccessGrant:
    """The grantee chooses the key; people who share the allocation change the end."""
    row = readable(caller, await allocations.get(tx, allocation_id))
    grant = await store.grant(tx, allocation_id, id)
    if grant.status not in LIVE:
        raise Conflict(f"This grant is {grant.status}. Make a new one.", status=grant.status)
    key, end, notes = grant.ssh_key_id, grant.expires_at, []
    if data.ssh_key_id is not UNSET:
        await require(tx, caller, row, Action.USE_GRANT)
        if grant.user_id != caller.user_id:
            raise InsufficientPermissions("Only the grantee can choose the key.", Place(row.tenant_id, row.project_id))
        await _check_key(tx, data.ssh_key_id, caller.user_id)
        key = data.ssh_key_id
        notes.append("with another key" if grant.ssh_key_id else "with a key")
    if data.expires_at is not UNSET:
        await require(tx, caller, row, Action.CHANGE_GRANT)
        _check_end(data.expires_at, now)
        end = data.expires_at
        notes.append("until another time" if end else "without an end")
    to = _ready(key) if grant.status is GrantStatus.AWAITING_KEY else grant.status
    write, note = GrantChange(ssh_key_id=key, expires_at=end), ", ".join(notes)
    if to is grant.status:
        await store.change(tx, grant, write, actor=caller.actor, note=note, now=now)
    else:
        await store.move(tx, grant, to, actor=caller.actor, note=note, now=now, change=write)
    await store.render(tx, allocation_id)
    return (await store.grant(tx, allocation_id, id)).view(caller.user_id)


async def revoke(tx: Tx, caller: Caller, allocation_id: str, id: str, *, reason: str, now: datetime) -> AccessGrant:
    """Open to the grantee and to people who share the allocation. A repeated revoke changes nothing."""
    row = readable(caller, await allocations.get(tx, allocation_id))
    grant = await store.grant(tx, allocation_id, id)
    is_grantee = grant.user_id == caller.user_id
    await require(tx, caller, row, Action.USE_GRANT if is_grantee else Action.REVOKE_GRANT)
    if grant.status in LIVE:
        await end(tx, grant, GrantStatus.REVOKED, actor=caller.actor, note=reason or "revoked on request", now=now)
    return (await store.grant(tx, allocation_id, id)).view(caller.user_id, NOTICE)


async def end(tx: Tx, grant: GrantRow, to: GrantStatus, *, actor: str, note: str, now: datetime) -> None:
    """End a grant and remove its key from the key set of the allocation, in the same transaction."""
    await store.move(tx, grant, to, actor=actor, note=note, now=now)
    await store.render(tx, grant.allocation_id)


async def shut_out(tx: Tx, project_id: str, user_id: str, *, actor: str, note: str, now: datetime) -> list[str]:
    """End all access of a person who no longer works in the project: their keys and grants on its allocations.
    Returns the ids of the allocations that they held or could log in to.
    """
    opened = await store.remove_keys_of(tx, project_id, user_id)
    hosted = await own_keys.end_of(tx, project_id, user_id)
    for grant in await store.live_grants_of(tx, project_id, user_id):
        await store.move(tx, grant, GrantStatus.REVOKED, actor=actor, note=note, now=now)
    for allocation_id in sorted({*opened, *hosted}):
        await store.render(tx, allocation_id)
    return sorted({*opened, *hosted, *await store.render_of(tx, user_id, project_id)})


def _ready(ssh_key_id: str | None) -> GrantStatus:
    return GrantStatus.ACTIVE if ssh_key_id else GrantStatus.AWAITING_KEY


def _check_end(expires_at: datetime | None, now: datetime) -> None:
    if expires_at is not None and expires_at <= now:
        raise ValidationError("The end is in the past. Choose a later time.", errors={"expires_at": "is in the past"})
    check_end(expires_at, now)


async def _check_key(tx: Tx, ssh_key_id: str | None, user_id: str) -> None:
    if ssh_key_id and not await store.are_keys_of(tx, [ssh_key_id], user_id):
        raise ValidationError(
            "This is not an SSH key of the grantee. Leave it out, and the grantee chooses one.",
            errors={"ssh_key_id": "unknown"},
        )


async def _add(
    tx: Tx,
    row: AllocationRow,
    caller: Caller,
    status: GrantStatus,
    *,
    wish: CreateAccessGrant,
    ids: Ids,
    now: datetime,
    reason: str = "",
) -> str:
    """Insert a grant and return its id."""
    new = NewGrant(
        id=ids.new("grant"),
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        allocation_id=row.id,
        user_id=wish.user_id,
        status=status,
        status_reason=reason,
        created_by=caller.user_id,
        created_at=now,
        ssh_key_id=wish.ssh_key_id,
        expires_at=wish.expires_at,
    )
    await store.add_grant(tx, new)
    return new.id
