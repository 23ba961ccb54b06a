"""An engine whose runtime dies: runc, conmon and the launcher are killed at a chosen moment of a chosen invocation."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.node import commands
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import launcher
from tests.engines import doomed_program
from tests.engines.benches import REPOSITORY, OciBench, place
from tests.footprints import Ground

MOMENTS = 3  # seeded, in each invocation
ANSWER_SECONDS = 0.01  # conmon says that the container is there, and goes on
PLANT = Path(doomed_program.__file__)
ENTER = 'cd "$0" && exec "$@"'
MAIN = 'if __name__ == "__main__":\n    main()\n'
# The launcher is a script of ours: its moments are counted in calls, which are the same in every run.
LAUNCHER = """
if __name__ == "__main__":
    import signal
    import time
    folder = "@FOLDER@"
    calls, death = 0, ""
    with open(f"{folder}/log", "a+") as log:
        log.seek(0)
        number = sum(line.startswith("begin") for line in log) + 1
        log.write(f"begin {number} launcher - {time.monotonic()}\\n")
    if os.path.exists(f"{folder}/order"):
        wanted, moment = open(f"{folder}/order").read().split()
        if int(wanted) == number:
            os.rename(f"{folder}/order", f"{folder}/died")
            death = moment
    if death == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    def heard(frame, event, argument):
        global calls
        if event not in ("call", "c_call"):
            return
        calls += 1
        is_last = event == "c_call" and argument is os.execv
        if (is_last and death == "after") or (death.isdigit() and calls >= int(death)):
            os.kill(os.getpid(), signal.SIGKILL)
        if is_last:
            sys.setprofile(None)
            with open(f"{folder}/log", "a") as log:
                log.write(f"end {number} {calls}\\n")
    sys.setprofile(heard)
    main()
"""


@dataclass(frozen=True)
class Invocation:
    number: int
    program: str
    verb: str
    extent: float
    """Seconds that it took, or calls that it made."""

    def moments(self, seed: str) -> list[str]:
        """Before, after, and three in between that the seed chooses."""
        chooser = random.Random(f"{seed} {self.program} {self.verb} {self.number}")
        inner = sorted(chooser.random() * self.extent for _ in range(MOMENTS))
        if self.program == "conmon":
            return ["before", *(f"{one:.4f}" for one in inner), f"{self.extent + ANSWER_SECONDS:.4f}"]
        if self.program == "launcher":
            return ["before", *(str(max(1, int(one))) for one in inner), "after"]
        return ["before", *(f"{one:.4f}" for one in inner), "after"]


class Doom:
    """Programs in a folder that are mounted over the real ones, in a mount namespace of one engine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._plants = [(self._planted(name), commands.find(name) or name) for name in ("runc", "conmon")]
        source = Path(launcher.__file__)
        text = source.read_text()
        assert text.endswith(MAIN)
        planted = folder / "launcher.py"
        planted.write_text(text.replace(MAIN, LAUNCHER.replace("@FOLDER@", str(folder))))
        self._plants.append((planted, str(source)))

    def _planted(self, name: str) -> Path:
        real = self._folder / "real" / name
        real.parent.mkdir(exist_ok=True)
        shutil.copy(commands.find(name) or name, real)
        text = PLANT.read_text()
        for word, value in {"@FOLDER@": self._folder, "@NAME@": name, "@REAL@": real}.items():
            text = text.replace(word, str(value))
        planted = self._folder / name
        planted.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{text}")
        planted.chmod(0o755)
        return planted

    @contextlib.contextmanager
    def mounted(self) -> Iterator[tuple[tuple[str, ...], Path]]:
        """What an engine's process is started with to meet them, and the mount table of its node."""
        mounts = " && ".join(f"mount --bind {planted} {real}" for planted, real in self._plants)
        keeper = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", f"{mounts} && echo ready && exec sleep 1000000"], stdout=subprocess.PIPE
        )
        try:
            assert keeper.stdout is not None
            assert keeper.stdout.readline() == b"ready\n"
            enter = ("nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", "sh", "-c", ENTER, str(REPOSITORY))
            yield enter, Path(f"/proc/{keeper.pid}/mountinfo")
        finally:
            keeper.kill()
            keeper.communicate()

    def clear(self) -> None:
        for name in ("log", "order", "died"):
            (self._folder / name).unlink(missing_ok=True)

    def order(self, invocation: Invocation, moment: str) -> None:
        self.clear()
        (self._folder / "order").write_text(f"{invocation.number} {moment}")

    @property
    def is_done(self) -> bool:
        return (self._folder / "died").exists()

    def heard(self) -> list[Invocation]:
        """Since it was cleared."""
        found, ends = list[list[str]](), dict[int, float]()
        for words in map(str.split, (self._folder / "log").read_text().splitlines()):
            if words[0] == "begin":
                found.append(words[1:])
            else:
                ends[int(words[1])] = float(words[2])
        return [
            Invocation(int(number), program, verb, _extent(program, float(began), int(number), ends))
            for number, program, verb, began in found
        ]


def _extent(program: str, began: float, number: int, ends: dict[int, float]) -> float:
    """Of conmon: until the runtime that it starts has made the container. Then it waits for as long as that runs."""
    if program == "launcher":
        return ends.get(number, 0.0)
    return ends.get(number + (program == "conmon"), 0.0) - began


@dataclass(frozen=True)
class DoomedBench:
    bench: OciBench
    doom: Doom
    ground: Ground


@contextlib.asynccontextmanager
async def doomed(*, ports: range) -> AsyncIterator[DoomedBench]:
    with place(0) as folder:
        doom = Doom(folder / "doom")
        with doom.mounted() as (wrap, mounts):
            bench = OciBench(folder, ports=ports)
            bench.wrap = wrap
            await bench.begin()
            try:
                yield DoomedBench(bench, doom, Ground(Site(bench.root), ports, mounts))
            finally:
                await bench.end()
