"""The agent with a planted bug: every error of a look counts as a dead environment, as it once did."""

from pathlib import Path

from gpuaas.engines.sandbox import liveness
from gpuaas.engines.sandbox.liveness import Init, Liveness, Sighting
from gpuaas.main.cli import main


def careless_look(folder: Path, init: Init | None = None) -> Sighting:
    del init
    try:
        pid = liveness.answering(folder)
    except OSError:
        pid = None
    return Sighting(Liveness.DEAD if pid is None else Liveness.RUNNING, pid)


liveness.look = careless_look
main()
