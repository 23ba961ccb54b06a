"""An environment: what an engine creates on a node for one allocation, as desired and as observed."""

from enum import StrEnum

from msgspec import Struct

from gpuaas.wire.common import Dated, Moment
from gpuaas.wire.images import BaseImage


class SlotDevice(Struct, frozen=True, kw_only=True):
    """The part of an approved slot that an engine needs."""

    index: int
    gpu_uuid: str
    gpu_pci: str
    numa: int | None = None


class AuthorizedKey(Dated, frozen=True, kw_only=True):
    """A parsed public key, never the text that a person sent."""

    type: str
    blob: str  # base64, encoded by the server
    fingerprint: str  # SHA256:…
    user_id: str  # empty: from the environment's own file, unknown to the platform
    granted: bool = False  # of a grant: admits only while the node has a lease from the server
    ends_at: Moment | None = None  # of a grant, in the server's time; the node itself ends it then


class KeySet(Struct, frozen=True, kw_only=True):
    """Every key that admits; a set replaces the previous one completely."""

    generation: int
    keys: tuple[AuthorizedKey, ...] = ()
    admits_own: bool = False  # keys of ~/.ssh/authorized_keys inside too; the holder allowed it
    refused_own: tuple[str, ...] = ()  # fingerprints that the own file never admits: of known people without access


class Init(StrEnum):
    """The program that runs as pid 1 in an environment."""

    PLAIN = "plain"
    SYSTEMD = "systemd"


USERNAME = "gpu"  # of the holder inside
DEFAULT_DISK_GIB = 20  # of root disks from before sizes stated one


class Ownership(Dated, frozen=True, kw_only=True):
    """The owner and price of an environment, stored on its node, so that a database that lost it can adopt it."""

    tenant_id: str
    project_id: str
    holder_id: str
    requested_by: str
    name: str
    username: str
    sku: str
    shape: str
    size: str
    gpu_count: int
    vcpus: int
    memory_mib: int
    simulated: bool
    price_id: str
    price_minor_per_hour: int
    currency: str
    created_at: Moment
    disk_gib: int = DEFAULT_DISK_GIB
    init: Init = Init.PLAIN


class EnvironmentSpec(Struct, frozen=True, kw_only=True):
    """The complete desired state: repeating it changes nothing."""

    allocation_id: str
    boot: int
    hostname: str
    username: str
    slots: tuple[SlotDevice, ...]
    vcpus: int
    memory_mib: int
    simulated: bool
    keys: KeySet
    facts: dict[str, str] = {}  # written into /etc/gpuaas/ for the person inside
    ownership: Ownership | None = None
    disk_gib: int = DEFAULT_DISK_GIB  # of the root disk
    init: Init = Init.PLAIN

    @property
    def devices(self) -> tuple[str, ...]:
        """The UUIDs of its GPUs."""
        return tuple(slot.gpu_uuid for slot in self.slots)


def fingerprints(keys: KeySet) -> tuple[str, ...]:
    """The fingerprints of keys that admit without a grant."""
    return tuple(sorted(key.fingerprint for key in keys.keys if not key.granted))


class EnvironmentState(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"  # its disk exists, its processes do not
    BROKEN = "broken"  # partly created or partly removed
    UNKNOWN = "unknown"  # the node could not check it; nothing may act on it


class ExitCause(StrEnum):
    """Why an environment stopped without a request, as the node observed it."""

    REBOOTED_INSIDE = "rebooted_inside"
    POWERED_OFF_INSIDE = "powered_off_inside"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED = "killed"
    CRASHED = "crashed"
    EXITED = "exited"
    NODE_RESTARTED = "node_restarted"


class Confinement(Struct, frozen=True, kw_only=True):
    """The confinement of an environment that does not depend on its size: the same for all with one init."""

    namespaces: tuple[str, ...]
    network: str  # own | shared
    no_new_privileges: bool
    seccomp: str = ""  # the active mode, such as filter; empty: not read
    capabilities: tuple[str, ...] = ()  # that root inside can have, in its own user namespace
    nested_user_namespaces: bool | None = None  # whether the holder could create one; None: not tested


class Isolation(Confinement, frozen=True, kw_only=True):
    """The isolation of an environment, as verified, never as assumed."""

    uid: int
    limits: dict[str, str] = {}  # limit → how it is enforced
    missing: dict[str, str] = {}  # what is not enforced → why


class Mount(Struct, frozen=True, kw_only=True):
    """A volume that is mounted in an environment, read from the kernel's mount table."""

    volume_id: str
    mount_path: str
    read_only: bool


class Environment(Dated, frozen=True, kw_only=True):
    """One environment in its current state on the node."""

    allocation_id: str
    state: EnvironmentState
    boot: int
    port: int | None = None
    host_key: str | None = None  # public half, OpenSSH form without comment
    key_generation: int = 0
    started_at: Moment | None = None
    isolation: Isolation | None = None
    mounts: tuple[Mount, ...] = ()
    own_keys: tuple[str, ...] | None = None  # fingerprints in the person's own file; None: it is not read
    devices: tuple[str, ...] | None = None  # UUIDs of the GPUs it uses; None: unknown, so any of the node's
    ownership: Ownership | None = None
    admitted: tuple[str, ...] = ()  # fingerprints of the keys that admit, without those of grants
    exit_cause: ExitCause | None = None  # of a stopped environment, if the node knows it
    image: BaseImage | None = None  # None: the node did not report it
    detail: str = ""


GPU_RESET = "gpu_reset"  # the proof about GPUs; the others are about residue


class ProofItem(Struct, frozen=True, kw_only=True):
    """One kind of residue that the node looked for after a removal."""

    item: str
    ok: bool
    evidence: str


class Connection(Dated, frozen=True, kw_only=True):
    """A live connection."""

    id: str
    key_fingerprint: str
    source: str
    opened_at: Moment
    allocation_id: str = ""
    user_id: str = ""  # the owner of the key; empty: a key of the environment's own file
    kind: str = "ssh"
    bytes_in: int = 0  # from the person
    bytes_out: int = 0


class LoginKind(StrEnum):
    LOGIN = "login"
    LOGOUT = "logout"


class LoginEvent(Dated, frozen=True, kw_only=True):
    """An SSH login or logout of a person."""

    id: str
    kind: LoginKind
    allocation_id: str
    connection_id: str
    key_fingerprint: str
    user_id: str  # empty: a key of the environment's own file, unknown to the platform
    source: str
    at: Moment
    bytes_in: int = 0
    bytes_out: int = 0


class Fact(Struct, frozen=True, kw_only=True):
    """A fact about a node, and its source."""

    value: str
    source: str


VIEWS = "resource_views"
CHANGING_FACTS = (VIEWS,)
"""Names of facts that a node reports again when they change; others are those of its last hello."""


class GpuReset(Struct, frozen=True, kw_only=True):
    """Whether a GPU is reset when its environment restarts or ends, as the node found."""

    method: str = ""  # such as nvidia-smi; empty: it is not reset
    detail: str = ""  # why it is not reset
    together: tuple[str, ...] = ()  # PCI addresses of other GPUs that are reset with it


class GpuFact(Struct, frozen=True, kw_only=True):
    index: int
    family: str
    gpu_uuid: str
    gpu_pci: str
    numa: int | None
    memory_mib: int
    simulated: bool
    source: str
    reset: GpuReset | None = None  # None: an older agent, which resets nothing


class Capabilities(Struct, frozen=True, kw_only=True):
    """The capabilities of an engine's environments. The engine declares them, and the engine contract tests them."""

    root: bool = False  # the holder can become root inside
    systemd: bool = False  # systemd can be pid 1
    nesting: bool = False  # containers inside an environment with init systemd
    disk_limit: str = ""  # how the size of a root disk is enforced; empty: it is not
    live_mount: bool = False  # volumes can be attached and detached while it runs
    network: bool = False  # separate network
    vm: bool = False  # separate kernel


class DiskSpace(Struct, frozen=True, kw_only=True):
    """The file system of root disks and node-bound volumes."""

    size_gib: int  # free space, and the space that they already use
    free_gib: int


class DiskReport(Dated, frozen=True, kw_only=True, tag="disk"):
    """The current disk of the node, and facts that differ from its hello; sent with the samples."""

    disk: DiskSpace
    at: Moment
    facts: dict[str, Fact] = {}


class NodeFacts(Struct, frozen=True, kw_only=True):
    """The facts that the agent found. Advisory: only slots that an operator approved are sold."""

    engine: str
    simulated: bool
    vcpus: int
    memory_mib: int
    ssh_host: str  # the address at which people reach environments of this node
    gpus: tuple[GpuFact, ...] = ()
    facts: dict[str, Fact] = {}
    capabilities: Capabilities = Capabilities()
    disk: DiskSpace | None = None  # None: the agent does not know, and disk is not counted
    missing: tuple[str, ...] = ()  # what the node lacks to create environments; unless empty, it offers no capacity
