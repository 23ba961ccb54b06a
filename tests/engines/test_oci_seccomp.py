"""The seccomp profile: both outputs in a real kernel, and against each other for every call of three architectures."""

import ctypes
import errno
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.engines.node import capabilities, seccomp, syscalls
from gpuaas.engines.node.capabilities import PLAIN, SYSTEMD
from gpuaas.engines.node.seccomp import ALLOW, LOW_32_BITS, Comparison, Profile, Rule
from tests.residue import RUN

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers here are those of x86_64")

SETS = {"plain": PLAIN, "systemd": SYSTEMD}
X86_64, X86, X32_BIT = 0xC000003E, 0x40000003, 0x40000000
X32 = 0x4000003E  # libseccomp's name for it; the kernel says X86_64 and sets a bit of the number
KILL = -1
AF_ALG, AF_VSOCK, HIGH_BIT = 38, 40, 1 << 32
NEWUSER, NEWNS = syscalls.CLONE_NEW["CLONE_NEWUSER"], syscalls.CLONE_NEW["CLONE_NEWNS"]
SIGCHLD = 17
LAST_NUMBER = 600

# Each call is harmless should the filter let it through: null pointers, numbers that do not exist, own processes.
PROBES: dict[str, tuple[int, ...]] = {
    "socket(AF_VSOCK)": (41, AF_VSOCK, 1, 0),
    "socket(AF_VSOCK, high bit)": (41, AF_VSOCK | HIGH_BIT, 1, 0),
    "socket(AF_ALG)": (41, AF_ALG, 5, 0),
    "socketpair(AF_VSOCK)": (53, AF_VSOCK, 1, 0, 0),
    "socket(AF_INET)": (41, 2, 1, 0),
    "socket(AF_UNIX, high bit)": (41, 1 | HIGH_BIT, 1, 0),
    "socket(AF_NETLINK)": (41, 16, 3, 0),
    "keyctl": (250, 0, 0, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "request_key": (249, 0, 0, 0, 0),
    "io_uring_setup": (425, 0, 0),
    "io_uring_enter": (426, -1, 0, 0, 0, 0),
    "bpf": (321, -1, 0, 0),
    "userfaultfd": (323, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "fanotify_init": (300, 0, 0),
    "kexec_load": (246, 0, 1, 0, 0),
    "init_module": (175, 0, 0, 0),
    "delete_module": (176, 0, 0),
    "move_pages": (279, 0, 0, 0, 0, 0, 0),
    "syslog": (103, 10, 0, 0),
    "modify_ldt": (154, 0, 0, 0),
    "unshare(NEWUSER)": (272, NEWUSER),
    "unshare(NEWNS)": (272, NEWNS),
    "unshare(0)": (272, 0),
    "clone(NEWUSER)": (56, NEWUSER | SIGCHLD, 0, 0, 0, 0),
    "clone": (56, SIGCHLD, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "setns": (308, -1, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "umount2": (166, 0, 0),
    "fsopen": (430, 0, 0),
    "pivot_root": (155, 0, 0),
    "personality(query)": (135, 0xFFFFFFFF),
    "personality(READ_IMPLIES_EXEC)": (135, 0x0400000),
    "ioctl(TIOCSTI)": (16, 0, syscalls.TIOCSTI, 0),
    "ioctl(TIOCSTI, high bit)": (16, 0, syscalls.TIOCSTI | HIGH_BIT, 0),
    "ioctl(TIOCGWINSZ)": (16, -1, 0x5413, 0),
    "ptrace(TRACEME)": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 0, 0, 0, 0, 0, 1),
    "mbind": (237, 0, 0, 99, 0, 0, 0),
    "newer than the kernel": (599,),
}
NO_FAMILY, NO_CALL, NO_RIGHT = errno.EAFNOSUPPORT, errno.ENOSYS, errno.EPERM
EVERYWHERE = {
    **dict.fromkeys([name for name in PROBES if "AF_VSOCK" in name or "AF_ALG" in name], NO_FAMILY),
    **dict.fromkeys(["keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "modify_ldt"], NO_CALL),
    **dict.fromkeys(["bpf", "userfaultfd", "perf_event_open", "open_by_handle_at", "fanotify_init"], NO_RIGHT),
    **dict.fromkeys(["kexec_load", "init_module", "delete_module", "move_pages", "syslog"], NO_RIGHT),
    **dict.fromkeys(["ioctl(TIOCSTI)", "ioctl(TIOCSTI, high bit)", "personality(READ_IMPLIES_EXEC)"], NO_RIGHT),
    **dict.fromkeys(["socket(AF_INET)", "socket(AF_UNIX, high bit)", "socket(AF_NETLINK)", "unshare(0)"], 0),
    **dict.fromkeys(["clone", "personality(query)", "ptrace(TRACEME)"], 0),
    "ioctl(TIOCGWINSZ)": errno.EBADF,
    "process_vm_readv": errno.EINVAL,
    "mbind": errno.EINVAL,
    "newer than the kernel": NO_CALL,
}
EXPECTED = {
    "plain": {
        **EVERYWHERE,
        **dict.fromkeys(["unshare(NEWUSER)", "unshare(NEWNS)", "clone(NEWUSER)", "setns", "mount"], NO_RIGHT),
        **dict.fromkeys(["umount2", "fsopen", "pivot_root"], NO_RIGHT),
        "clone3": NO_CALL,
    },
    # The kernel's own answers: the filter lets them through.
    "systemd": {
        **EVERYWHERE,
        **dict.fromkeys(["unshare(NEWUSER)", "unshare(NEWNS)", "clone(NEWUSER)"], 0),
        **dict.fromkeys(["mount", "umount2", "fsopen", "pivot_root"], errno.EFAULT),
        "setns": errno.EBADF,
        "clone3": errno.EINVAL,
    },
}

PROBE = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if sys.argv[1] != "-":
    bpf = open(sys.argv[1], "rb").read()
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))
    zero = ctypes.c_ulong(0)
    assert libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero) == 0
    assert libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(Program(len(bpf) // 8, bpf)), zero, zero) == 0
if sys.argv[2] == "run":
    os.execvp(sys.argv[3], sys.argv[3:])
found = {}
for name, (number, *arguments) in json.loads(sys.argv[3]).items():
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(value & (1 << 64) - 1) for value in arguments])
        if name.startswith("clone") and result == 0:
            os._exit(0)
        os.write(writing, str(ctypes.get_errno() if result == -1 else 0).encode())
        os._exit(0)
    os.close(writing)
    found[name] = int(os.read(reading, 16) or -1)
    os.close(reading)
    os.waitpid(child, 0)
print(json.dumps(found))
"""
SYSTEM_PYTHON = "/usr/bin/python3"
COMMITTER = "-c user.name=a -c user.email=a@b"


def run_filtered(folder: Path, rules: Profile, *command: str) -> subprocess.CompletedProcess[str]:
    """A child that loads the compiled filter and becomes the command, or probes."""
    bpf = folder / "filter.bpf"
    bpf.write_bytes(seccomp.compile_bpf(rules))
    loading = [sys.executable, "-c", PROBE, str(bpf), *command]
    return subprocess.run(loading, capture_output=True, text=True, check=False, cwd=folder, timeout=60)


@pytest.mark.parametrize("init", SETS)
@pytest.mark.skipif(os.geteuid() != 0, reason="only for root is each EPERM one of the filter")
def test_the_compiled_filter_gives_each_call_its_answer(init: str, tmp_path: Path) -> None:
    done = run_filtered(tmp_path, seccomp.profile(SETS[init]), "probe", json.dumps(PROBES))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == EXPECTED[init]


@pytest.mark.parametrize("init", SETS)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("runc"), reason="needs root and runc")
def test_runc_gives_each_call_the_same_answer(init: str, tmp_path: Path) -> None:
    container_id = f"seccomp-{init}-{os.environ[RUN]}"
    filtering = seccomp.to_runtime(seccomp.profile(SETS[init]))
    (tmp_path / "config.json").write_text(json.dumps(container(container_id, filtering)))
    root = tmp_path / "root"
    for name in ("usr", "proc", "dev"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    command = ["runc", "--root", str(tmp_path / "runc"), "run", "--bundle", str(tmp_path), container_id]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == EXPECTED[init]


def container(name: str, filtering: dict[str, Any]) -> dict[str, Any]:
    """All capabilities that this process has: a refusal is the filter's."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    held = sorted(capabilities.from_mask(int(status["CapEff"], 16)))
    return {
        "ociVersion": "1.0.2",
        "root": {"path": "root"},
        "process": {
            "cwd": "/",
            "args": [SYSTEM_PYTHON, "-c", PROBE, "-", "probe", json.dumps(PROBES)],
            "env": ["PATH=/usr/bin"],
            "user": {"uid": 0, "gid": 0},
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), held),
        },
        "mounts": [
            {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("mount", "pid", "ipc", "uts")],
            "cgroupsPath": f"/{name}",  # by default runc makes one below our own, and leaves its parents behind
            "seccomp": filtering,
        },
    }


@pytest.mark.parametrize("init", SETS)
@pytest.mark.parametrize(
    "command",
    [
        (SYSTEM_PYTHON, "-c", "import threading as t; x = t.Thread(target=print, args=('done',)); x.start(); x.join()"),
        (SYSTEM_PYTHON, "-c", "import asyncio; asyncio.run(asyncio.sleep(0)); print('done')"),
        (SYSTEM_PYTHON, "-c", "import multiprocessing as m; m.Pool(2).map(abs, [1]); print('done')"),
        ("sh", "-c", f"git init -q r && cd r && git {COMMITTER} commit -q --allow-empty -m a && echo done"),
        ("sh", "-c", "echo 'int main(){return 0;}' >a.c && gcc a.c && ./a.out && echo done"),
        ("sh", "-c", "tar c /usr/include/linux | tar t >/dev/null && ps ax >/dev/null && df >/dev/null; echo done"),
        ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "sh", "-c", "id -un >/dev/null; echo done"),
    ],
    ids=["threads", "asyncio", "multiprocessing", "git", "gcc", "tar", "setuid"],
)
def test_ordinary_programs_run_under_the_filter(init: str, command: tuple[str, ...], tmp_path: Path) -> None:
    if ("gcc" in command[-1] and not shutil.which("gcc")) or (command[0] == "setpriv" and os.geteuid() != 0):
        pytest.skip("not on this machine")
    done = run_filtered(tmp_path, seccomp.profile(SETS[init]), "run", *command)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr


@cache
def names_of(architecture: int) -> dict[int, str]:
    """Every call that libseccomp knows there, by the number that the filter sees."""
    library = ctypes.CDLL(seccomp.LIBRARY)
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_char_p
    library.seccomp_syscall_resolve_num_arch.argtypes = (ctypes.c_uint32, ctypes.c_int)
    first = X32_BIT if architecture == X32 else 0
    found = {n: library.seccomp_syscall_resolve_num_arch(architecture, n) for n in range(first, first + LAST_NUMBER)}
    return {number: name.decode() if name else "" for number, name in found.items()}


def interpret(program: list[tuple[int, int, int, int]], data: bytes) -> int:
    """Classic BPF, as far as libseccomp uses it; ALLOW, an errno or KILL."""
    accumulator = at = 0
    while True:
        code, on_true, on_false, k = program[at]
        at += 1
        match code:
            case 0x20:  # load a word
                accumulator = struct.unpack_from("=I", data, k)[0]
            case 0x54:  # and
                accumulator &= k
            case 0x05:  # jump
                at += k
            case 0x15 | 0x25 | 0x35 | 0x45:  # jump if equal, greater, greater or equal, any bit
                holds = {0x15: accumulator == k, 0x25: accumulator > k, 0x35: accumulator >= k, 0x45: accumulator & k}
                at += on_true if holds[code] else on_false
            case 0x06:  # return
                return {0x7FFF0000: ALLOW, 0x00050000: k & 0xFFFF}.get(k & 0xFFFF0000, KILL)
            case _:
                raise AssertionError(f"instruction {code:#x}")


def judge(rules: list[dict[str, Any]], arguments: tuple[int, ...], default: int) -> int:
    """What runc's configuration says, by the rules of one call; rules that match must agree."""
    outcomes = {
        ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else rule["errnoRet"]
        for rule in rules
        if all(arguments[one["index"]] & one["value"] == one["valueTwo"] for one in rule.get("args", ()))
    }
    assert len(outcomes) <= 1, f"{rules[0]['names']} {arguments}: rules contradict each other: {outcomes}"
    return outcomes.pop() if outcomes else default


def samples(name: str) -> Iterator[tuple[int, ...]]:
    """First and second argument: the numbers that the table knows, their neighbours, each with higher bits too."""
    known = [0, 1, *syscalls.FAMILIES, AF_ALG, AF_VSOCK, *syscalls.TERMINAL_INJECTION, LOW_32_BITS, (1 << 64) - 1]
    known += [*syscalls.CLONE_NEW.values(), syscalls.CLONE_NEWTIME, syscalls.PERSONALITY_BITS]
    if name not in syscalls.CONDITIONAL:
        known = known[::7]
    else:
        chance = random.Random(name)
        known += [1 << bit for bit in range(64)] + [chance.getrandbits(64) for _ in range(50)]
        known += [number ^ 1 << bit for number in known[:20] for bit in (0, 1, 4, 31)]
    for number in known:
        for value in (number, number | HIGH_BIT, number | 1 << 63):
            yield value, 0, 0, 0, 0, 0
            yield 0, value, 0, 0, 0, 0


def differences(bpf: bytes, runtime: dict[str, Any]) -> Iterator[str]:
    program = list(struct.iter_unpack("=HBBI", bpf))
    for architecture in (X86_64, X86, X32):
        for number, name in names_of(architecture).items():
            rules = [rule for rule in runtime["syscalls"] if name in rule["names"]]
            for arguments in samples(name):
                if architecture == X86:
                    arguments = tuple(value & LOW_32_BITS for value in arguments)  # noqa: PLW2901 - its registers
                audit = X86 if architecture == X86 else X86_64
                filtered = interpret(program, struct.pack("=IIQ6Q", number, audit, 0, *arguments))
                if filtered != judge(rules, arguments, runtime["defaultErrnoRet"]):
                    yield f"{architecture:#x} {name} {number} {arguments}: {filtered}"


@pytest.mark.parametrize("init", SETS)
def test_both_outputs_agree_on_every_call_and_argument(init: str) -> None:
    rules = seccomp.profile(SETS[init])
    assert list(differences(seccomp.compile_bpf(rules), seccomp.to_runtime(rules))) == []


@pytest.mark.parametrize(
    "planted",
    [
        Rule(("keyctl",), ALLOW),
        Rule(("ioctl",), ALLOW, (Comparison(1, HIGH_BIT, HIGH_BIT),)),
        Rule(("clone",), ALLOW, (Comparison(0, LOW_32_BITS, NEWUSER),)),
    ],
    ids=["a call", "a high bit", "a flag"],
)
def test_an_allowed_call_that_only_one_output_has_is_found(planted: Rule) -> None:
    rules = seccomp.profile(PLAIN)
    wider = replace(rules, rules=(planted, *rules.rules))
    assert next(differences(seccomp.compile_bpf(wider), seccomp.to_runtime(rules)), "")


def test_calls_of_an_architecture_outside_the_profile_kill() -> None:
    program = list(struct.iter_unpack("=HBBI", seccomp.compile_bpf(seccomp.profile(PLAIN))))
    assert interpret(program, struct.pack("=IIQ6Q", 0, 0xC00000B7, 0, 0, 0, 0, 0, 0, 0)) == KILL


def test_every_known_call_is_decided_in_exactly_one_group() -> None:
    groups = Counter([*syscalls.ALLOWED, *syscalls.REFUSED, *syscalls.ABSENT, *syscalls.CONDITIONAL])
    groups.update(name for names in syscalls.BY_CAPABILITY.values() for name in names)
    known = {name for architecture in (X86_64, X86, X32) for name in names_of(architecture).values() if name}
    assert {name for name, count in groups.items() if count > 1} == set()
    assert known - set(groups) == set()


def test_names_that_the_library_does_not_know_are_reported_and_stay_at_the_default() -> None:
    rules = seccomp.profile(PLAIN)
    wider = replace(rules, rules=(*rules.rules, Rule(("not_a_call",), ALLOW)))
    assert set(seccomp.unknown_syscalls(wider)) - set(seccomp.unknown_syscalls(rules)) == {"not_a_call"}
    assert seccomp.compile_bpf(wider) == seccomp.compile_bpf(rules)


def test_a_misspelt_capability_or_an_unknown_architecture_is_an_error() -> None:
    with pytest.raises(capabilities.UnknownCapabilityError, match="CAP_SYS_ADMN"):
        seccomp.profile(frozenset({"CAP_SYS_ADMN"}))
    with pytest.raises(seccomp.SeccompError, match="riscv64"):
        seccomp.to_runtime(seccomp.profile(PLAIN), "riscv64")


def test_capabilities_have_the_kernel_s_numbers() -> None:
    assert capabilities.numbers({"CAP_SYS_ADMIN", "CAP_CHOWN", "CAP_CHECKPOINT_RESTORE"}) == (0, 21, 40)
    assert capabilities.from_mask(capabilities.mask(SYSTEMD)) == SYSTEMD
    assert capabilities.mask(capabilities.DOCKER_DEFAULT) == 0xA80425FB  # as in /proc/1/status of a Docker container
    assert len(capabilities.DOCKER_DEFAULT) == 14


@given(st.sets(st.integers(0, LOW_32_BITS), min_size=1, max_size=6), st.integers(0, (1 << 64) - 1), st.booleans())
def test_a_choice_has_exactly_one_rule_for_each_number(values: set[int], number: int, near: bool) -> None:
    if near:
        number = min(values) ^ 1 << number % 64
    rules = seccomp.choose("x", 0, tuple((LOW_32_BITS, value, ALLOW) for value in values), otherwise=errno.EPERM)
    matching = [rule for rule in rules if number & rule.comparisons[0].mask == rule.comparisons[0].value]
    assert [rule.errno for rule in matching] == [ALLOW if number & LOW_32_BITS in values else errno.EPERM]
