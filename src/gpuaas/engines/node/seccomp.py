"""The seccomp profile of an environment, used for runc and for our processes.

`profile` creates the rules; `to_runtime` is the format of runc, `compile_bpf` the filter that the SSH gateway loads
before it starts a session. Both use libseccomp, whose rules have two pitfalls that this module avoids:

- A rule may compare an argument with `!=` only as a 64-bit number, but the kernel reads most arguments as 32 bits. A
  caller that sets a higher bit bypasses such a rule. Here every comparison masks the argument.
- The result of two overlapping rules depends on the order in which libseccomp sorts them. Here no two rules with
  different outcomes overlap.
"""

import ctypes
import errno
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from gpuaas.engines.node import capabilities, syscalls

LIBRARY = "libseccomp.so.2"
ALLOW = 0
"""The errno of a rule that allows the call."""
LOW_32_BITS = 0xFFFFFFFF
DEFAULT_ERRNO = errno.ENOSYS

# The architecture of a node, and those that its processor also executes.
ARCHITECTURES = {
    "x86_64": ("SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"),
    "aarch64": ("SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"),
}
_TOKENS = {
    "SCMP_ARCH_X86_64": 0xC000003E,
    "SCMP_ARCH_X86": 0x40000003,
    "SCMP_ARCH_X32": 0x4000003E,
    "SCMP_ARCH_AARCH64": 0xC00000B7,
    "SCMP_ARCH_ARM": 0x40000028,
}
_ACT_ALLOW, _ACT_ERRNO = 0x7FFF0000, 0x00050000
_CMP_MASKED_EQ = 7
_ATTRIBUTE_OPTIMIZE, _BINARY_TREE = 8, 2
_UNKNOWN_NAME = -1


class SeccompError(Exception):
    """The filter could not be created; no process may start without it."""


@dataclass(frozen=True)
class Comparison:
    """True if the masked argument equals the value."""

    index: int
    mask: int
    value: int


@dataclass(frozen=True)
class Rule:
    """These calls get this outcome: an errno, or ALLOW."""

    names: tuple[str, ...]
    errno: int
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class Profile:
    """Rules without contradictions; other calls get the default."""

    rules: tuple[Rule, ...]
    default_errno: int = field(default=DEFAULT_ERRNO)


def profile(held: frozenset[str]) -> Profile:
    """The profile of an environment whose processes have at most these capabilities."""
    capabilities.numbers(held)  # a misspelt name would make the profile stricter by accident
    allowed, refused = [*syscalls.ALLOWED], [*syscalls.REFUSED]
    for capability, names in syscalls.BY_CAPABILITY.items():
        (allowed if capability in held else refused).extend(names)
    conditional: list[Rule] = []
    if "CAP_SYS_ADMIN" in held:
        allowed += ["clone", "unshare"]
    else:
        # glibc makes threads with clone3 and falls back to clone on ENOSYS. The flags of clone3 are in memory, where no
        # filter sees a namespace being asked for.
        refused.remove("clone3")
        conditional += _without_namespaces()
    families = [family for family, needed in syscalls.FAMILIES.items() if not needed or needed in held]
    exact = tuple((LOW_32_BITS, family, ALLOW) for family in families)
    for name in ("socket", "socketpair"):
        conditional += choose(name, 0, exact, otherwise=syscalls.FAMILY_ERRNO)
    injections = tuple((LOW_32_BITS, request, errno.EPERM) for request in syscalls.TERMINAL_INJECTION)
    conditional += choose("ioctl", 1, injections, otherwise=ALLOW)
    chosen = (LOW_32_BITS & ~syscalls.PERSONALITY_BITS, 0, ALLOW)
    query = (LOW_32_BITS, syscalls.PERSONALITY_QUERY, ALLOW)
    conditional += choose("personality", 0, (chosen, query), otherwise=errno.EPERM)
    plain = Rule(tuple(sorted(allowed)), ALLOW), Rule(tuple(sorted(refused)), errno.EPERM)
    return Profile((*plain, *conditional))


def _without_namespaces() -> Iterator[Rule]:
    flags = [*syscalls.CLONE_NEW.values()]
    for name, forbidden in (("clone", flags), ("unshare", [*flags, syscalls.CLONE_NEWTIME])):
        yield Rule((name,), ALLOW, (Comparison(0, sum(forbidden), 0),))
        for flag in forbidden:
            yield Rule((name,), errno.EPERM, (Comparison(0, flag, flag),))


def choose(name: str, index: int, cases: tuple[tuple[int, int, int], ...], *, otherwise: int) -> list[Rule]:
    """Rules for the low 32 bits of one argument: (mask, value, outcome) per case, and one outcome for the rest.

    libseccomp has no "otherwise" beside other rules of the same call, so the rest is cut into pieces by its bits. Cases
    must exclude each other.
    """
    rules = [Rule((name,), outcome, (Comparison(index, mask, value),)) for mask, value, outcome in cases]
    rest = _rest([(mask, value) for mask, value, _ in cases], 0, 0)
    return rules + [Rule((name,), otherwise, (Comparison(index, mask, value),)) for mask, value in rest]


def _rest(cases: list[tuple[int, int]], mask: int, value: int) -> Iterator[tuple[int, int]]:
    """Split the numbers that equal `value` under `mask` and match no case into the fewest such pieces."""
    if not (meeting := [case for case in cases if (case[1] ^ value) & case[0] & mask == 0]):
        yield mask, value
        return
    open_bits = 0
    for case in meeting:
        open_bits |= case[0] & ~mask
    if open_bits:
        bit = 1 << (open_bits.bit_length() - 1)
        yield from _rest(meeting, mask | bit, value | bit)
        yield from _rest(meeting, mask | bit, value)


def to_runtime(rules: Profile, machine: str = platform.machine()) -> dict[str, Any]:
    """`linux.seccomp` in the runtime's config.json."""
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        # runc adds a rule for newer calls unless the default is ENOSYS; with ENOSYS both filters are the same.
        "defaultErrnoRet": rules.default_errno,
        "architectures": list(_architectures(machine)),
        "syscalls": [_runtime_rule(rule) for rule in rules.rules],
    }


def _runtime_rule(rule: Rule) -> dict[str, Any]:
    action = {"action": "SCMP_ACT_ALLOW"} if rule.errno == ALLOW else _runtime_errno(rule.errno)
    found = {"names": list(rule.names), **action}
    if rule.comparisons:
        found["args"] = [
            {"index": one.index, "value": one.mask, "valueTwo": one.value, "op": "SCMP_CMP_MASKED_EQ"}
            for one in rule.comparisons
        ]
    return found


def _runtime_errno(code: int) -> dict[str, Any]:
    return {"action": "SCMP_ACT_ERRNO", "errnoRet": code}


def _architectures(machine: str) -> tuple[str, ...]:
    try:
        return ARCHITECTURES[machine]
    except KeyError:
        raise SeccompError(f"no seccomp profile for the architecture {machine}") from None


class _Argument(ctypes.Structure):
    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise SeccompError(f"{LIBRARY} is not installed: {error}") from error
    context = ctypes.c_void_p
    library.seccomp_init.restype = context
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_release.argtypes = (context,)
    library.seccomp_release.restype = None
    library.seccomp_arch_add.argtypes = (context, ctypes.c_uint32)
    library.seccomp_attr_set.argtypes = (context, ctypes.c_int, ctypes.c_uint32)
    library.seccomp_syscall_resolve_name.argtypes = (ctypes.c_char_p,)
    library.seccomp_export_bpf.argtypes = (context, ctypes.c_int)
    library.seccomp_rule_add_array.argtypes = (
        context,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Argument),
    )
    return library


def unknown_syscalls(rules: Profile) -> tuple[str, ...]:
    """Names unknown to this node's libseccomp. Both runc and `compile_bpf` use the default, ENOSYS, for them:
    fewer calls are allowed than in the profile, never more."""
    return tuple(sorted({name for rule in rules.rules for name in rule.names if _number(name) == _UNKNOWN_NAME}))


def _number(name: str) -> int:
    return int(_library().seccomp_syscall_resolve_name(name.encode()))


@lru_cache(maxsize=8)
def compile_bpf(rules: Profile, machine: str = platform.machine()) -> bytes:
    """The filter in the format of the kernel: an array of `struct sock_filter`."""
    library, (_, *further) = _library(), _architectures(machine)
    context = library.seccomp_init(_action(rules.default_errno))
    if not context:
        raise SeccompError("libseccomp could not make a filter")
    try:
        for name in further:
            _check(library.seccomp_arch_add(context, _TOKENS[name]), f"add {name}")
        # A binary search instead of one comparison per call; older versions return an error.
        library.seccomp_attr_set(context, _ATTRIBUTE_OPTIMIZE, _BINARY_TREE)
        for rule in rules.rules:
            _add(context, rule)
        return _export(context)
    finally:
        library.seccomp_release(context)


def _add(context: int, rule: Rule) -> None:
    arguments = (_Argument * len(rule.comparisons))(
        *(_Argument(one.index, _CMP_MASKED_EQ, one.mask, one.value) for one in rule.comparisons)
    )
    for name in rule.names:
        if (number := _number(name)) != _UNKNOWN_NAME:
            action, count = _action(rule.errno), len(arguments)
            _check(_library().seccomp_rule_add_array(context, action, number, count, arguments), f"rule for {name}")


def _action(code: int) -> int:
    return _ACT_ALLOW if code == ALLOW else _ACT_ERRNO | code


def _export(context: int) -> bytes:
    descriptor = os.memfd_create("seccomp")
    try:
        _check(_library().seccomp_export_bpf(context, descriptor), "export")
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    finally:
        os.close(descriptor)


def _check(code: int, what: str) -> None:
    if code < 0:
        raise SeccompError(f"libseccomp: {what}: {os.strerror(-code)}")
