"""Tests for one running environment whether its holder can create a user namespace: exit code 0 yes, 3 no.

This is a separate process, because a process cannot leave a user namespace. It becomes the holder in the environment's
user namespace, under the seccomp filter of sessions, and calls the kernel. It executes no files of the tenant. Uses
only the standard library.
"""

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
PR_SET_SECCOMP, MODE_FILTER = 22, 2
INSTRUCTION_BYTES = 8
REFUSED = 3
HOLDER = 1000
libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def main(pid: int, filter: bytes) -> int:
    code = ctypes.create_string_buffer(filter, len(filter))
    program = Program(len(filter) // INSTRUCTION_BYTES, ctypes.cast(code, ctypes.c_void_p))
    checked("setns", libc.setns(os.pidfd_open(pid), CLONE_NEWUSER))
    checked("seccomp", libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0))
    os.setgroups([])
    os.setresgid(HOLDER, HOLDER, HOLDER)
    os.setresuid(HOLDER, HOLDER, HOLDER)
    return 0 if libc.unshare(CLONE_NEWUSER) == 0 else REFUSED


def checked(what: str, result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]).read_bytes()))
