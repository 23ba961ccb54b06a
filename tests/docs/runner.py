"""Runs a block of a document as a person would: in bash on a terminal, with the product's questions answered."""

import asyncio
import fcntl
import os
import pty
import re
import shutil
import signal
import sys
import termios
from dataclasses import dataclass, field
from pathlib import Path

from tests.patience import PATIENCE_SECONDS
from tools.lint_docs import ROOT

# OpenSSH takes the home folder from the user database and ignores HOME: these programs give it the files of a person.
WRAPPERS = {
    "ssh": '#!/bin/sh\ntouch "$HOME/.ssh/config"\nexec {real} -F "$HOME/.ssh/config" -i "$HOME/.ssh/id_ed25519" "$@"\n',
    "scp": '#!/bin/sh\nexec {real} -S "$(command -v ssh)" -F "$HOME/.ssh/config" "$@"\n',
}
LOOK_SECONDS = 0.02
SHOWN_AT_MOST = 4_000


@dataclass
class Person:
    """One person with a home folder, where blocks run; it looks like a checkout."""

    email: str
    passwords: dict[str, str]
    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        (self.home / ".ssh").mkdir(parents=True)
        programs = self.home / "programs"
        programs.mkdir()
        for name, text in WRAPPERS.items():
            real = shutil.which(name)
            assert real, f"{name} is not installed"
            (programs / name).write_text(text.format(real=real))
            (programs / name).chmod(0o755)
        for name in (".venv", "tools"):
            (self.home / name).symlink_to(ROOT / name)
        path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environ |= {"HOME": str(self.home), "PATH": path, "NO_COLOR": "1", "TERM": "dumb", "PS1": "$ "}
        self.environ |= {"GPUAAS_CONFIG": str(self.home / "config.toml")}

    def answer_to(self, shown: str) -> str | None:
        """The answer to a question at the end of the output; None without a question."""
        answers = {
            r"\[y/N\]: $": "y",
            r"Password: $": self.passwords.get(named_last(shown), ""),
            r"save the key \(.*\): $": str(self.home / ".ssh" / "id_ed25519"),
            r"passphrase.*: $": "",
            r"\w+@[\w-]+:.*[$#] $|^\$ $": "exit",
        }
        return next((typed for asked, typed in answers.items() if re.search(asked, shown)), None)


def named_last(shown: str) -> str:
    """The address of the account that the last command names."""
    named = re.findall(r"--email (\S+)", shown)
    return named[-1] if named else ""


@dataclass(frozen=True)
class Result:
    code: int
    shown: str


async def execute(person: Person, script: str, seconds: float = PATIENCE_SECONDS) -> Result:
    """The script stops at its first command that fails. `-v` shows each line before it runs."""
    path = person.home / "block.sh"
    path.write_text(script)
    terminal, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *("bash", "-e", "-v", "-o", "pipefail", str(path)),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=person.home,
        env={**os.environ, **person.environ},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # ssh asks on the controlling terminal
    )
    os.close(theirs)
    os.set_blocking(terminal, False)
    shown = ""
    try:
        async with asyncio.timeout(seconds):
            while True:
                is_over = process.returncode is not None
                fresh = read(terminal)
                if typed := person.answer_to(fresh and shown + fresh):
                    os.write(terminal, f"{typed}\n".encode())
                elif typed == "":
                    os.write(terminal, b"\n")
                shown += fresh
                if is_over and not fresh:
                    return Result(process.returncode or 0, shown[-SHOWN_AT_MOST:])
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        return Result(-1, f"{shown[-SHOWN_AT_MOST:]}\nThe block did not end within {seconds:g} seconds.")
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        os.close(terminal)


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 65_536).decode(errors="replace")
    except OSError:  # nothing yet, or every program closed its end
        return ""
