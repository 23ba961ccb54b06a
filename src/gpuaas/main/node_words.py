"""The command line of the agent of `gpuaas up`."""

from pathlib import Path

from gpuaas.main.engine_kinds import EngineKind


def agent_words(folder: Path, engine: EngineKind, *, gpus: int, shared_storage: Path) -> list[str]:
    """The command line of the agent, without the program."""
    return [
        *("agent", "--folder", str(folder), "--gpus", str(gpus), "--engine", engine, "--stop-environments"),
        *("--shared-storage", str(shared_storage)),
    ]
