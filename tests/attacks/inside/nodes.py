"""A node under attack: its environments, what listens around them, and the ways to run the probe program inside."""

import asyncio
import contextlib
import io
import json
import os
import socket
import sys
import tarfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

from gpuaas.engines.node import capabilities, cgroups, commands, processes
from gpuaas.engines.node.site import Site
from tests.engines.benches import OciBench
from tests.engines.openssh import OpenSsh
from tests.engines.test_oci_network import listening, machine_beyond
from tests.patience import PATIENCE_SECONDS

NEIGHBOUR = "neighbour"
REPOSITORY = Path(__file__).parents[3]
PROBE = Path(__file__).parent / "probe"
MODULE = "tests.attacks.inside.probe"
PLACE = "/srv/probe"
ABSTRACT = "gpuaas-attacked"
PORT, NODE_PORT, BEYOND_PORT = 4321, 4322, 4323
BEYOND = "198.51.100"
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
SERVICE = f"""
import socket, time
server = socket.create_server(("", {PORT}))
hidden = socket.socket(socket.AF_UNIX); hidden.bind("\\0{ABSTRACT}"); hidden.listen()
print(1, flush=True)
while True: server.accept()
"""
RECORDER = f"""
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(("", {BEYOND_PORT})); print(1, flush=True)
while True: print(server.recv(1000).decode(), flush=True)
"""
COVER = """
import json, os, sys
from gpuaas.engines.node.kernel import CLONE_NEWNS, checked, clone_tree, libc, place_at, setns
pid, source = json.load(sys.stdin)
tree = clone_tree(source) if source else -1
mounts, root = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY), os.open(f"/proc/{pid}/root", os.O_PATH)
setns(mounts, CLONE_NEWNS)
os.fchdir(root)
os.chroot(".")
if source:
    place_at(tree, "/etc/gpuaas")
else:
    checked("umount", libc.umount2(b"/etc/gpuaas", 0))
"""
SETS = {"plain": capabilities.PLAIN, "systemd": capabilities.SYSTEMD}


@cache
def packed() -> bytes:
    """The probe program, as it is laid out in the repository."""
    room = io.BytesIO()
    with tarfile.open(fileobj=room, mode="w") as archive:
        for path in sorted(PROBE.glob("*.py")):
            archive.add(path, path.relative_to(REPOSITORY))
    return room.getvalue()


class AttackedNode:
    """An engine with its environments, each entered as its holder."""

    def __init__(self, bench: OciBench, folder: Path, environments: dict[str, OpenSsh]) -> None:
        self.bench, self.folder, self.environments = bench, folder, environments
        self.addresses: dict[str, str] = {}
        self.arrived: list[str] = []
        """What a computer beyond the node received, by datagram."""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["AttackedNode"]:
        """With services to be attacked: of a neighbour, of the node, and beyond it."""
        neighbour = self.environments[NEIGHBOUR]
        for name, ssh in self.environments.items():
            self.addresses[name] = (await ssh.says("hostname -I")).split()[0]
            if name != NEIGHBOUR:
                unpack = f"sudo mkdir {PLACE} && sudo tar -x -C {PLACE}"
                process = await ssh.spawn("ssh", *ssh.options(), ssh.target, unpack)
                _, error = await process.communicate(packed())
                assert process.returncode == 0, error
        service = await neighbour.spawn("ssh", *neighbour.options(), neighbour.target, f"python3 -c '{SERVICE}'")
        with (
            socket.create_server(("0.0.0.0", NODE_PORT)),  # noqa: S104 (the very thing that must not be reached)
            socket.create_server(("::", NODE_PORT), family=socket.AF_INET6),
            socket.socket(socket.AF_UNIX) as hidden,
        ):
            hidden.bind(f"\0{ABSTRACT}-node")
            hidden.listen()
            async with listening(service), machine_beyond(BEYOND, program=RECORDER) as visitors:
                reading = asyncio.create_task(self._record(visitors))
                yield self
                reading.cancel()

    async def _record(self, visitors: asyncio.StreamReader) -> None:
        while line := await visitors.readline():
            self.arrived.append(line.decode().strip())

    async def arrival(self, wanted: str) -> None:
        """Packets of one link stay in order: whatever was sent before this one has arrived, or never will."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while wanted not in self.arrived:
                await asyncio.sleep(0.02)

    async def interface(self, name: str) -> dict[str, Any]:
        """The node's end of an environment's link."""
        gateway = self.gateway(name)
        for one in json.loads(await commands.run("ip", "-json", "addr")):
            if gateway in [address["local"] for address in one["addr_info"]]:
                found: dict[str, Any] = one
                return found
        raise LookupError(name)

    def gateway(self, name: str) -> str:
        *first, last = self.addresses[name].split(".")
        return ".".join((*first, str(int(last) - 1)))

    async def facts(self, name: str) -> dict[str, object]:
        """What an attacker could know at most."""
        beside = [self.bench.first_process(NEIGHBOUR), *processes.with_argument(str(self.bench.root))]
        agent = self.bench.process.pid if self.bench.process else 0
        conmon = [processes.parent(self.bench.first_process(one)) for one in self.environments]
        ipv6 = [one["local"] for one in (await self.interface(name))["addr_info"] if one["family"] == "inet6"]
        return {
            "name": name,
            "processes": [agent, *beside, *conmon],
            "namespaces": [os.readlink(f"/proc/self/ns/{kind}") for kind in NAMESPACES],  # noqa: PTH115
            "root": str(self.bench.root),
            "address": self.addresses[name],
            "neighbour": self.addresses[NEIGHBOUR],
            "gateway": self.gateway(name),
            "node": "192.0.2.1",
            "node_ipv6": next(iter(ipv6), ""),
            "port": PORT,
            "node_port": NODE_PORT,
            "ssh_port": self.environments[name].environment.port,
            "neighbour_ssh": self.environments[NEIGHBOUR].environment.port,
            "abstract": ABSTRACT,
            "beyond": f"{BEYOND}.2",
            "beyond_port": BEYOND_PORT,
        }

    async def probe(self, name: str, mode: str, *attacks: str) -> dict[str, str]:
        """Run attacks (none named: all) as root inside: in a `session` of the SSH gateway, in a `unit` of systemd,
        `bare` of the seccomp filter, or with `full` capabilities and without the filter."""
        words = ["/usr/bin/python3", "-m", MODULE, json.dumps(await self.facts(name)), *attacks]
        match mode:
            case "session" | "unit":
                unit = (
                    "systemd-run --quiet --pipe --wait --collect --working-directory=" + PLACE if mode == "unit" else ""
                )
                quoted = " ".join(f"'{word}'" for word in words)
                text = await self.environments[name].says(f"cd {PLACE} && sudo {unit} {quoted}")
            case _:
                text = await self._enter(name, words, capabilities_of=SETS[name] if mode == "bare" else None)
        found: dict[str, str] = json.loads(text)
        return found

    async def _enter(self, name: str, words: list[str], *, capabilities_of: frozenset[str] | None) -> str:
        """From the node into the namespaces and control groups of an environment: nothing else is in the way."""
        pid = self.bench.first_process(name)
        if capabilities_of is not None:
            rights = ",".join(f"+{right.removeprefix('CAP_').lower()}" for right in sorted(capabilities_of))
            words = ["setpriv", f"--bounding-set=-all,{rights}", *words]
        join = "".join(f"echo $$ > {folder}/cgroup.procs; " for folder in cgroups.folders_of(pid))
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'{join}exec "$@"', "sh", "nsenter", "--target", str(pid), "--user", "--mount", "--pid"),
            *("--net", "--ipc", "--uts", "--cgroup", "--root", "--setuid=0", "--setgid=0", f"--wdns={PLACE}"),
            *("env", "-i", f"PATH={os.environ['PATH']}", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
        out, error = await process.communicate()
        assert process.returncode == 0, error.decode()
        return out.decode()

    @contextlib.asynccontextmanager
    async def without_rules(self) -> AsyncIterator[None]:
        """The weakened twin of the network: the engine's table is gone, the node forwards everything."""
        table = f"gpuaas_{Site(self.bench.root).tag}"
        kept = await commands.run("nft", "list", "table", "inet", table)
        await commands.run("nft", "delete", "table", "inet", table)
        try:
            yield
        finally:
            await commands.run("nft", "-f", "-", text=kept)

    @contextlib.asynccontextmanager
    async def writable_facts(self, name: str) -> AsyncIterator[None]:
        """The weakened twin of the platform's mounts: a folder of root inside, not read-only, in their place."""
        pid, folder = self.bench.first_process(name), self.folder / f"facts-{name}"
        folder.mkdir()
        (folder / "sku").write_text("h100.1x")
        first = int(Path(f"/proc/{pid}/uid_map").read_text().split()[1])
        for path in (folder, folder / "sku"):
            os.chown(path, first, first)
        await commands.run(sys.executable, "-c", COVER, text=json.dumps([pid, str(folder)]))
        try:
            yield
        finally:
            await commands.run(sys.executable, "-c", COVER, text=json.dumps([pid, None]))
