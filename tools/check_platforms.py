"""Every dependency of SDK and CLI has a wheel for macOS and Windows: resolved by uv, which installs nothing.

python tools/check_platforms.py           resolve, unless the same dependencies were resolved before
python tools/check_platforms.py FILE      resolve what FILE requires: a pyproject.toml or a list of requirements
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLATFORMS = ("aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-msvc")
PYTHONS = ("3.11", "3.13")
SOURCES = (ROOT / "pyproject.toml", ROOT / "requirements.lock")
STAMP = ROOT / ".cache" / "platforms"


def problems(source: Path, *, constraint: Path | None, environ: Mapping[str, str]) -> list[str]:
    """What cannot be installed from wheels, by platform."""
    found = []
    for platform in PLATFORMS:
        for python in PYTHONS:
            words = ["uv", "pip", "compile", str(source), "--quiet", "--no-header", "--only-binary", ":all:"]
            words += ["--python-platform", platform, "--python-version", python]
            words += ["--constraint", str(constraint)] if constraint else []
            done = subprocess.run(
                [sys.executable, "-P", "-m", *words], capture_output=True, text=True, check=False, env=dict(environ)
            )
            if done.returncode != 0:
                found.append(f"{platform}, Python {python}:\n{done.stderr.strip()}")
    return found


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """uv asks the index that pip is told to ask."""
    index = environ.get("PIP_INDEX_URL")
    return {**environ, **({"UV_DEFAULT_INDEX": index} if index else {})}


def digest() -> str:
    return hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()


def main(arguments: list[str]) -> int:
    source, lock = (Path(arguments[0]), None) if arguments else SOURCES
    if lock and STAMP.exists() and STAMP.read_text() == digest():
        return 0
    found = problems(source, constraint=lock, environ=settings(os.environ))
    for problem in found:
        print(problem)
    if lock and not found:
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(digest())
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
