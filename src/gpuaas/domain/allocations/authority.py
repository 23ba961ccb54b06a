"""What a person may do with an allocation: one table of actions, decided by one SQL function.

`allocation_rights` also decides which keys a key set holds and which terminals stay open, so an HTTP route, an SSH
login and a live terminal cannot disagree.
"""

from dataclasses import dataclass
from enum import StrEnum

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.store import AllocationRow, Right
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission


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


@dataclass(frozen=True)
class Need:
    right: Right
    permission: Permission  # names the scope that a token needs, and the refused action in the audit


CONTROLLERS = "its holder, and admins of the project"
WHO = {
    Right.READ: "members of the project",
    Right.WORK: "members of the project above viewer",
    Right.CONTROL: CONTROLLERS,
    Right.HOLD: "its holder, or admins of the project while it has none",
    Right.ENTER: "its holder, and people it is shared with",
}
OPERATE = Need(Right.CONTROL, Permission.ALLOCATIONS_OPERATE)
MANAGE = Need(Right.CONTROL, Permission.ACCESS_MANAGE)
ENTER = Need(Right.ENTER, Permission.TERMINALS_OPEN)
ASK = Need(Right.WORK, Permission.ACCESS_ASK)
NEEDS: dict[Action, Need] = {
    Action.READ: Need(Right.READ, Permission.ALLOCATIONS_READ),
    Action.RELEASE: Need(Right.CONTROL, Permission.ALLOCATIONS_RELEASE),
    Action.RESTART: OPERATE,
    Action.RESIZE: OPERATE,
    Action.SET_LIMITS: OPERATE,
    Action.ATTACH: OPERATE,
    Action.DETACH: OPERATE,
    Action.APPLY_RUNTIME: Need(Right.CONTROL, Permission.RUNTIMES_APPLY),
    Action.CLEAR_RUNTIME: Need(Right.CONTROL, Permission.RUNTIMES_APPLY),
    Action.REMOVE_KEYS: MANAGE,
    Action.ADD_KEYS: Need(Right.HOLD, Permission.ACCESS_MANAGE),
    Action.ALLOW_OWN_KEYS: Need(Right.HOLD, Permission.ACCESS_MANAGE),
    Action.REFUSE_OWN_KEYS: MANAGE,
    Action.HAND_OVER: MANAGE,
    Action.GRANT: MANAGE,
    Action.CHANGE_GRANT: MANAGE,
    Action.REVOKE_GRANT: MANAGE,
    Action.ASK_ACCESS: ASK,
    Action.USE_GRANT: ASK,
    Action.END_CONNECTION: MANAGE,
    Action.END_OWN_CONNECTION: ASK,
    Action.OPEN_TERMINAL: ENTER,
    Action.READ_RECORDING: Need(Right.CONTROL, Permission.RECORDINGS_READ),
    Action.LOG_IN: ENTER,
}


async def authorize(tx: Tx, caller: Caller, id: str, action: Action) -> AllocationRow:
    """The allocation, if the caller may do this with it; else not found or forbidden."""
    row = await store.get(tx, id)
    await require(tx, caller, row, action)
    return row


async def require(tx: Tx, caller: Caller, row: AllocationRow, action: Action) -> None:
    need = NEEDS[action]
    caller.require_right(
        need.permission, "allocation", row, has_right=need.right in await rights(tx, caller, row), who=WHO[need.right]
    )


async def rights(tx: Tx, caller: Caller, row: AllocationRow) -> frozenset[Right]:
    return await store.rights(tx, row.id, caller.user_id)


async def may(tx: Tx, caller: Caller, row: AllocationRow, action: Action) -> bool:
    """For what an answer shows; what an act needs is required."""
    return NEEDS[action].right in await rights(tx, caller, row)


def readable(caller: Caller, row: AllocationRow | None) -> AllocationRow:
    """`Action.READ` by the roles that came with the caller, without another query: it depends on the role alone."""
    if row is None:
        raise NotFound("allocation")
    caller.require(Permission.ALLOCATIONS_READ, "allocation", row)
    return row
