"""Wheels for clean environments, without a package index: ours is built, others are packed from what is installed."""

import os
import re
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

ROOT = Path(__file__).parents[2]
LOCAL = {"INSTALLER", "REQUESTED", "direct_url.json"}  # what an installer adds
SKIPPED = {"gpuaas", "pip", "setuptools"}
LARGE = {"playwright", "ruff", "mypy", "uv", "schemathesis", "hypothesis", "jsonschema_rs"}  # and needed by no extra


def fill(folder: Path) -> Path:
    """A folder of wheels for pip's --find-links; the path of our own wheel."""
    for found in distributions():
        name = found.metadata["Name"]
        if name.lower() not in SKIPPED | LARGE:
            pack(found, folder)
    pip(
        sys.executable,
        "wheel",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    )
    (ours,) = folder.glob("gpuaas-*.whl")
    return ours


def pack(found: Distribution, folder: Path) -> None:
    """As it was before it was installed, but for scripts, which pip makes again."""
    name = re.sub(r"[-.]+", "_", found.metadata["Name"])
    tags = [line.removeprefix("Tag: ") for line in (found.read_text("WHEEL") or "").splitlines() if line[:5] == "Tag: "]
    tag = "-".join(".".join(dict.fromkeys(part)) for part in zip(*(tag.split("-") for tag in tags), strict=True))
    with ZipFile(folder / f"{name}-{found.version}-{tag}.whl", "w", ZIP_STORED) as wheel:
        for file in found.files or ():
            is_part = ".." not in file.parts and "__pycache__" not in file.parts and file.name not in LOCAL
            if is_part and (path := Path(file.locate())).exists():
                wheel.write(path, str(file))


def install(environment: Path, wheels: Path, ours: Path, extra: str = "") -> None:
    """Into a new virtual environment, as a person does it with `pip install`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    what = f"gpuaas[{extra}] @ {ours.as_uri()}" if extra else f"gpuaas @ {ours.as_uri()}"
    pip(str(environment / "bin/python"), "install", "--no-index", "--find-links", str(wheels), "--no-compile", what)


def pip(python: str, *words: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean())
    assert done.returncode == 0, done.stderr


def clean() -> dict[str, str]:
    """The environment without what would let a clean installation see this one."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
