"""The states of an operation and their moves."""

from gpuaas.core.states import Machine
from gpuaas.wire.timeline import OperationStatus

MACHINE = Machine(
    "operation",
    {
        OperationStatus.RUNNING: {OperationStatus.SUCCEEDED, OperationStatus.FAILED},
        OperationStatus.SUCCEEDED: set(),
        OperationStatus.FAILED: set(),
    },
)
