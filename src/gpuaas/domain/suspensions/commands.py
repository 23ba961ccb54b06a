"""Operators suspend a person, a project or a tenant, and undo it.

While suspended, nobody works there: writes are refused, keys leave the key sets, terminals and event streams end.
Running allocations keep running with their slots and data; nothing is released, and usage still counts.
"""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Suspended
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.suspensions import store
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.accounts import AccountKind, Suspension

SQLSTATE = "GQ002"  # raised by refuse_suspended()


async def suspend(tx: Tx, caller: Caller, kind: AccountKind, id: str, *, reason: str, now: datetime) -> Suspension:
    caller.require_platform(Permission.FLEET_OPERATE)
    if kind is AccountKind.USER and caller.is_user(id):
        raise Conflict("You cannot suspend yourself. Ask another operator.")
    await _check_operator(tx, caller, kind, id)
    found = await store.subject(tx, kind, id)
    written = await store.write(tx, kind, id, at=found.suspended_at or now, by=caller.actor, reason=reason)
    await _apply(tx, caller, kind, found, "suspend", why=f"an operator suspended the {kind}: {reason}", now=now)
    return written


async def unsuspend(tx: Tx, caller: Caller, kind: AccountKind, id: str, *, reason: str, now: datetime) -> Suspension:
    """Roles, keys and grants were kept, so the key sets are as before. Terminals that ended stay ended."""
    caller.require_platform(Permission.FLEET_OPERATE)
    await _check_operator(tx, caller, kind, id)
    found = await store.subject(tx, kind, id)
    written = await store.write(tx, kind, id, at=None, by=None, reason="")
    if found.suspended_at is not None:
        await _apply(tx, caller, kind, found, "unsuspend", why=reason, now=now)
    return written


async def _check_operator(tx: Tx, caller: Caller, kind: AccountKind, id: str) -> None:
    """Only admins suspend operators. This locks all admins: if two suspend each other at once, the second finds
    itself suspended, so one admin always remains.
    """
    if kind is not AccountKind.USER or await store.platform_role(tx, id) is None:
        return
    caller.require_platform(Permission.OPERATORS_MANAGE)
    if caller.user_id not in await store.lock_active_admins(tx):
        raise Suspended("your account", "another admin suspended it")


async def _apply(
    tx: Tx, caller: Caller, kind: AccountKind, found: store.Subject, verb: str, *, why: str, now: datetime
) -> None:
    reached = await store.apply(tx, kind, found.id, now=now, why=why)
    facts = {
        "reason": why,
        "allocations": len([one for one in reached if one.terminal_id is None]),
        "terminals": len([one for one in reached if one.terminal_id]),
    }
    subject = Subject(kind=kind.value, id=found.id, tenant_id=found.tenant_id, project_id=found.project_id)
    await audit(tx, subject, f"{kind}.{verb}", actor=caller.actor, at=now, facts=facts)
