"""Builds the runtime's `config.json` of an environment from facts, without side effects."""

import resource
from typing import Any

from gpuaas.engines.node import capabilities, seccomp
from gpuaas.engines.oci.ids import COUNT, HOLDER
from gpuaas.engines.oci.launcher import STAGE
from gpuaas.wire.environments import EnvironmentSpec, Init

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SUDOERS = f"""Defaults secure_path="/opt/gpuaas/bin:{PATH}"
{{name}} ALL=(ALL:ALL) NOPASSWD: ALL
"""  # sudo finds the platform's programs too, because people type `sudo reboot`
PERIOD = 100_000
TASKS, TASKS_PER_VCPU, MOST_TASKS = 1_024, 512, 16_384
OPEN_FILES = 1_048_576
SHARED_MEMORY_SHARE = 2  # /dev/shm is half of the memory: PyTorch's data loaders and NCCL use it
RUN_MIB = 256
PTYS = 1_024
OOM_SCORE = 500  # OOM score of systemd services, as of sessions: they are killed before pid 1
# systemd's default is 15 % of the tasks. With cgroup v2 it would limit all sessions, which are in the group of pid 1.
MANAGER = f"[Manager]\nDefaultOOMScoreAdjust={OOM_SCORE}\nDefaultTasksMax=infinity\n"
MANAGER_FILE = {"/etc/systemd/system.conf.d/gpuaas.conf": (0o644, 0, MANAGER)}
"""Written for both inits, because a resize can change the init."""

PID_1 = {Init.PLAIN: ("/usr/bin/catatonit", "-P"), Init.SYSTEMD: ("/sbin/init",)}
NAMESPACES = ("pid", "ipc", "uts", "mount", "user", "network", "cgroup")
PLATFORM = {"runtimes": "/opt/gpuaas/runtimes", "gpuaas": "/etc/gpuaas", "programs": "/opt/gpuaas/bin"}
"""Name in the launcher's staging folder → read-only path inside."""

MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/sys/devices/virtual/powercap", "/sys/firmware"),
    "/sys/devices/virtual/block",  # the loop devices of all environments, with the paths of their disks
)
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
UNLIMITED = (1 << 64) - 1  # RLIM_INFINITY, as the runtime writes it


def held(init: Init) -> frozenset[str]:
    """Upper bound of the capabilities of processes in an environment."""
    return capabilities.SYSTEMD if init is Init.SYSTEMD else capabilities.PLAIN


def tasks(vcpus: int) -> int:
    return min(TASKS + TASKS_PER_VCPU * vcpus, MOST_TASKS)


def variables(spec: EnvironmentSpec) -> dict[str, str]:
    """Variables of pid 1 and of every session. They do not depend on the allocation: a spare has them too."""
    return {
        "LANG": "C.UTF-8",
        "GPUAAS_SLOTS": ",".join(str(slot.index) for slot in spec.slots),
        "CUDA_VISIBLE_DEVICES": ",".join(slot.gpu_uuid for slot in spec.slots),
    }


def build(spec: EnvironmentSpec, *, first_id: int, cgroup: str, cpus: str) -> dict[str, Any]:
    rights = sorted(held(spec.init))
    ids = [{"containerID": 0, "hostID": first_id, "size": COUNT}]
    return {
        "ociVersion": "1.0.2",
        "hostname": spec.hostname,
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": list(PID_1[spec.init]),
            "env": [f"PATH={PATH}", "container=oci", *(f"{name}={value}" for name, value in variables(spec).items())],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), rights),
            "noNewPrivileges": False,
            "rlimits": rlimits(),
        },
        "root": {"path": f"{STAGE}/root"},
        "mounts": mounts(spec),
        "linux": {
            "uidMappings": ids,
            "gidMappings": ids,
            "namespaces": [{"type": kind} for kind in NAMESPACES],
            "cgroupsPath": cgroup,
            "resources": resources(spec, cpus),
            "seccomp": seccomp.to_runtime(seccomp.profile(held(spec.init))),
            "sysctl": {"net.ipv4.ping_group_range": f"0 {COUNT - 1}"},
            "maskedPaths": list(MASKED),
            "readonlyPaths": list(READ_ONLY),
        },
    }


def resources(spec: EnvironmentSpec, cpus: str) -> dict[str, Any]:
    memory = spec.memory_mib << 20
    return {
        "devices": [{"allow": False, "access": "rwm"}],
        "memory": {"limit": memory},
        "cpu": {"quota": spec.vcpus * PERIOD, "period": PERIOD, "cpus": cpus},
        "pids": {"limit": tasks(spec.vcpus)},
    }


def mounts(spec: EnvironmentSpec) -> list[dict[str, Any]]:
    quiet, no_programs = ["nosuid", "nodev"], ["nosuid", "nodev", "noexec"]
    shared_memory = max(64, spec.memory_mib // SHARED_MEMORY_SHARE)
    groups = (
        _mount("/sys/fs/cgroup", "cgroup2", no_programs)  # systemd manages the groups below its group
        if spec.init is Init.SYSTEMD
        else _mount("/sys/fs/cgroup", "cgroup", [*no_programs, "ro"])
    )
    terminals = ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5", f"max={PTYS}"]
    return [
        _mount("/proc", "proc", no_programs),
        _mount("/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=64k"]),
        _mount("/dev/pts", "devpts", terminals),
        _mount("/dev/shm", "tmpfs", [*quiet, "mode=1777", f"size={shared_memory}m"]),  # noqa: S108 (a name inside)
        _mount("/dev/mqueue", "mqueue", no_programs),
        _mount("/sys", "sysfs", [*no_programs, "ro"]),
        groups,
        _mount("/run", "tmpfs", [*quiet, "mode=755", f"size={RUN_MIB}m"]),
        *(
            {
                "destination": target,
                "type": "bind",
                "source": f"{STAGE}/{name}",
                "options": ["bind", "ro", *quiet],
            }
            for name, target in PLATFORM.items()
        ),
    ]


def _mount(target: str, kind: str, options: list[str]) -> dict[str, Any]:
    return {"destination": target, "type": kind, "source": kind, "options": options}


def rlimits() -> list[dict[str, Any]]:
    """Limit of open files: high enough for frameworks, as far as the node permits it."""
    wanted = {"NOFILE": OPEN_FILES, "MEMLOCK": resource.RLIM_INFINITY}
    found = []
    for name, value in wanted.items():
        _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        limit = min(_unsigned(value), _unsigned(hard))
        found.append({"type": f"RLIMIT_{name}", "soft": limit, "hard": limit})
    return [*found, {"type": "RLIMIT_CORE", "soft": 0, "hard": 0}]


def _unsigned(limit: int) -> int:
    return UNLIMITED if limit == resource.RLIM_INFINITY else limit


def home(spec: EnvironmentSpec) -> str:
    return f"/home/{spec.username}"


def folders(spec: EnvironmentSpec) -> dict[str, tuple[int, int]]:
    """Initial folders of the root disk: path → mode and owner, as seen inside."""
    return {
        home(spec): (0o700, HOLDER),
        "/etc/systemd/system.conf.d": (0o755, 0),
        **dict.fromkeys(PLATFORM.values(), (0o755, 0)),
    }


def files(
    spec: EnvironmentSpec, *, image_etc: dict[str, str], address: str, resolv: str
) -> dict[str, tuple[int, int, str]]:
    """Initial files: path → mode, owner and text. `image_etc` has passwd, group and shadow of the image."""
    name = spec.username
    person = f"{name}:x:{HOLDER}:{HOLDER}:{name}:{home(spec)}:/bin/bash\n"
    return {
        "/etc/passwd": (0o644, 0, image_etc["passwd"] + person),
        "/etc/group": (0o644, 0, image_etc["group"] + f"{name}:x:{HOLDER}:\n"),
        "/etc/shadow": (0o640, 0, image_etc["shadow"] + f"{name}:*:19000:0:99999:7:::\n"),
        f"/etc/sudoers.d/{name}": (0o440, 0, SUDOERS.format(name=name)),
        "/etc/hostname": (0o644, 0, f"{spec.hostname}\n"),
        "/etc/hosts": (0o644, 0, f"127.0.0.1 localhost\n::1 localhost ip6-localhost\n{address} {spec.hostname}\n"),
        "/etc/resolv.conf": (0o644, 0, resolv),
        "/etc/profile.d/gpuaas.sh": (0o644, 0, "PATH=$PATH:/opt/gpuaas/bin\n"),
    }
