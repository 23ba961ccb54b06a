"""The states of a node task and their moves."""

from enum import StrEnum

from gpuaas.core.states import Machine


class NodeTaskStatus(StrEnum):
    """`queued` and `sent` are open; the others are answers of the node, or say that a newer task replaced it."""

    QUEUED = "queued"
    SENT = "sent"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    REFUSED = "refused"


ENDED = frozenset(NodeTaskStatus) - {NodeTaskStatus.QUEUED, NodeTaskStatus.SENT}

NODE_TASK = Machine(
    "node task",
    {
        # An answer may arrive after its task was queued again, with a higher number.
        NodeTaskStatus.QUEUED: {NodeTaskStatus.QUEUED, NodeTaskStatus.SENT, *ENDED},
        NodeTaskStatus.SENT: {NodeTaskStatus.QUEUED, NodeTaskStatus.SENT, *ENDED},
        **{status: set[NodeTaskStatus]() for status in sorted(ENDED)},
    },
)
