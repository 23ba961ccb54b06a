"""What root inside leaves for others to act upon: key files, a second sshd, and links on volumes."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Environment
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh

ID = "planted"
SECRET = "a secret of the node"
EVIL = """
import socket, sys
server = socket.create_server(("", int(sys.argv[1]))); print("listening", flush=True)
while True: server.accept()[0].sendall(b"SSH-2.0-evil\\r\\n")
"""
HELLO = "exec 3<>/dev/tcp/127.0.0.1/{port}; head -c 12 <&3"


@pytest.fixture(scope="module")
async def environment(bench: OciBench) -> tuple[Environment, Key]:
    ada = Key()
    return await bench.engine.ensure(spec(ID, keys(1, ada)), ignore), ada


@pytest.fixture
def ssh(environment: tuple[Environment, Key], tmp_path: Path) -> OpenSsh:
    return OpenSsh(tmp_path, *environment)


async def test_a_key_that_root_inside_plants_admits_nobody(ssh: OpenSsh, tmp_path: Path) -> None:
    mallory = Key("mallory")
    line = mallory.private.export_public_key().decode().strip()
    files = (
        "/home/ada/.ssh/authorized_keys",
        "/root/.ssh/authorized_keys",
        "/etc/ssh/authorized_keys",
        "/platform/keys",
    )
    for file in files:
        await ssh.says(f"sudo mkdir -p -m 700 $(dirname {file}); echo '{line}' | sudo tee {file}")
    await ssh.says("sudo chown -R ada: ~/.ssh; echo 'PermitRootLogin yes' | sudo tee /etc/ssh/sshd_config.d/x.conf")
    (tmp_path / "mallory").mkdir()
    for username in ("ada", "root"):
        other = OpenSsh(tmp_path / "mallory", ssh.environment, mallory, username)
        outcome = await other.run("true")
        assert (outcome.code, "Permission denied" in outcome.err) == (255, True), username
    assert await ssh.says("echo holder") == "holder"


async def test_a_second_sshd_on_the_port_is_met_by_nobody_outside(ssh: OpenSsh) -> None:
    port = ssh.environment.port
    evil = await ssh.spawn("ssh", *ssh.options(), ssh.target, f"sudo python3 -c '{EVIL}' {port}")
    assert evil.stdout is not None
    try:
        assert await evil.stdout.readline() == b"listening\n"
        assert await ssh.says(f"bash -c '{HELLO.format(port=port)}'") == "SSH-2.0-evil"  # it is there, inside
        outside = await asyncio.create_subprocess_exec("bash", "-c", HELLO.format(port=port), stdout=subprocess.PIPE)
        assert (await outside.communicate())[0] == b"SSH-2.0-Open"
        assert await ssh.says("echo mine") == "mine", "the host key is the one of the gateway"
    finally:
        evil.kill()
        await evil.communicate()
        await ssh.run("sudo pkill -f SSH-2.0-evil")


@pytest.mark.parametrize("backend", list(Backend))
async def test_links_on_a_volume_lead_the_node_nowhere(
    bench: OciBench, ssh: OpenSsh, tmp_path: Path, backend: Backend
) -> None:
    """The node mounts, measures, copies and deletes what root inside left there."""
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o755)
    (kept / "secret").write_text(SECRET)
    before = sorted(os.listdir("/etc"))  # noqa: PTH208
    volume = VolumeRef(volume_id=f"vol_{os.getpid()}links{backend.value}", backend=backend, size_gib=1)
    wanted = WantedMount(volume=volume, mount_path="/data", access_mode=AccessMode.READ_WRITE)
    empty = (await bench.engine.volumes.ensure(volume, None, ignore)).used_bytes
    await bench.engine.mounts.attach(ID, wanted, ignore)
    await ssh.says(
        f"cd /data && sudo ln -s {kept} folder && sudo ln -s {kept}/secret file && sudo ln -s / root && "
        "sudo ln -s . loop && sudo ln -s /proc/1/root magic && sudo mkfifo pipe && sudo mkdir -p 'a b/..c' && "
        "sudo ln -s ../../../../../../../../etc 'a b/up' && sudo ln -s /etc data && sudo ln -s /etc .snapshots"
    )
    size = (await bench.engine.volumes.measure(volume)).used_bytes
    await bench.engine.volumes.snapshot(volume, "snap_links", ignore)
    copy = VolumeRef(volume_id=f"{volume.volume_id}copy", backend=backend, size_gib=1)
    await bench.engine.volumes.ensure(copy, "snap_links", ignore)
    again = WantedMount(volume=copy, mount_path="/copy", access_mode=AccessMode.READ_WRITE)
    await bench.engine.mounts.attach(ID, again, ignore)
    assert await ssh.says("readlink /copy/folder /copy/root") == f"{kept}\n/"
    assert (await ssh.run("sudo cat /copy/file /copy/folder/secret")).out == ""
    for path in ("/data/folder", "/data/magic/tmp", "/data/a b/up/x"):
        trap = WantedMount(volume=copy, mount_path=path, access_mode=AccessMode.READ_WRITE)
        with pytest.raises(EngineError):
            await bench.engine.mounts.attach(ID, trap, ignore)
    for one, path in ((copy, "/copy"), (volume, "/data")):
        await bench.engine.mounts.detach(ID, one, path, force=True, on_phase=ignore)
        assert all(item.ok for item in await bench.engine.volumes.delete(one, ignore))
    assert size - empty < 1 << 20, "what links lead to was counted"
    assert (kept / "secret").read_text() == SECRET
    assert sorted(os.listdir("/etc")) == before  # noqa: PTH208
