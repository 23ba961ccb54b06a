"""The README's path, as a person walks it, on real parts."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import tempfile
from pathlib import Path

import pytest

from tests.e2e.stack import Stack, free_port, run, stack
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
async def up(platform: Stack) -> Stack:
    await platform.login()
    await platform.add_key()
    return platform


async def create(up: Stack, name: str) -> dict[str, object]:
    await up.cli("allocations", "create", "--sku", "sim-h200-slice", "--name", name)
    answer: dict[str, object] = json.loads(await up.cli("allocations", "get", name, "-o", "json"))
    return answer


async def booted(up: Stack, name: str, boot: int) -> dict[str, object]:
    """As the command line shows it; a watch ends neither with a boot nor with a status, so this looks again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            seen: dict[str, object] = json.loads(await up.cli("allocations", "get", name, "-o", "json"))
            if (seen["boot"], seen["status"]) == (boot, "active"):
                return seen
            await asyncio.sleep(0.5)


def processes_naming(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if text in command:
                found.append(command)
    return found


async def test_what_up_prints_is_what_a_person_types_next(up: Stack) -> None:
    url = up.file.url
    assert f"GPUaaS is up at {url}" in up.greeting
    typed = [line.strip() for line in up.greeting.splitlines() if re.search(r"(login|ssh-keys add|create)", line)]
    assert len(typed) == 3
    assert (up.data / "up.json").stat().st_mode & 0o777 == 0o600


async def test_a_person_gets_a_machine_of_their_own_by_plain_ssh(up: Stack) -> None:
    await create(up, "own")
    assert (await up.inside("own", "hostname")).strip() == "own"
    assert "postgres" not in await up.inside("own", "ps -e -o args")
    assert (await up.inside("own", "id -un")).strip() == "gpu"
    assert (await up.inside("own", "echo $GPUAAS_SLOTS")).strip().isdecimal()
    assert (await up.cli("ssh", "own", "-i", str(up.key), "--", "hostname")).strip() == "own"
    await up.cli("allocations", "release", "own", "--yes")


async def test_files_go_in_and_out_by_scp_sftp_and_rsync(up: Stack) -> None:
    await create(up, "files")
    config, tree = await up.ssh_config("files"), up.folder / "tree"
    tree.mkdir()
    (tree / "a").write_text("alpha")
    ssh = f"ssh -F {config}"
    assert (await run("scp", "-q", "-F", config, str(tree / "a"), "files:by-scp")).code == 0
    assert (await run("scp", "-q", "-O", "-F", config, "files:by-scp", str(tree / "b"))).code == 0
    assert (tree / "b").read_text() == "alpha"
    assert (await run("rsync", "-a", "-e", ssh, f"{tree}/", "files:by-rsync/")).code == 0
    listed = await run("sftp", "-q", "-b", "-", "-F", config, "files", stdin="ls by-rsync\n")
    assert "by-rsync/a" in listed.out
    await up.cli("allocations", "release", "files", "--yes")


async def test_a_local_port_leads_into_the_machine(up: Stack) -> None:
    await create(up, "web")
    await up.inside("web", "nohup python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & echo started")
    port = free_port()
    forward = await asyncio.create_subprocess_exec(
        "ssh", "-F", await up.ssh_config("web"), "-N", "-L", f"{port}:127.0.0.1:8000", "web"
    )
    try:
        assert "Directory listing" in await fetch(port)
    finally:
        forward.terminate()
        await forward.wait()
    await up.cli("allocations", "release", "web", "--yes")


async def fetch(port: int) -> str:
    """The page behind a forwarded port, as soon as both ends of it are there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET / HTTP/1.0\r\n\r\n")
                page = (await reader.read()).decode()
                writer.close()
                if page:
                    return page
            except OSError:
                pass
            await asyncio.sleep(0.05)


async def test_after_release_nothing_is_left_and_the_timeline_tells_every_phase(up: Stack) -> None:
    allocation = await create(up, "gone")
    id, connection = str(allocation["id"]), allocation["connection"]
    assert isinstance(connection, dict)
    await up.inside("gone", "nohup sleep 98765 >/dev/null 2>&1 & touch left-behind; echo ok")
    assert processes_naming("sleep 98765")
    await up.cli("allocations", "release", "gone", "--yes")
    assert not processes_naming("sleep 98765")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", connection["port"])) != 0
    assert not [path for path in up.data.rglob("*") if id in path.name]
    entries = json.loads(await up.cli("allocations", "timeline", "gone", "-o", "json"))
    told = [entry["phase"] for entry in reversed(entries) if entry["phase"] not in ("ssh_login", "ssh_logout")]
    create_phases = [
        "requested",
        "placed",
        "provisioning",
        "preparing",
        "booting",
        "gpus_checked",
        "access_ready",
        "active",
    ]
    release_phases = ["releasing", "sessions_ended", "environment_removed", "gpus_reset", "cleaned"]
    release_phases += ["cleanup_proven", "released"]
    assert told == create_phases + release_phases
    assert all(entry["actor"] and entry["at"] for entry in entries)


async def test_a_second_up_on_the_same_folder_says_so_and_changes_nothing(up: Stack) -> None:
    before = (up.data / "up.json").read_bytes()
    again = await up.try_cli("up", "--data", str(up.data), "--port", str(free_port()))
    assert (again.code, "already" in again.out, up.file.url in again.out) == (0, True, True)
    assert (up.data / "up.json").read_bytes() == before


async def test_kill_minus_9_leaves_machines_running_and_ctrl_c_boots_them_again(up: Stack) -> None:
    before = await create(up, "keeps")
    await up.inside("keeps", "echo data > kept; nohup sleep 87654 >/dev/null 2>&1 & echo ok")
    await up.end(signal.SIGKILL)
    await up.up()
    assert (await up.inside("keeps", "cat kept; pgrep -fc 'sleep 8765[4]'")).split() == ["data", "1"]
    await up.end(signal.SIGINT)
    assert not processes_naming(str(up.data))
    await up.up()
    after = await booted(up, "keeps", 2)
    assert (await up.inside("keeps", "cat kept")).strip() == "data"
    same = ("id", "connection", "node", "slots")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    await up.cli("allocations", "release", "keeps", "--yes")


@pytest.mark.soak
async def test_without_the_demo_there_is_an_operator_and_nothing_for_sale() -> None:
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-e2e-"))
    folder.chmod(0o711)
    async with stack(folder, "--no-demo") as bare:
        await bare.up()
        await bare.login("admin")
        nodes = json.loads(await bare.cli("admin", "nodes", "list", "-o", "json"))
        assert [(node["slots_free"], node["intent"]) for node in nodes] == [(0, "active")]
        assert [user.role for user in bare.file.users] == ["admin"]
    shutil.rmtree(folder, ignore_errors=True)
