"""Linux capabilities by name and number, and the sets that environments get.

They are valid only inside the environment's user namespace and grant no right on the node.
"""

from collections.abc import Iterable

NAMES = (
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
)
"""In the order of the kernel's numbers: the index is the number."""

NUMBERS = {name: number for number, name in enumerate(NAMES)}

DOCKER_DEFAULT = frozenset(
    {
        "CAP_AUDIT_WRITE",
        "CAP_CHOWN",
        "CAP_DAC_OVERRIDE",
        "CAP_FOWNER",
        "CAP_FSETID",
        "CAP_KILL",
        "CAP_MKNOD",
        "CAP_NET_BIND_SERVICE",
        "CAP_NET_RAW",
        "CAP_SETFCAP",
        "CAP_SETGID",
        "CAP_SETPCAP",
        "CAP_SETUID",
        "CAP_SYS_CHROOT",
    }
)

# reboot() in a pid namespace only ends its pid 1, so `reboot` and `poweroff` work inside.
PLAIN = DOCKER_DEFAULT | {"CAP_SYS_BOOT"}

# A process that may create a user namespace has every capability in it, so the user namespace and the seccomp profile
# isolate this init from the node. systemd's units and nested Podman need this set.
SYSTEMD = PLAIN | {
    "CAP_DAC_READ_SEARCH",  # systemd-journald, tmpfiles
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_LEASE",
    "CAP_NET_ADMIN",  # systemd-networkd (ambient), Podman's bridges
    "CAP_NET_BROADCAST",  # systemd-networkd (ambient)
    "CAP_SYS_ADMIN",  # mounts and namespaces of units
    "CAP_SYS_NICE",
    "CAP_SYS_PTRACE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TTY_CONFIG",
}


class UnknownCapabilityError(ValueError):
    def __init__(self, name: str) -> None:
        super().__init__(f"no capability is called {name}")


def numbers(names: Iterable[str]) -> tuple[int, ...]:
    """Numbers of these capabilities in ascending order."""
    return tuple(sorted(_number(name) for name in names))


def mask(names: Iterable[str]) -> int:
    """The set in the format of the Cap lines of /proc/<pid>/status."""
    return sum(1 << number for number in numbers(frozenset(names)))


def from_mask(bits: int) -> frozenset[str]:
    """The names in a Cap line; an unknown bit is an error."""
    if bits >> len(NAMES):
        raise UnknownCapabilityError(f"number {bits.bit_length() - 1}")
    return frozenset(name for number, name in enumerate(NAMES) if bits >> number & 1)


def _number(name: str) -> int:
    try:
        return NUMBERS[name]
    except KeyError:
        raise UnknownCapabilityError(name) from None
