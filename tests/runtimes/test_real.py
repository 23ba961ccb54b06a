"""Runtime bundles as a person meets them: `gpuaas up`, the CLI, plain OpenSSH, and packages really installed."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import msgspec
import pytest

from tests.e2e.stack import Ran, Stack, run
from tests.live import eventually
from tests.runtimes.wheels import BROKEN, publication

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")
PRINT = "gpuaas-runtime run tiny-data -- python -c 'import tiny_data; print(tiny_data.__version__)'"
HAS_SAID = "while ! cat /tmp/said 2>/dev/null; do sleep 0.1; done"
LAZY = """
import os, time
while not os.path.exists('/tmp/go'):
    time.sleep(0.02)
import tiny_data
open('/tmp/said.new', 'w').write(tiny_data.__version__)
os.rename('/tmp/said.new', '/tmp/said')
"""


@pytest.fixture(scope="module")
async def up(platform: Stack) -> Stack:
    """With three versions of a small bundle, the last of which fails its check."""
    checks = {"1.0": None, "2.0": None, "3.0": BROKEN}
    await platform.login("admin")
    for version, check in checks.items():
        path = platform.folder / f"tiny-data-{version}.json"
        wanted = publication(platform.wheels, version, slug="tiny-data", check=check)
        path.write_bytes(msgspec.json.encode(wanted))
        await platform.cli("admin", "runtimes", "publish", str(path))
    await platform.login("user")
    await platform.add_key()
    return platform


@dataclass(frozen=True)
class Machine:
    """By its name; `config` is for ssh, and written once: `gpuaas ssh-config` takes longer than ssh itself."""

    up: Stack
    name: str
    config: str

    async def try_inside(self, command: str) -> Ran:
        return await run("ssh", "-F", self.config, "-o", "BatchMode=yes", self.name, command)

    async def inside(self, command: str) -> str:
        ran = await self.try_inside(command)
        assert ran.code == 0, f"{command} → {ran.code}\n{ran.err}"
        return ran.out.strip()

    async def runtime(self, *path: str) -> str:
        """`gpuaas runtimes` about this machine."""
        verb, *rest = path
        return await self.up.cli("runtimes", verb, self.name, *rest)


async def machine(up: Stack, name: str, *arguments: str) -> Machine:
    await up.cli("allocations", "create", "--sku", "sim-h200-slice", "--name", name, *arguments)
    return Machine(up, name, await up.ssh_config())


@asynccontextmanager
async def signed_in(up: Stack) -> AsyncIterator[httpx.AsyncClient]:
    """For looking again and again: a process for each look would be most of what the test does."""
    user = up.user("user")
    async with httpx.AsyncClient(base_url=f"{up.file.url}/api/v1") as http:
        answer = await http.post("/auth/personal/login", json={"email": user.email, "password": user.password})
        http.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['access_token']}"
        yield http


async def test_a_bundle_is_applied_switched_and_rolled_back_while_what_runs_keeps_its_version(up: Stack) -> None:
    here = await machine(up, "switching")
    await here.runtime("apply", "tiny-data@1.0")
    assert await here.inside(PRINT) == "1.0"
    assert await here.inside("bash -lc 'gpuaas-runtime run tiny-data -- tiny'") == "tiny 1.0"
    root = "/opt/gpuaas/runtimes/tiny-data/1.0"
    assert await here.inside("gpuaas-runtime current") == f"tiny-data 1.0 {root}"
    descriptor = (await here.inside("cat /etc/gpuaas/runtime/allocations/*.env")).splitlines()
    assert f"GPUAAS_RUNTIME_ROOT={root}" in descriptor
    await here.inside(f'nohup gpuaas-runtime run tiny-data -- python -c "{LAZY}" >/dev/null 2>&1 </dev/null &')
    await here.runtime("switch", "tiny-data@2.0", "--yes")
    assert await here.inside(PRINT) == "2.0"
    assert await here.inside(f"touch /tmp/go; {HAS_SAID}") == "1.0"
    await here.runtime("rollback", "--yes")
    assert await here.inside(PRINT) == "1.0"
    sourced = ". /opt/gpuaas/runtimes/tiny-data/current/activate.sh; tiny; deactivate; command -v tiny || echo none"
    assert (await here.inside(sourced)).split() == ["tiny", "1.0", "none"]
    await here.runtime("clear", "--yes")
    raw = await here.try_inside("gpuaas-runtime current")
    assert (raw.code, "raw compute" in raw.err) == (3, True)


# Of these, `make test` runs the proofs on the engine alone (tests/engines/test_runtimes.py, test_oci_runtimes.py) and
# the restart in tests/e2e/test_story.py.


@pytest.mark.soak
async def test_a_submit_with_a_bundle_keeps_it_through_a_restart(up: Stack) -> None:
    here = await machine(up, "restarting", "--runtime", "tiny-data", "--no-wait")
    allocation = msgspec.json.decode(await up.cli("allocations", "get", here.name, "-o", "json"))
    async with signed_in(up) as http:

        async def shown(path: str = "/runtime-bundles") -> Any:
            return (await http.get(f"/allocations/{allocation['id']}{path}")).raise_for_status().json()

        async def is_failed() -> bool:
            return bool((await shown())["state"] == "failed")

        await eventually(is_failed)  # the newest version is the one that fails its check, and fails alone
        told = await shown("")
        assert (told["status"], told["runtime"]["state"]) == ("active", "failed")
        await here.runtime("apply", "tiny-data@2.0")
        await up.cli("allocations", "restart", here.name, "--yes")

        async def is_back() -> bool:
            told = await shown()
            return bool((told["state"], told["observed_boot"]) == ("applied", 2))

        await eventually(is_back)
    assert await replace(here, config=await up.ssh_config()).inside(PRINT) == "2.0"


@pytest.mark.soak
async def test_a_bundle_that_fails_its_check_tells_why_and_the_one_before_stays(up: Stack) -> None:
    here = await machine(up, "failing")
    await here.runtime("apply", "tiny-data@1.0")
    failed = await up.try_cli("runtimes", "apply", here.name, "tiny-data@3.0")
    assert failed.code != 0
    assert "tiny_data has no planets" in failed.err
    assert await here.inside(PRINT) == "1.0"
    assert "3.0" not in await here.inside("ls /opt/gpuaas/runtimes/tiny-data")
    unknown = await up.try_cli("runtimes", "apply", here.name, "no-such-bundle")
    assert "no-such-bundle" in unknown.err


@pytest.mark.soak
async def test_a_changed_file_is_found_and_put_right(up: Stack) -> None:
    here = await machine(up, "drifting")
    await here.runtime("apply", "tiny-data@1.0")
    [path] = (up.data / "agent/oci/runtimes/tiny-data/1.0").glob("lib/*/site-packages/tiny_data/__init__.py")
    for cached in path.parent.glob("__pycache__/*"):
        cached.unlink()
    path.write_text("__version__ = 'evil'\n")
    assert await here.inside(PRINT) == "evil"
    await here.runtime("repair")
    assert await here.inside(PRINT) == "1.0"
    assert list(path.parent.glob("__pycache__/*"))


@pytest.mark.soak
async def test_nobody_inside_can_change_a_bundle_or_see_the_machines_own_folders(up: Stack) -> None:
    here = await machine(up, "prying")
    await here.runtime("apply", "tiny-data@1.0")
    tries = (
        "rm -rf /opt/gpuaas/runtimes/tiny-data/1.0/bin; touch /opt/gpuaas/runtimes/x; touch /opt/gpuaas/x;"
        " ln -sfn /tmp /etc/gpuaas/runtime/current/tiny-data; rm /usr/local/bin/gpuaas-runtime; true"
    )
    await here.inside(f"({tries}) 2>/dev/null; true")
    assert await here.inside(PRINT) == "1.0"
    assert (await here.inside("ls /opt/gpuaas")).split() == ["bin", "runtimes"]
    assert str(up.data) not in await here.inside("grep -rl agent/oci /opt/gpuaas/runtimes/tiny-data || true")
