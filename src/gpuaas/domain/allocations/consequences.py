"""What a disruption ends and what it leaves, said before it happens."""

from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.wire.allocations import Consequence, Consequences, Disruption

PROCESSES = Consequence(what="processes", detail="Everything that runs is ended; open sessions are told why and cut.")
DISK = "home folder and all other files on the local disk"
IDENTITY = "Address, port, host key and the keys that admit stay as they are: the same command gets in again."


def consequences(row: AllocationRow, of: Disruption) -> Consequences:
    """Of the machine itself; what lies over it is added by whoever knows it."""
    if of is Disruption.RELEASE:
        return Consequences(
            of=of,
            lost=[
                Consequence(what="local disk", detail=f"The {DISK} are erased for good; no copy is kept."),
                PROCESSES,
                Consequence(what="address", detail="The port is closed; later it may lead to another machine."),
            ],
            survives=[Consequence(what="history", detail="Timeline, operations and audit stay readable.", ref=row.id)],
            billing="Billing stops when the release is accepted.",
        )
    survives = [
        Consequence(what="local disk", detail=f"The {DISK} stay, but for /dev/shm and /run."),
        Consequence(what="identity", detail=IDENTITY, ref=row.id),
    ]
    if of is Disruption.RESTART:
        billing = "Billing goes on while it restarts, and stops if the restart fails."
    else:
        billing = "The old price runs until the new size is in force; billing stops if the resize fails."
    return Consequences(of=of, lost=[PROCESSES], survives=survives, billing=billing)
