"""How OpenSSH is told about an allocation: its address, and the host key that the API vouches for."""

import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import OWNER_ONLY, write_privately
from gpuaas.cli.process_context import ProcessContext
from gpuaas.wire.allocations import Allocation, SshConnection, Status

HAS_FCNTL = find_spec("fcntl") is not None  # not on Windows
if HAS_FCNTL:
    import fcntl


def known_hosts_file(process: ProcessContext) -> Path:
    return process.config_file.parent / "known_hosts"


def connection_of(one: Allocation) -> SshConnection:
    """`connection` of an active allocation, `early_connection` of one that is being made."""
    found = one.connection if one.status is Status.ACTIVE else one.early_connection
    if found is None:
        raise Complaint(
            f"{one.name} is {one.status}, so there is nothing to log in to.",
            next_step=f"gpuaas allocations get {one.name} --watch",
            code=ExitCode.CONFLICT,
        )
    return found


def remember_host_keys(process: ProcessContext, allocations: Iterable[Allocation]) -> None:
    """One line per allocation, under its id: ports are used again, ids never are."""
    lines = {one.id: f"{one.id} {connection_of(one).host_key}" for one in allocations}
    file = known_hosts_file(process)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, OWNER_ONLY)
    try:
        if HAS_FCNTL:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another `gpuaas ssh` must not lose its line to ours
        before = file.read_text().splitlines() if file.exists() else []
        kept = [line for line in before if line.partition(" ")[0] not in lines]
        after = [*kept, *lines.values()]
        if after != before:
            write_privately(file, "".join(f"{line}\n" for line in after))
    finally:
        os.close(lock)


def options(process: ProcessContext, one: Allocation) -> dict[str, str]:
    return {
        "HostKeyAlias": one.id,
        "UserKnownHostsFile": quoted(known_hosts_file(process)),
        "StrictHostKeyChecking": "yes",
        "UpdateHostKeys": "no",
    }


def ssh_command(
    process: ProcessContext,
    one: Allocation,
    *,
    command: Sequence[str] = (),
    forwards: Sequence[str] = (),
    identity: str = "",
) -> list[str]:
    connection = connection_of(one)
    words = ["ssh"]
    for name, value in options(process, one).items():
        words += ["-o", f"{name}={value}"]
    for forward in forwards:
        words += ["-L", forward]
    if identity:
        words += ["-i", identity]
    words += ["-p", str(connection.port), "-l", connection.username, "--", connection.host]
    return [*words, *command]


def host_block(process: ProcessContext, one: Allocation) -> str:
    connection = connection_of(one)
    settings = {
        "HostName": connection.host,
        "Port": str(connection.port),
        "User": connection.username,
        **options(process, one),
    }
    return "\n".join([f"Host {one.name}", *(f"    {name} {value}" for name, value in settings.items())])


def quoted(file: Path) -> str:
    """OpenSSH splits this option at spaces, also when it comes by `-o`."""
    return f'"{file}"' if " " in str(file) else str(file)
