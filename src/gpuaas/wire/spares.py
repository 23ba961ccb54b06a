"""Spares: the environments that the server wants prepared on a node, and those that the node has."""

from msgspec import Struct

from gpuaas.wire.environments import DEFAULT_DISK_GIB, USERNAME, EnvironmentSpec, Init, SlotDevice

SPARE_PREFIX = "spare-"  # of the id of every spare


class SpareForm(Struct, frozen=True, kw_only=True):
    """An environment that may be requested next, without its holder: the part that is prepared in advance."""

    slots: tuple[SlotDevice, ...]
    vcpus: int
    memory_mib: int
    simulated: bool
    disk_gib: int = DEFAULT_DISK_GIB
    init: Init = Init.PLAIN
    username: str = USERNAME


class Spare(Struct, frozen=True, kw_only=True):
    """A prepared environment without a holder. It holds no device, and is not an environment yet."""

    id: str
    slots: tuple[int, ...]
    vcpus: int = 0
    memory_mib: int = 0
    disk_gib: int = 0
    init: Init = Init.PLAIN
    port: int | None = None  # of its SSH; None: not reported, or not valid
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
    """All spares of a node; sent after changes."""

    ready: tuple[Spare, ...] = ()
    used: int = 0  # since the agent started
    discarded: int = 0  # defective ones, since the agent started
    detail: str = ""  # why the last one was discarded


class WantedSpares(Struct, frozen=True, kw_only=True, tag="wanted_spares"):
    """The environments that are likely to be sold next on a node, the most likely first; replaces the previous list."""

    forms: list[SpareForm]


def form_of(spec: EnvironmentSpec) -> SpareForm:
    """The part of an environment that does not depend on its holder."""
    return SpareForm(**{name: getattr(spec, name) for name in SpareForm.__struct_fields__})
