"""The messages and files between the engine and the SSH gateway of a node."""

from msgspec import Struct

from gpuaas.wire.environments import KeySet

ACCESS_FILE = "access.json"  # in an environment's folder
LEASE_FILE = "lease.json"  # in the engine's folder
SESSION_SOCKET = "session.sock"  # in the gateway's folder of an environment, and in the root of its sshd


class InitProcess(Struct, frozen=True, kw_only=True):
    """Pid 1 of an environment by its number on the node; a reused number does not match."""

    pid: int
    born: str  # field 22 of /proc/<pid>/stat
    machine_boot: str  # /proc/sys/kernel/random/boot_id


class EnvironmentAccess(Struct, frozen=True, kw_only=True):
    """`access.json` in the folder of an environment or a spare: everything that the gateway needs to serve it. The
    engine replaces the whole file.
    """

    allocation_id: str  # for a spare, its own id
    boot: int
    is_spare: bool = False  # connections wait, without a key, until it becomes an environment
    was_spare: str = ""  # in its first boot, the id of the spare that it was
    bind: str
    port: int
    host_key: str  # private, OpenSSH form: the file is 0600 in a 0700 folder
    username: str
    keys: KeySet
    first_id: int  # of the environment's id range on the node; inside it is 0
    uid: int = 1000  # of the holder inside
    init: InitProcess
    image: str  # root folder of the base image, from which sshd runs
    variables: dict[str, str] = {}  # in the process environment of every session
    cgroups: tuple[str, ...] = ()  # folders of the control groups that each session joins
    connection_cgroups: tuple[str, ...] = ()  # the same for the sshd of each connection
    capabilities: tuple[int, ...] = ()  # bounding set of each session, by number
    seccomp: str = ""  # file with the compiled filter (BPF) of the environment; empty: none
    open_files: int = 65_536  # RLIMIT_NOFILE of sessions, where the node permits it
    banner: str = ""  # file whose text is shown when a login shell starts on a terminal


class AccessState(Struct, frozen=True, kw_only=True):
    """The current state of one environment, in the answer to `sync`."""

    allocation_id: str
    is_open: bool
    key_generation: int = 0
    own_keys: tuple[str, ...] | None = None  # fingerprints in the holder's own key file; None: it is not read
    detail: str = ""  # why it is not open
