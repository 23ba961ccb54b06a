"""Lists what a disruption ends and what it keeps, for a person to read before confirming."""

from collections.abc import Mapping, Sequence

from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.wire.allocations import Consequence, Consequences, Disruption
from gpuaas.wire.environments import GpuReset, SlotDevice

PROCESSES = Consequence(what="processes", detail="All processes end; live connections show the reason and close.")
DISK = "home folder and all other files on the local disk"
IDENTITY = "Address, port, host key and access keys stay the same: the same SSH command works again."
NOT_REPORTED = GpuReset(detail="its node reported no way to reset it")


def consequences(
    row: AllocationRow, of: Disruption, slots: Sequence[SlotDevice], resets: Mapping[str, GpuReset]
) -> Consequences:
    """The consequences for the allocation itself; callers add those for its overlays. `resets` maps GPU UUIDs to what
    the node reported.
    """
    gpus = _gpus(of, slots, resets)
    if of is Disruption.RELEASE:
        return Consequences(
            of=of,
            lost=[
                Consequence(what="local disk", detail=f"The {DISK} are erased permanently; no copy is kept."),
                PROCESSES,
                *gpus,
                Consequence(what="address", detail="The port is closed; later it may lead to another allocation."),
            ],
            survives=[Consequence(what="history", detail="Timeline, operations and audit stay readable.", ref=row.id)],
            billing="Billing stops when the release is accepted.",
        )
    survives = [
        Consequence(what="local disk", detail=f"The {DISK} stay, but for /dev/shm and /run."),
        Consequence(what="identity", detail=IDENTITY, ref=row.id),
    ]
    if of is Disruption.RESTART:
        billing = "Billing continues while it restarts, and stops if the restart fails."
    else:
        billing = "The old price runs until the new size is in force; billing stops if the resize fails."
    return Consequences(of=of, lost=[PROCESSES, *gpus], survives=survives, billing=billing)


def _gpus(of: Disruption, slots: Sequence[SlotDevice], resets: Mapping[str, GpuReset]) -> list[Consequence]:
    """The consequence for the GPUs; GPUs with the same reset are listed together."""
    alike: dict[GpuReset, list[str]] = {}
    for slot in slots:
        alike.setdefault(resets.get(slot.gpu_uuid, NOT_REPORTED), []).append(str(slot.index))
    told = " ".join(_fate(of, f"GPU {', '.join(numbers)}", reset) for reset, numbers in alike.items())
    return [Consequence(what="GPU memory", detail=f"Data that programs keep in it is lost. {told}")] if slots else []


def _fate(of: Disruption, gpu: str, reset: GpuReset) -> str:
    when = "before another allocation gets it" if of is Disruption.RELEASE else "before it starts again"
    if not reset.method:
        risk = (
            "Overwrite data in its memory that nobody else may see."
            if of is Disruption.RELEASE
            else "A GPU or driver that hangs may still hang afterwards."
        )
        return f"{gpu}: not reset {when}: {reset.detail}. {risk}"
    return f"{gpu}: reset ({reset.method}) {when}.{_shared(len(reset.together))}"


def _shared(others: int) -> str:
    if not others:
        return ""
    gpus, one = ("1 other GPU", "it") if others == 1 else (f"{others} other GPUs", "one of them")
    return f" This resets {gpus} of the node too; it is skipped while another allocation uses {one}."
