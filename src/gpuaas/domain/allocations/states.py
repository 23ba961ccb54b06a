"""The states of an allocation and their moves. Release is allowed from every live state."""

from gpuaas.core.states import Machine
from gpuaas.wire.allocations import Status

MACHINE = Machine(
    "allocation",
    {
        Status.REQUESTED: {Status.PROVISIONING, Status.FAILED, Status.RELEASING},
        Status.PROVISIONING: {Status.ACTIVE, Status.FAILED, Status.RELEASING},
        Status.ACTIVE: {Status.RESTARTING, Status.RELEASING, Status.FAILED},
        Status.RESTARTING: {Status.ACTIVE, Status.RESTART_FAILED, Status.RELEASING, Status.FAILED},
        Status.RESTART_FAILED: {Status.RESTARTING, Status.RELEASING, Status.FAILED},
        Status.RELEASING: {Status.RELEASED, Status.RELEASE_FAILED},
        Status.RELEASE_FAILED: {Status.RELEASING},
        Status.RELEASED: set(),
        Status.FAILED: set(),
    },
)

LIVE = frozenset(Status) - MACHINE.final
