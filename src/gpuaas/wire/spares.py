"""Environments prepared in advance: what the server wants of a node, and what the node has."""

from msgspec import Struct

from gpuaas.wire.environments import DEFAULT_DISK_GIB, USERNAME, EnvironmentSpec, Init, SlotDevice

SPARE_PREFIX = "spare-"  # of the id of every spare


class SpareForm(Struct, frozen=True, kw_only=True):
    """An environment that may be wanted next, without the person: what is made in advance."""

    slots: tuple[SlotDevice, ...]
    vcpus: int
    memory_mib: int
    simulated: bool
    disk_gib: int = DEFAULT_DISK_GIB
    init: Init = Init.PLAIN
    username: str = USERNAME


class Spare(Struct, frozen=True, kw_only=True):
    """A prepared environment that belongs to nobody. It holds no device and is no environment yet."""

    id: str
    slots: tuple[int, ...]
    vcpus: int = 0
    memory_mib: int = 0
    disk_gib: int = 0
    init: Init = Init.PLAIN
    port: int | None = None  # of its SSH; none: not reported, or not believed
    host_key: str = ""  # public half, OpenSSH form without comment


def spare_of(id: str, form: SpareForm, port: int, host_key: str) -> Spare:
    return Spare(
        id=id,
        slots=tuple(slot.index for slot in form.slots),
        vcpus=form.vcpus,
        memory_mib=form.memory_mib,
        disk_gib=form.disk_gib,
        init=form.init,
        port=port,
        host_key=host_key,
    )


class SpareReport(Struct, frozen=True, kw_only=True, tag="spares"):
    """Every spare of a node, whole; sent when it changed."""

    ready: tuple[Spare, ...] = ()
    used: int = 0  # since the agent started
    discarded: int = 0  # defective ones, since the agent started
    detail: str = ""  # why the last one was discarded


class WantedSpares(Struct, frozen=True, kw_only=True, tag="wanted_spares"):
    """What may be sold next on a node, the most likely first: whole, in place of what was wanted before."""

    forms: list[SpareForm]


def form_of(spec: EnvironmentSpec) -> SpareForm:
    """What of an environment is the same for whoever gets it."""
    return SpareForm(**{name: getattr(spec, name) for name in SpareForm.__struct_fields__})
