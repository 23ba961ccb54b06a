"""The real OpenSSH client, as a person would use it."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from gpuaas.wire.environments import Environment
from tests.engines.benches import Key
from tests.patience import PATIENCE_SECONDS


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class OpenSsh:
    """One person, one key, one environment; the host key is checked, never trusted on first sight."""

    def __init__(self, folder: Path, environment: Environment, key: Key, username: str = "ada") -> None:
        self.folder, self.environment, self.key, self._username = folder, environment, key, username
        self._identity, known = folder / f"key-{environment.port}", folder / f"known-{environment.port}"
        self._identity.write_bytes(key.private.export_private_key())
        self._identity.chmod(0o600)
        known.write_text(f"{environment.allocation_id} {environment.host_key}\n")
        self._options = {
            "IdentityFile": str(self._identity),
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": str(known),
            "HostKeyAlias": environment.allocation_id,
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "ConnectTimeout": "10",
            "Port": str(environment.port),
        }

    @property
    def target(self) -> str:
        return f"{self._username}@127.0.0.1"

    def options(self) -> list[str]:
        return ["-F", "none", *(word for name, value in self._options.items() for word in ("-o", f"{name}={value}"))]

    async def spawn(self, *argv: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *argv,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "SECRET_OF_THE_CLIENT": "yes"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def outcome(self, *argv: str, text: str = "") -> Outcome:
        process = await self.spawn(*argv)
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await process.communicate(text.encode())
        return Outcome(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))

    async def run(self, command: str, *, options: tuple[str, ...] = (), text: str = "") -> Outcome:
        return await self.outcome("ssh", *self.options(), *options, self.target, command, text=text)

    async def says(self, command: str) -> str:
        """What a command prints; it has to succeed."""
        outcome = await self.run(command)
        assert outcome.code == 0, outcome
        return outcome.out.strip()
