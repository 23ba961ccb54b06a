"""The permission that each action on an allocation needs.

The SQL function `allocation_permissions` decides which principals have a permission. Key sets and open terminals use
the same function, so an HTTP route, an SSH login and a live terminal cannot disagree.
"""

from enum import StrEnum

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import WORK, Permission, Relation, by_relation


class Action(StrEnum):
    READ = "read"
    RELEASE = "release"
    RESTART = "restart"
    RESIZE = "resize"
    SET_LIMITS = "set_limits"
    ATTACH = "attach"
    DETACH = "detach"
    APPLY_RUNTIME = "apply_runtime"
    CLEAR_RUNTIME = "clear_runtime"
    REMOVE_KEYS = "remove_keys"
    ADD_KEYS = "add_keys"
    ALLOW_OWN_KEYS = "allow_own_keys"
    REFUSE_OWN_KEYS = "refuse_own_keys"
    HAND_OVER = "hand_over"
    GRANT = "grant"
    CHANGE_GRANT = "change_grant"
    REVOKE_GRANT = "revoke_grant"
    ASK_ACCESS = "ask_access"
    USE_GRANT = "use_grant"
    END_CONNECTION = "end_connection"
    END_OWN_CONNECTION = "end_own_connection"
    OPEN_TERMINAL = "open_terminal"
    READ_RECORDING = "read_recording"
    LOG_IN = "log_in"


CONTROLLERS = "its holder, and admins of the project"
WHO = {
    Permission.ALLOCATIONS_READ: "members of the project",
    Permission.ACCESS_ASK: "members of the project above viewer",
    Permission.ALLOCATIONS_OPERATE: CONTROLLERS,
    Permission.ALLOCATIONS_RELEASE: CONTROLLERS,
    Permission.RUNTIMES_APPLY: CONTROLLERS,
    Permission.ACCESS_MANAGE: CONTROLLERS,
    Permission.RECORDINGS_READ: CONTROLLERS,
    Permission.KEYS_CHOOSE: "its holder, or admins of the project while it has none",
    Permission.TERMINALS_OPEN: "its holder, and people it is shared with",
}
NEEDS: dict[Action, Permission] = {
    Action.READ: Permission.ALLOCATIONS_READ,
    Action.RELEASE: Permission.ALLOCATIONS_RELEASE,
    Action.RESTART: Permission.ALLOCATIONS_OPERATE,
    Action.RESIZE: Permission.ALLOCATIONS_OPERATE,
    Action.SET_LIMITS: Permission.ALLOCATIONS_OPERATE,
    Action.ATTACH: Permission.ALLOCATIONS_OPERATE,
    Action.DETACH: Permission.ALLOCATIONS_OPERATE,
    Action.APPLY_RUNTIME: Permission.RUNTIMES_APPLY,
    Action.CLEAR_RUNTIME: Permission.RUNTIMES_APPLY,
    Action.REMOVE_KEYS: Permission.ACCESS_MANAGE,
    Action.ADD_KEYS: Permission.KEYS_CHOOSE,
    Action.ALLOW_OWN_KEYS: Permission.KEYS_CHOOSE,
    Action.REFUSE_OWN_KEYS: Permission.ACCESS_MANAGE,
    Action.HAND_OVER: Permission.ACCESS_MANAGE,
    Action.GRANT: Permission.ACCESS_MANAGE,
    Action.CHANGE_GRANT: Permission.ACCESS_MANAGE,
    Action.REVOKE_GRANT: Permission.ACCESS_MANAGE,
    Action.ASK_ACCESS: Permission.ACCESS_ASK,
    Action.USE_GRANT: Permission.ACCESS_ASK,
    Action.END_CONNECTION: Permission.ACCESS_MANAGE,
    Action.END_OWN_CONNECTION: Permission.ACCESS_ASK,
    Action.OPEN_TERMINAL: Permission.TERMINALS_OPEN,
    Action.READ_RECORDING: Permission.RECORDINGS_READ,
    Action.LOG_IN: Permission.TERMINALS_OPEN,
}


ABOUT_ALLOCATIONS = frozenset(NEEDS.values())


async def authorize(tx: Tx, caller: Caller, id: str, action: Action) -> AllocationRow:
    """The allocation, if the caller may do this with it; otherwise raises not found or forbidden."""
    row = await store.get(tx, id)
    await require(tx, caller, row, action)
    return row


async def require(tx: Tx, caller: Caller, row: AllocationRow, action: Action) -> None:
    need = NEEDS[action]
    has_right = need in await store.permissions(tx, row.id, caller.id)
    caller.require_right(need, "allocation", row, has_right=has_right, who=WHO[need])


async def may(tx: Tx, caller: Caller, row: AllocationRow, action: Action) -> bool:
    """Use it for the content of responses; for an action, use `require`."""
    return NEEDS[action] in await store.permissions(tx, row.id, caller.id)


def permissions(caller: Caller, row: AllocationRow) -> list[str]:
    """The caller's permissions on an allocation, for a response. Needs no query: the row and the caller carry the
    facts.
    """
    by_role = caller.by_role(row)
    relations = set[Relation]()
    if WORK in by_role and row.holder_id == caller.id:
        relations.add(Relation.HOLDER)
    if Permission.ACCESS_MANAGE in by_role and row.is_held is False:
        relations.add(Relation.ACTING_HOLDER)
    if WORK in by_role and row.is_granted is True:
        relations.add(Relation.GRANTEE)
    allowed = by_role if caller.is_suspended(row) else by_role | by_relation(frozenset(relations))
    return sorted(caller.usable(allowed & ABOUT_ALLOCATIONS, row))


def readable(caller: Caller, row: AllocationRow | None) -> AllocationRow:
    """`require` for `Action.READ` without a query: it depends only on roles, which the caller carries."""
    if row is None:
        raise NotFound("allocation")
    caller.require(Permission.ALLOCATIONS_READ, "allocation", row)
    return row
