"""What a person finds in /etc: the machine's files that everybody may read, and the environment's own over them."""

import hashlib
import json
import os
import re
import shutil
import stat
from pathlib import Path

from gpuaas.engines.sandbox import files
from gpuaas.engines.sandbox.sessions import shell
from gpuaas.wire.environments import EnvironmentSpec

OWN_FILES = ("passwd", "group", "hostname", "hosts", "resolv.conf", "machine-id")
OWN_FOLDERS = ("gpuaas",)
WITHHELD = re.compile(
    r"(gpuaas|shadow-?|gshadow-?|passwd-|group-|sudoers.*|subuid-?|subgid-?|ssh/(ssh_host_.*|sshd_config.*|moduli)|ssl/private"
    r"|fstab|crypttab|mtab|machine-id|hostname|cron\..*|crontab|init\.d|rc\d\.d|\.pwd\.lock|krb5\.keytab)"
)
FILE_LIMIT = 4 * 1024 * 1024
FACT_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
RESOLVED = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


def snapshot(target: Path, source: Path = Path("/etc")) -> None:
    """Copy what is open to everybody; a running environment keeps the copy it booted with."""
    _copy_folder(source, target, "")
    for name in OWN_FILES:
        (target / name).unlink(missing_ok=True)
        (target / name).touch()
    for name in OWN_FOLDERS:
        (target / name).mkdir(exist_ok=True)


def _copy_folder(source: Path, target: Path, below: str) -> None:
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    for entry in os.scandir(source):
        name = f"{below}{entry.name}"
        if WITHHELD.fullmatch(name):
            continue
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            (target / entry.name).symlink_to(Path(entry.path).readlink())
        elif stat.S_ISDIR(facts.st_mode) and facts.st_mode & 0o004 and facts.st_mode & 0o001:
            _copy_folder(Path(entry.path), target / entry.name, f"{name}/")
        elif stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o004 and facts.st_size <= FILE_LIMIT:
            shutil.copyfile(entry.path, target / entry.name)
            (target / entry.name).chmod(0o755 if facts.st_mode & 0o001 else 0o644)


def fingerprint(source: Path = Path("/etc")) -> str:
    """Changes when an entry of /etc or of its folders is added, removed or replaced."""
    stamps = [(entry.path, entry.stat(follow_symlinks=False).st_mtime_ns) for entry in os.scandir(source)]
    return hashlib.sha256(repr(sorted(stamps)).encode()).hexdigest()[:16]


def write_own(folder: Path, spec: EnvironmentSpec, *, uid: int, gid: int, address: str) -> None:
    """The environment's own files, laid over the snapshot; a boot writes them anew."""
    folder.mkdir(mode=0o755, exist_ok=True)
    name, home = spec.username, f"/home/{spec.username}"
    texts = {
        "passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\n{name}:x:{uid}:{gid}:{name}:{home}:{shell()}\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        "group": f"root:x:0:\ntty:x:5:\n{name}:x:{gid}:\nnogroup:x:65534:\n",
        "hostname": f"{spec.hostname}\n",
        "hosts": f"127.0.0.1 localhost\n::1 localhost ip6-localhost\n{address} {spec.hostname}\n",
        "resolv.conf": _resolvers(is_own_network=address != "127.0.1.1"),
        "machine-id": hashlib.sha256(spec.allocation_id.encode()).hexdigest()[:32] + "\n",
    }
    for file, text in texts.items():
        files.write_whole(folder / file, text.encode(), mode=0o644, durable=False)
    own = folder / "gpuaas"
    own.mkdir(mode=0o755, exist_ok=True)
    for fact, value in facts(spec).items():
        files.write_whole(own / fact, f"{value}\n".encode(), mode=0o644, durable=False)


def facts(spec: EnvironmentSpec) -> dict[str, str]:
    """One small file each, and all of them as JSON."""
    known = {
        **{name: value for name, value in spec.facts.items() if FACT_NAME.fullmatch(name)},
        "allocation_id": spec.allocation_id,
        "boot": str(spec.boot),
        "hostname": spec.hostname,
        "slots": ",".join(str(slot.index) for slot in spec.slots),
        "gpus": ",".join(slot.gpu_uuid for slot in spec.slots),
        "vcpus": str(spec.vcpus),
        "memory_mib": str(spec.memory_mib),
        "simulated": str(spec.simulated).lower(),
    }
    return {**known, "facts.json": json.dumps(known, indent=2, sort_keys=True)}


def variables(spec: EnvironmentSpec, home: str) -> dict[str, str]:
    """In the environment of every session."""
    return {
        "HOME": home,
        "USER": spec.username,
        "LOGNAME": spec.username,
        "SHELL": shell(),
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
        "LANG": "C.UTF-8",
        "GPUAAS_ALLOCATION_ID": spec.allocation_id,
        "GPUAAS_SLOTS": ",".join(str(slot.index) for slot in spec.slots),
        "CUDA_VISIBLE_DEVICES": ",".join(slot.gpu_uuid for slot in spec.slots),
    }


def _resolvers(*, is_own_network: bool) -> str:
    """Name servers that can be reached from there: a resolver on the machine's loopback is not one of them."""
    for path in RESOLVED:
        lines = path.read_text().splitlines() if path.exists() else []
        kept = [line for line in lines if not (is_own_network and re.match(r"nameserver\s+(127\.|::1)", line))]
        if any(line.startswith("nameserver") for line in kept):
            return "\n".join(kept) + "\n"
    return ""
