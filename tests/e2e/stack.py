"""A whole GPUaaS as a person runs it: `gpuaas up` and the CLI as processes, plain OpenSSH beside them."""

import asyncio
import itertools
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gpuaas.main.up_file import UpFile, UpUser
from tests.engines.sweeping import sweep
from tests.patience import PATIENCE_SECONDS

READY_SECONDS = 120
COMMAND_SECONDS = PATIENCE_SECONDS
_stacks = itertools.count()


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


async def run(*command: str, environ: dict[str, str] | None = None, stdin: str = "") -> Ran:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environ or {})},
    )
    out, err = await asyncio.wait_for(process.communicate(stdin.encode()), COMMAND_SECONDS)
    return Ran(process.returncode or 0, out.decode(), err.decode())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Stack:
    """One data folder; the supervisor may be started, stopped and killed over it again and again."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.port, self.arguments = folder, free_port(), arguments
        self.ports = ports_of_stack()
        self.data = folder / "data"
        self.key = folder / "key"
        self.wheels = folder / "wheels"
        self.process: asyncio.subprocess.Process | None = None
        self.greeting = ""
        self._in_ssh_config = set[str]()

    @property
    def environ(self) -> dict[str, str]:
        return {
            "GPUAAS_CONFIG": str(self.folder / "cli" / "config.toml"),
            "HOME": str(self.folder),
            "NO_COLOR": "1",
            "GPUAAS_PORTS": f"{self.ports[0]}-{self.ports[-1]}",
            "PIP_NO_INDEX": "1",  # bundles are staged from what the test itself lays there
            "PIP_FIND_LINKS": str(self.wheels),
        }

    async def up(self) -> str:
        """What it prints, read until it says what to type next."""
        self.process = await asyncio.create_subprocess_exec(
            *gpuaas("up", "--data", str(self.data), "--port", str(self.port), *self.arguments),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **self.environ},
        )
        assert self.process.stdout
        lines: list[str] = []
        async with asyncio.timeout(READY_SECONDS):
            while not any(" ssh " in line for line in lines):
                line = (await self.process.stdout.readline()).decode()
                assert line, f"up ended early: {''.join(lines)}{self.logs()}"
                lines.append(line)
        self.greeting = "".join(lines)
        return self.greeting

    async def end(self, number: signal.Signals) -> None:
        if self.process and self.process.returncode is None:
            self.process.send_signal(number)
            await asyncio.wait_for(self.process.wait(), COMMAND_SECONDS)

    def logs(self) -> str:
        return "\n".join(file.read_text()[-3000:] for file in sorted((self.data / "logs").glob("*.log")))

    @property
    def file(self) -> UpFile:
        return msgspec.json.decode((self.data / "up.json").read_bytes(), type=UpFile)

    def user(self, role: str) -> UpUser:
        return next(user for user in self.file.users if user.role == role)

    async def cli(self, *arguments: str, stdin: str = "") -> str:
        """A command that must succeed."""
        ran = await self.try_cli(*arguments, stdin=stdin)
        assert ran.code == 0, f"{arguments} → {ran.code}\n{ran.out}\n{ran.err}\n{self.logs()}"
        return ran.out

    async def try_cli(self, *arguments: str, stdin: str = "") -> Ran:
        return await run(*gpuaas(*arguments), environ=self.environ, stdin=stdin)

    async def login(self, role: str = "user") -> None:
        user = self.user(role)
        await self.cli("login", "--url", self.file.url, "--email", user.email, "--password-stdin", stdin=user.password)

    async def add_key(self) -> None:
        """Once: all tests of a platform use the same key."""
        if self.key.exists():
            return
        await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key))
        await self.cli("ssh-keys", "add", f"{self.key}.pub")

    async def ssh_config(self, name: str = "") -> str:
        """For ssh, scp, sftp and rsync, with the key named; written once for a machine with a name of its own."""
        path = self.folder / "ssh_config"
        if name not in self._in_ssh_config:
            path.write_text(
                await self.cli("ssh-config") + f"\nHost *\n    IdentityFile {self.key}\n    IdentitiesOnly yes\n"
            )
            self._in_ssh_config = {name} - {""}
        return str(path)

    async def inside(self, name: str, command: str) -> str:
        ran = await run("ssh", "-F", await self.ssh_config(name), "-o", "BatchMode=yes", name, command)
        assert ran.code == 0, f"{command} → {ran.code}\n{ran.err}"
        return ran.out


def ports_of_stack() -> range:
    """Of each worker and each stack its own: two agents that look for a free port at once would find the same one."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
    first = 10_000 + 1_000 * worker + 100 * (next(_stacks) % 10)
    return range(first, first + 100)


def gpuaas(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "gpuaas.main", *arguments)


@asynccontextmanager
async def stack(folder: Path, *arguments: str) -> AsyncIterator[Stack]:
    """Whatever happens inside, nothing of it is left: Ctrl-C is the clean end, and it is used to clean up."""
    made = Stack(folder, *arguments)
    try:
        yield made
    finally:
        if made.process and made.process.returncode is not None:
            await made.up()  # after kill -9 its PostgreSQL and environments live on: adopt them to end them
        await made.end(signal.SIGINT)
        await asyncio.to_thread(sweep, folder)
        shutil.rmtree(folder, ignore_errors=True)
