"""The check that every dependency of SDK and CLI has wheels for other systems, on a package index in a folder."""

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.check_platforms import PLATFORMS, PYTHONS, problems, settings


@pytest.fixture
def index(tmp_path: Path) -> dict[str, str]:
    for name, tag in (("anywhere", "py3-none-any"), ("linuxonly", "cp311-cp311-manylinux_2_28_x86_64")):
        with ZipFile(tmp_path / f"{name}-1.0-{tag}.whl", "w") as wheel:
            wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            wheel.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    here = {"UV_FIND_LINKS": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "cache")}
    return {**os.environ, **here, "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never"}


def found(tmp_path: Path, index: dict[str, str], *requirements: str) -> list[str]:
    source = tmp_path / "requirements.in"
    source.write_text("\n".join(requirements))
    return problems(source, constraint=None, environ=index)


def test_a_dependency_with_a_wheel_for_every_system_passes(tmp_path: Path, index: dict[str, str]) -> None:
    assert found(tmp_path, index, "anywhere") == []


def test_a_dependency_without_a_wheel_for_a_system_is_named_for_each(tmp_path: Path, index: dict[str, str]) -> None:
    told = found(tmp_path, index, "anywhere", "linuxonly")
    assert len(told) == len(PLATFORMS) * len(PYTHONS)
    assert all("linuxonly" in each for each in told)


def test_a_dependency_of_one_system_alone_counts_there(tmp_path: Path, index: dict[str, str]) -> None:
    told = found(tmp_path, index, "linuxonly; sys_platform == 'win32'")
    assert len(told) == len(PYTHONS)
    assert all(each.startswith("x86_64-pc-windows-msvc") for each in told)


def test_uv_asks_the_index_of_pip() -> None:
    assert settings({"PIP_INDEX_URL": "https://packages.example.com/simple"})["UV_DEFAULT_INDEX"].endswith("/simple")
    assert "UV_DEFAULT_INDEX" not in settings({})
