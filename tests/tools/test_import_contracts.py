"""The import contracts of pyproject.toml keep a small model of the tree, and break on one planted import each."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    *(
        "main/up",
        "cli/nodes",
        "agent/loop",
        "gateway/service",
        "api/nodes",
        "agent/streams/kinds",
        "agent/streams/requests",
        "agent/streams/terminal",
        "links/endpoint",
        "links/server",
        "links/streams/kinds",
        "links/streams/server",
        "links/streams/terminal",
        "links/streams/terminal_relay",
        "sdk/client",
        "engines/base",
        "core/states",
        "core/db",
    ),
    *("wire/capacity", "wire/common", "domain/capacity/states", "domain/registry"),
    *(f"domain/{path.parent.name}/store" for path in sorted((ROOT / "src/gpuaas/domain").glob("*/__init__.py"))),
]
PLANTED = [
    ("layers", "wire/capacity", "import gpuaas.core.db"),
    ("layers", "core/db", "import gpuaas.domain.timeline.store"),
    ("layers", "cli/nodes", "import gpuaas.agent.loop"),
    ("layers", "links/server", "import gpuaas.api.nodes"),
    ("layers", "api/nodes", "import gpuaas.links.server"),
    ("layers", "agent/loop", "import gpuaas.links.server"),
    ("layers", "domain/tasks/store", "import gpuaas.links.server"),
    ("layers", "engines/base", "import gpuaas.domain.timeline.store"),
    ("layers", "unplaced/thing", ""),
    ("domain", "domain/allocations/store", "import gpuaas.domain.access.store"),
    ("domain", "domain/timeline/store", "import gpuaas.domain.identity.store"),
    ("domain", "domain/allocations/store", "import gpuaas.domain.registry"),
    ("no-http", "domain/access/store", "import httpx"),
    ("no-http", "core/db", "from litestar import get"),
    ("states", "domain/capacity/states", "import gpuaas.core.db"),
    ("states", "domain/capacity/states", "import gpuaas.wire.common"),
    ("states", "domain/capacity/states", "import msgspec"),
    ("links", "links/server", "import gpuaas.domain.terminals.store"),
    ("links", "links/server", "import gpuaas.domain.allocations.store"),
    ("links", "links/streams/server", "import gpuaas.domain.terminals.store"),
    ("links", "links/streams/terminal", "import gpuaas.domain.storage.store"),
    ("link-layers", "links/server", "import gpuaas.links.streams.terminal"),
    ("link-layers", "links/streams/server", "import gpuaas.links.endpoint"),
    ("stream-kinds", "links/streams/server", "import gpuaas.links.streams.terminal"),
    ("stream-kinds", "agent/streams/requests", "import gpuaas.agent.streams.terminal"),
    ("cli", "cli/nodes", "import gpuaas.core.db"),
    ("agent", "agent/loop", "import gpuaas.sdk.client"),
    ("sdk", "sdk/client", "import gpuaas.core.db"),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tree of almost empty modules under the contracts that hold for the real one."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/import_contracts.py", tmp_path / "tools")
    for module in MODULES:
        add(tmp_path, module, "")
    add(tmp_path, "domain/capacity/states", "import enum\nimport gpuaas.core.states\nimport gpuaas.wire.capacity\n")
    add(tmp_path, "core/db", "import asyncpg\n")
    add(tmp_path, "cli/nodes", "import gpuaas.sdk.client\nimport gpuaas.wire.common\n")
    add(tmp_path, "sdk/client", "import httpx\n")
    add(tmp_path, "api/nodes", "import litestar\n")
    add(tmp_path, "links/server", "import gpuaas.domain.node_messages.store\n")
    add(tmp_path, "links/streams/terminal_relay", "import gpuaas.domain.terminals.store\n")
    return tmp_path


def add(root: Path, module: str, text: str) -> None:
    path = root / "gpuaas" / f"{module}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in [path.parent, *path.parent.parents]:
        if folder == root:
            break
        (folder / "__init__.py").touch()
    with path.open("a") as file:
        file.write(f"{text}\n")


def broken(root: Path) -> set[str]:
    """Ids of the contracts that the tree under `root` breaks."""
    program = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    contracts = re.findall(r'^id = "(.*)"\nname = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    found = {id for id, name in contracts if f"{name} BROKEN" in answer.stdout}
    kept = {id for id, name in contracts if f"{name} KEPT" in answer.stdout}
    assert found | kept == {id for id, _ in contracts}, answer.stdout + answer.stderr
    assert answer.returncode == bool(found)
    return found


def test_a_tree_in_order_keeps_every_contract(model: Path) -> None:
    assert broken(model) == set()


@pytest.mark.parametrize(("contract", "module", "line"), PLANTED)
def test_a_planted_import_breaks_its_contract(model: Path, contract: str, module: str, line: str) -> None:
    add(model, module, line)
    assert contract in broken(model)
