"""Bundles staged inside the real base image: what a step can do, and what a failed or killed one leaves."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

from gpuaas.engines.base import EngineError, Telling
from gpuaas.engines.images import images
from gpuaas.engines.node import processes
from gpuaas.engines.node.records import Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.runtimes.runtimes import NodeRuntimes
from gpuaas.engines.runtimes.staging import RIGHTS, Rights, Staging, network_files
from gpuaas.wire.runtimes import INSTALL_ROOT, BundleSpec, StagedBundle, digest_of
from tests.engines.benches import eventually
from tests.engines.remote_runtimes import Ear
from tests.images.real import real_image
from tests.runtimes.wheels import BROKEN, spec

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts images")

REPOSITORY = Path(__file__).parents[2]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONTAINED = "nothing"
# What a check could do if it were not contained; the last line is its health.
PRYING = """
import os, socket
found = []
for path in ('{root}/x', '/opt/gpuaas/runtimes/x', '/usr/x', '/etc/x'):
    try:
        open(path, 'w').close()
        found.append('wrote ' + path)
    except OSError:
        pass
try:
    socket.create_connection(('127.0.0.1', {port}), 5)
    found.append('reached the node')
except OSError:
    pass
print(', '.join(found) or 'nothing')
"""
STATUS = """
import getpass, os, socket
fields = dict(line.split(':', 1) for line in open('/proc/self/status'))
seen = sorted(int(name) for name in os.listdir('/proc') if name.isdigit())
print(os.getuid(), os.getgid(), os.getgroups(), getpass.getuser(), os.getcwd(), socket.gethostname(), len(seen),
      *(fields[name].strip() for name in ('CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs', 'Seccomp')))
"""
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep(1000)
print('started')
"""
SLOW = "import time; print('sleeping', flush=True); time.sleep(1000)"


class Node:
    """The bundles of one node. `environment` is what its agent was started with."""

    def __init__(self, root: Path) -> None:
        self.site, self.wheels = Site(root), root.parent / "wheels"
        self.wheels.mkdir(exist_ok=True)
        self.environment: dict[str, str] = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        self.rights: Mapping[str, Rights] = RIGHTS
        self.site.open()
        records = Records(self.site.environments)
        self.runtimes = NodeRuntimes(
            self.site,
            records,
            lambda _: None,
            staging=self.staging,
            alone=lambda _: contextlib.nullcontext(),
            clock=lambda: NOW,
        )

    def staging(self, bundle: BundleSpec, tell: Telling) -> Staging:
        return Staging(self.site, bundle, tell, image=real_image, environment=self.environment, rights=self.rights)

    async def stage(self, version: str, *code: str, tell: Telling | None = None) -> StagedBundle:
        """With a check that runs this code, or the usual one."""
        check = ["python", "-c", *code] if code else None
        return await self.runtimes.stage(spec(self.wheels, version, check=check), tell or Ear())

    def path(self, version: str) -> Path:
        return self.site.runtimes / "python-data" / version

    def left(self) -> list[str]:
        return sorted(path.name for path in self.site.staging.iterdir())


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    with tempfile.TemporaryDirectory(prefix="gpuaas-staging-") as folder:
        made = Node(Path(folder, "node"))
        await made.runtimes.open()
        yield made
        assert made.left() == []
        made.site.close()


@pytest.fixture
def port() -> Iterator[int]:
    """Somebody listens on the loopback interface of the node."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def running(version: str) -> list[int]:
    """Processes of this version on the whole machine, where other tests run: no other test stages a version 9."""
    return processes.naming(f"{INSTALL_ROOT}/python-data/{version}")


async def test_a_bundle_is_built_at_its_final_path_and_readable_for_everybody(node: Node) -> None:
    ear = Ear()
    staged = await node.stage("1.0", tell=ear)
    assert ear.phases == ["preparing", "downloading", "installing", "checking", "staged"]
    assert staged.health == "tiny_data 1.0"
    assert (staged.distribution, staged.python) == (real_image().system, real_image().python_series)
    tree = node.path("1.0")
    assert (tree / "bin" / "tiny").read_text().startswith(f"#!{INSTALL_ROOT}/python-data/1.0/bin/python")
    assert list(tree.glob("lib/*/site-packages/tiny_data/__pycache__/*.pyc"))
    found = [tree, *tree.rglob("*")]
    assert [path for path in found if path.lstat().st_uid != 0 or not path.lstat().st_mode & 0o004] == []
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    assert [path for path in files if str(node.site.root).encode() in path.read_bytes()] == []


async def test_a_staged_bundle_is_found_whole_and_built_again_to_the_byte_after_harm(node: Node) -> None:
    staged = await node.stage("1.1")
    assert await node.stage("1.1") == staged
    (node.path("1.1") / "activate.sh").unlink()
    again = await node.stage("1.1")
    assert (again.drift, again.manifest) == (["activate.sh"], staged.manifest)


async def test_a_check_that_fails_leaves_nothing(node: Node) -> None:
    with pytest.raises(EngineError) as refusal:
        await node.stage("1.2", *BROKEN[2:])
    assert refusal.value.reason == "its health check failed: tiny_data has no planets"
    assert (await node.runtimes.staged(), node.left(), node.path("1.2").exists()) == ([], [], False)


async def test_a_check_runs_as_an_unprivileged_user_with_the_filter_of_an_environment(node: Node) -> None:
    staged = await node.stage("1.3", STATUS)
    none = "0000000000000000"
    assert staged.health == f"1000 1000 [] check /home/check check 1 {none} {none} {none} 1 2"


async def test_a_check_cannot_write_its_tree_or_reach_a_network(node: Node, port: int) -> None:
    staged = await node.stage("1.4", PRYING.format(root=f"{INSTALL_ROOT}/python-data/1.4", port=port))
    assert staged.health == CONTAINED


async def test_the_same_check_without_containment_writes_its_tree_and_reaches_the_node(node: Node, port: int) -> None:
    loose = replace(RIGHTS["check"], is_root=True, writes_tree=True, has_network=True)
    node.rights = {**RIGHTS, "check": loose}
    root = f"{INSTALL_ROOT}/python-data/1.5"
    staged = await node.stage("1.5", PRYING.format(root=root, port=port))
    assert staged.health == f"wrote {root}/x, wrote /opt/gpuaas/runtimes/x, reached the node"


async def test_only_the_download_reaches_a_network(node: Node) -> None:
    assert [step for step, rights in RIGHTS.items() if rights.has_network] == ["download"]
    node.environment["PIP_FIND_LINKS"] = "http://127.0.0.1:9/"
    with pytest.raises(EngineError) as refusal:
        await node.stage("1.6")
    assert refusal.value.reason.startswith("the bundle could not be made (download): ")


async def test_packages_come_from_where_the_configuration_of_the_agents_user_says(node: Node) -> None:
    home = node.wheels.parent / "home"
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text(f"[global]\nno-index = true\nfind-links =\n    {node.wheels}\n")
    node.environment = {"HOME": str(home)}
    assert (await node.stage("1.7")).health == "tiny_data 1.7"


def test_only_files_and_folders_that_settings_name_are_shared_with_a_step(tmp_path: Path) -> None:
    folder, certificates = tmp_path / "wheels", tmp_path / "ca.pem"
    folder.mkdir()
    certificates.touch()
    environment = {
        "HOME": str(tmp_path),
        "PIP_FIND_LINKS": f"https://example.test/ file://{folder} {tmp_path}/absent wheels /",
        "PIP_CERT": str(certificates),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_LOG": str(tmp_path),
    }
    shared = network_files(environment)
    assert {path for path in shared if path.startswith(str(tmp_path))} == {str(folder), str(certificates)}
    assert not {"/", os.devnull} & set(shared)
    assert shared["/etc/resolv.conf"] == "/etc/resolv.conf"


@pytest.mark.parametrize("needs", [{"python": "3.19"}, {"distribution": "debian-99"}])
async def test_a_bundle_for_another_image_is_refused_with_both(node: Node, needs: dict[str, str]) -> None:
    bundle = spec(node.wheels, "1.8")
    other = structs.replace(bundle.recipe, **needs)
    wanted = BundleSpec(id="x", slug="python-data", version="1.8", digest=digest_of(other), recipe=other)
    with pytest.raises(EngineError) as refusal:
        await node.runtimes.stage(wanted, Ear())
    image = real_image()
    needed, found = (
        ("Python 3.19", f"Python {image.python_series}") if "python" in needs else ("debian-99", image.system)
    )
    expected = f"the bundle needs {needed}, and the current base image of this node has {found}"
    assert refusal.value.reason == expected
    assert image.version in refusal.value.detail


async def test_a_package_with_another_checksum_is_not_installed(node: Node) -> None:
    bundle = spec(node.wheels, "1.9")
    [wheel] = node.wheels.glob("tiny_data-1.9-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"more")
    with pytest.raises(EngineError) as refusal:
        await node.runtimes.stage(bundle, Ear())
    assert refusal.value.reason.startswith("the bundle could not be made (download)")


async def test_processes_that_a_check_leaves_behind_end_with_it(node: Node) -> None:
    assert (await node.stage("9.0", DAEMON)).health == "started"
    assert running("9.0") == []


async def test_a_check_that_takes_too_long_is_ended(node: Node) -> None:
    node.rights = {**RIGHTS, "check": replace(RIGHTS["check"], seconds=2.0)}
    with pytest.raises(EngineError) as refusal:
        await node.stage("9.1", SLOW)
    assert (refusal.value.reason, refusal.value.detail) == ("staging took too long", "check: 2 s")
    assert running("9.1") == []


async def test_the_image_cannot_be_removed_while_a_bundle_is_staged_from_it(node: Node) -> None:
    image, ear = real_image(), Ear()
    folder = str(node.site.staging / "python-data-9.2")
    staging = asyncio.create_task(node.stage("9.2", SLOW, tell=ear))

    async def is_sleeping() -> bool:
        return "sleeping" in ear.lines or staging.done()

    await eventually(is_sleeping)
    assert folder in images.claimants(Path(image.folder).parent, image.version)
    staging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await staging
    assert folder not in images.claimants(Path(image.folder).parent, image.version)
    assert running("9.2") == []


def stage_slowly(root: str) -> None:
    """An agent that is killed while its check runs."""
    asyncio.run(Node(Path(root)).stage("9.3", SLOW, tell=Loud()))


class Loud(Ear):
    def say(self, line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


async def test_an_agent_that_is_killed_during_a_check_leaves_no_process_and_the_next_attempt_succeeds(
    node: Node,
) -> None:
    node.site.close()
    code = f"import sys, {__name__} as tests; tests.stage_slowly(sys.argv[1])"
    argv = [sys.executable, "-c", code, str(node.site.root)]
    with subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        assert await asyncio.to_thread(lambda: any("sleeping" in line for line in agent.stdout or ()))
        assert running("9.3") != []
        agent.kill()

    async def is_quiet() -> bool:
        return running("9.3") == []

    await eventually(is_quiet)
    assert node.left() == ["python-data-9.3"]
    node.site.open()
    await node.runtimes.open()
    assert (await node.stage("9.3")).health == "tiny_data 9.3"
