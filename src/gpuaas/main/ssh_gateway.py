"""`gpuaas ssh-gateway`: terminates SSH for the environments of a node."""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Option(help="The engine's folder: its environments and the lease of the node.")],
) -> None:
    """Run the SSH gateway of this node. The agent starts it by itself; connections outlive both."""
    words = ["-P", "-m", "gpuaas.gateway", "--folder", str(folder), "--release", version("gpuaas")]
    os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - the same program without its command line
