"""Runtime bundles as a person meets them: `gpuaas up`, the CLI, plain OpenSSH, and packages really installed."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tests.e2e.stack import Stack, run, stack
from tests.live import eventually
from tests.runtimes.wheels import BROKEN, publication

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")
PRINT = "gpuaas-runtime run tiny-data -- python -c 'import tiny_data; print(tiny_data.__version__)'"
LAZY = """
import os, time
while not os.path.exists('/tmp/go'):
    time.sleep(0.02)
import tiny_data
open('/tmp/said.new', 'w').write(tiny_data.__version__)
os.rename('/tmp/said.new', '/tmp/said')
"""


@pytest.fixture(scope="module")
async def up() -> AsyncIterator[Stack]:
    """A running GPUaaS with three versions of a small bundle, the last of which fails its check."""
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-runtimes-"))
    folder.chmod(0o755)
    async with stack(folder) as made:
        checks = {"1.0": None, "2.0": None, "3.0": BROKEN}
        wanted = [publication(made.wheels, version, slug="tiny-data", check=check) for version, check in checks.items()]
        await made.up()
        await made.login("admin")
        for each in wanted:
            path = folder / f"{each.version}.json"
            path.write_bytes(msgspec.json.encode(each))
            await made.cli("admin", "runtimes", "publish", str(path))
        await made.login("user")
        await made.add_key()
        yield made
    shutil.rmtree(folder, ignore_errors=True)


async def machine(up: Stack, name: str, *arguments: str) -> str:
    await up.cli("allocations", "create", "--sku", "sim-h200-slice", "--name", name, *arguments)
    return name


async def test_a_bundle_is_applied_switched_and_rolled_back_while_what_runs_keeps_its_version(up: Stack) -> None:
    name = await machine(up, "switching")
    await up.cli("runtimes", "apply", name, "tiny-data@1.0")
    assert (await up.inside(name, PRINT)).strip() == "1.0"
    assert (await up.inside(name, "bash -lc 'gpuaas-runtime run tiny-data -- tiny'")).strip() == "tiny 1.0"
    root = "/opt/gpuaas/runtimes/tiny-data/1.0"
    assert (await up.inside(name, "gpuaas-runtime current")).strip() == f"tiny-data 1.0 {root}"
    descriptor = await up.inside(name, "cat /etc/gpuaas/runtime/allocations/*.env")
    assert f"GPUAAS_RUNTIME_ROOT={root}\n" in descriptor
    await up.inside(name, f'nohup gpuaas-runtime run tiny-data -- python -c "{LAZY}" >/dev/null 2>&1 </dev/null &')
    await up.cli("runtimes", "switch", name, "tiny-data@2.0", "--yes")
    assert (await up.inside(name, PRINT)).strip() == "2.0"
    await up.inside(name, "touch /tmp/go")

    async def has_said() -> bool:
        return (await up.inside(name, "cat /tmp/said 2>/dev/null || true")).strip() == "1.0"

    await eventually(has_said)
    await up.cli("runtimes", "rollback", name, "--yes")
    assert (await up.inside(name, PRINT)).strip() == "1.0"
    sourced = ". /opt/gpuaas/runtimes/tiny-data/current/activate.sh; tiny; deactivate; command -v tiny || echo none"
    assert (await up.inside(name, sourced)).split() == ["tiny", "1.0", "none"]
    await up.cli("runtimes", "clear", name, "--yes")
    raw = await run("ssh", "-F", await up.ssh_config(), "-o", "BatchMode=yes", name, "gpuaas-runtime current")
    assert (raw.code, "raw compute" in raw.err) == (3, True)


async def test_a_submit_with_a_bundle_keeps_it_through_a_restart(up: Stack) -> None:
    name = await machine(up, "restarting", "--runtime", "tiny-data", "--no-wait")

    async def is_applied() -> bool:
        shown = msgspec.json.decode(await up.cli("runtimes", "get", name, "-o", "json"))
        return bool(shown["state"] == "failed")

    await eventually(is_applied)  # the newest version is the one that fails its check, and fails alone
    shown = msgspec.json.decode(await up.cli("allocations", "get", name, "-o", "json"))
    assert (shown["status"], shown["runtime"]["state"]) == ("active", "failed")
    await up.cli("runtimes", "apply", name, "tiny-data@2.0")
    await up.cli("allocations", "restart", name, "--yes")

    async def is_back() -> bool:
        shown = msgspec.json.decode(await up.cli("runtimes", "get", name, "-o", "json"))
        return bool((shown["state"], shown["observed_boot"]) == ("applied", 2))

    await eventually(is_back)
    assert (await up.inside(name, PRINT)).strip() == "2.0"


async def test_a_bundle_that_fails_its_check_tells_why_and_the_one_before_stays(up: Stack) -> None:
    name = await machine(up, "failing")
    await up.cli("runtimes", "apply", name, "tiny-data@1.0")
    failed = await up.try_cli("runtimes", "apply", name, "tiny-data@3.0")
    assert failed.code != 0
    assert "tiny_data has no planets" in failed.err
    assert (await up.inside(name, PRINT)).strip() == "1.0"
    assert "3.0" not in await up.inside(name, "ls /opt/gpuaas/runtimes/tiny-data")
    unknown = await up.try_cli("runtimes", "apply", name, "no-such-bundle")
    assert "no-such-bundle" in unknown.err


async def test_a_changed_file_is_found_and_put_right(up: Stack) -> None:
    name = await machine(up, "drifting")
    await up.cli("runtimes", "apply", name, "tiny-data@1.0")
    [path] = (up.data / "agent/oci/runtimes/tiny-data/1.0").glob("lib/*/site-packages/tiny_data/__init__.py")
    for cached in path.parent.glob("__pycache__/*"):
        cached.unlink()
    path.write_text("__version__ = 'evil'\n")
    assert (await up.inside(name, PRINT)).strip() == "evil"
    await up.cli("runtimes", "repair", name)
    assert (await up.inside(name, PRINT)).strip() == "1.0"
    assert list(path.parent.glob("__pycache__/*"))


async def test_nobody_inside_can_change_a_bundle_or_see_the_machines_own_folders(up: Stack) -> None:
    name = await machine(up, "prying")
    await up.cli("runtimes", "apply", name, "tiny-data@1.0")
    tries = (
        "rm -rf /opt/gpuaas/runtimes/tiny-data/1.0/bin; touch /opt/gpuaas/runtimes/x; touch /opt/gpuaas/x;"
        " ln -sfn /tmp /etc/gpuaas/runtime/current/tiny-data; rm /usr/local/bin/gpuaas-runtime; true"
    )
    await up.inside(name, f"({tries}) 2>/dev/null; true")
    assert (await up.inside(name, PRINT)).strip() == "1.0"
    assert (await up.inside(name, "ls /opt/gpuaas")).split() == ["runtimes"]
    assert str(up.data) not in await up.inside(name, "grep -rl sandbox /opt/gpuaas/runtimes/tiny-data || true")
