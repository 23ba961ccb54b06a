"""A node's intent: the state that operators want. Whether the node is online is another field."""

from gpuaas.core.states import Machine
from gpuaas.wire.capacity import Intent

MACHINE = Machine(
    "node",
    {
        Intent.ENROLLING: {Intent.ACTIVE, Intent.QUARANTINED, Intent.RETIRED},
        Intent.ACTIVE: {Intent.DRAINING, Intent.QUARANTINED},
        Intent.DRAINING: {Intent.ACTIVE, Intent.QUARANTINED, Intent.RETIRED},
        Intent.QUARANTINED: {Intent.ACTIVE, Intent.DRAINING, Intent.RETIRED},
        Intent.RETIRED: set(),
    },
)
