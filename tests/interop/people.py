"""A person with an ssh configuration, as they would have it at home, and programs that use it."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuaas.wire.environments import Environment
from tests.engines.benches import Key
from tests.gateway.node import free_port
from tests.patience import PATIENCE_SECONDS
from tests.soaking import ROOT

CLIENTS = ROOT / ".cache" / "interop" / "clients" / "bin"
CONFIG = """Host {name}
    HostName 127.0.0.1
    Port {port}
    User ada
    IdentityFile {folder}/key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    HostKeyAlias {name}
    StrictHostKeyChecking yes
    ExitOnForwardFailure yes
    LogLevel ERROR
"""

BOOTED = "until systemctl is-system-running --wait 2> /dev/null | grep -Eq 'running|degraded'; do sleep 0.2; done"
"""A session can come before systemd has started its bus, or emptied /tmp."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Person:
    """One key and one environment; `name` is a host of the ssh configuration."""

    def __init__(self, folder: Path, environment: Environment, key: Key) -> None:
        self.folder, self.name, self.port = folder, environment.allocation_id, environment.port or 0
        (folder / "key").write_bytes(key.private.export_private_key())
        (folder / "key").chmod(0o600)
        (folder / "known_hosts").write_text(f"{self.name} {environment.host_key}\n")
        self.config = folder / "config"
        self.config.write_text(CONFIG.format(name=self.name, port=self.port, folder=folder))

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": f"{os.environ['PATH']}:/usr/sbin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def run(self, *words: str, text: str = "", seconds: float = PATIENCE_SECONDS, **variables: str) -> Ran:
        """A program on this side."""
        done = subprocess.run(
            words,
            input=text,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env={**self.environ, **variables},
            cwd=self.folder,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def ssh_words(self, *options: str) -> list[str]:
        return ["ssh", "-F", str(self.config), *options]

    def ssh(self, command: str, *options: str, text: str = "", seconds: float = PATIENCE_SECONDS) -> Ran:
        return self.run(*self.ssh_words(*options), self.name, command, text=text, seconds=seconds)

    def says(self, *words: str, text: str = "", seconds: float = PATIENCE_SECONDS, **variables: str) -> str:
        """What a program on this side prints; it has to succeed."""
        done = self.run(*words, text=text, seconds=seconds, **variables)
        assert done.code == 0, done
        return done.out.strip()

    def inside(self, command: str, *options: str, text: str = "", seconds: float = PATIENCE_SECONDS) -> str:
        """What a command inside prints; it has to succeed."""
        done = self.ssh(command, *options, text=text, seconds=seconds)
        assert done.code == 0, done
        return done.out.strip()

    @contextmanager
    def meanwhile(self, *words: str) -> Iterator[None]:
        """A program on this side that runs as long as the block."""
        with (self.folder / "meanwhile.log").open("w") as log:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environ, cwd=self.folder
            )
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    @contextmanager
    def server_inside(self, command: str) -> Iterator[None]:
        """A command inside that ends with its session."""
        with self.meanwhile(*self.ssh_words("-tt"), self.name, f"exec {command}"):
            yield

    @contextmanager
    def forward(self, target: str) -> Iterator[int]:
        """A port on this side that leads to an address inside."""
        port = free_port()
        with self.meanwhile(*self.ssh_words("-N", "-L", f"127.0.0.1:{port}:{target}"), self.name):
            yield port

    def page(self, url: str, *options: str, seconds: float = PATIENCE_SECONDS) -> str:
        """As curl gets it, tried until there is one."""
        end = time.monotonic() + seconds
        while True:
            done = self.run("curl", "--silent", "--show-error", "--fail", "--location", *options, url)
            if done.code == 0:
                return done.out
            assert time.monotonic() < end, (done, (self.folder / "meanwhile.log").read_text())
            time.sleep(0.1)
