"""State shared by all parts of a gateway: folder, clock, lease, records, login events and budgets."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gpuaas.core.clock import Clock
from gpuaas.engines.descriptors import Descriptors
from gpuaas.engines.leases import Leases
from gpuaas.engines.logins import Logins
from gpuaas.gateway.limits import Limits
from gpuaas.gateway.records import Records
from gpuaas.gateway.sessions import Session
from gpuaas.wire.gateway import ACCESS_FILE, SESSION_SOCKET
from gpuaas.wire.spares import SPARE_PREFIX

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(kw_only=True)
class Node:
    root: Path
    clock: Clock
    leases: Leases
    records: Records
    logins: Logins
    descriptors: Descriptors
    limits: Limits
    sessions: set[Session] = field(default_factory=set)  # sessions whose exit codes this process has to report
    on_news: Callable[[], None] = lambda: None  # a login event is waiting
    on_session_end: Callable[[], None] = lambda: None
    randomness: Callable[[int], bytes] = os.urandom
    machine_boot: str = field(default_factory=lambda: BOOT_ID.read_text().strip())
    pid_namespace: int = field(default_factory=lambda: os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC))

    def new_id(self) -> str:
        return self.randomness(8).hex()

    def environment_folder(self, id: str) -> Path:
        return self.root / ("spares" if id.startswith(SPARE_PREFIX) else "environments") / id

    def environment_ids(self) -> list[str]:
        """Folders of environments and spares to serve. Does not access the mount of lxcfs beside them, which may
        hang."""
        folders = (self.root / name for name in ("environments", "spares"))
        return sorted(path.parent.name for folder in folders for path in folder.glob(f"*/{ACCESS_FILE}"))

    def socket_folder(self, allocation_id: str) -> Path:
        return self.root / "gateway" / allocation_id

    def is_this_boot(self, machine_boot: str) -> bool:
        return machine_boot == self.machine_boot

    def rename_socket_folder(self, spare: str, allocation_id: str) -> None:
        self.forget_socket_folder(allocation_id)
        self.socket_folder(spare).rename(self.socket_folder(allocation_id))

    def forget_socket_folder(self, allocation_id: str) -> None:
        folder = self.socket_folder(allocation_id)
        with suppress(OSError):
            (folder / SESSION_SOCKET).unlink(missing_ok=True)
            folder.rmdir()
