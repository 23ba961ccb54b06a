"""A network of one's own: what it reaches, what it does not, and what others see of it."""

import asyncio
import contextlib
import os
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gpuaas.engines.node import commands
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

PORT = 4321
LISTENER = (
    f"import socket; s = socket.create_server((str(), {PORT})); print(1, flush=True)\n"
    "while True: print(s.accept()[1][0], flush=True)"
)


@pytest.fixture(scope="module")
async def pair(oci_bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[OpenSsh, OpenSsh]]:
    """Two environments of different people, as neighbours."""
    ada, folder = Key(), tmp_path_factory.mktemp("network")
    made = [await oci_bench.engine.ensure(spec(f"network{n}", keys(1, ada)), ignore) for n in "pq"]
    yield OpenSsh(folder, made[0], ada), OpenSsh(folder, made[1], ada)
    for one in made:
        await oci_bench.engine.remove(one.allocation_id, ignore)


async def reaches(ssh: OpenSsh, address: str, port: int) -> bool:
    code = f"import socket; socket.create_connection(('{address}', {port}), timeout=3)"
    return (await ssh.run(f'python3 -c "{code}"')).code == 0


@contextlib.asynccontextmanager
async def listening(process: Process) -> AsyncIterator[asyncio.StreamReader]:
    """One line per connection: who it came from."""
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await process.stdout.readline() == b"1\n"
    try:
        yield process.stdout
    finally:
        process.kill()
        await process.communicate()


@contextlib.asynccontextmanager
async def machine_beyond(*addresses: str, program: str = LISTENER) -> AsyncIterator[asyncio.StreamReader]:
    """Another machine with these addresses, in a namespace of the test's own; nothing leaves this test run. No other
    test that runs at the same time may use them. The program prints 1 once it listens, and a line for each visitor."""
    tag = f"n{os.getpid()}"
    await commands.run("ip", "netns", "add", tag)
    try:
        lines = [
            f"link add {tag} type veth peer name eth0 netns {tag}",
            f"link set {tag} up",
            f"-n {tag} link set eth0 up",
        ]
        for address in addresses:
            ours, theirs = f"{address}.1/30", f"{address}.2/30"
            lines += [f"addr add {ours} dev {tag}", f"-n {tag} addr add {theirs} dev eth0"]
        for line in lines:
            await commands.run("ip", *line.split())
        Path(f"/proc/sys/net/ipv4/conf/{tag}/forwarding").write_text("1")
        server = await asyncio.create_subprocess_exec(
            *("ip", "netns", "exec", tag, "python3", "-c", program), stdin=PIPE, stdout=PIPE
        )
        async with listening(server) as visitors:
            yield visitors
    finally:
        await commands.attempt("ip", "link", "del", tag)
        await commands.run("ip", "netns", "del", tag)


def addresses_of_this_machine() -> set[str]:
    return {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} | {"192.0.2.1"}


async def test_it_reaches_neither_neighbour_nor_machine(pair: tuple[OpenSsh, OpenSsh]) -> None:
    one, two = pair
    server = await two.spawn("ssh", *two.options(), two.target, f'python3 -c "{LISTENER}"')
    async with listening(server):
        neighbour = (await two.says("hostname -I")).split()[0]
        gateway = await one.says("ip route show default | cut -d' ' -f3")
        with socket.create_server(("0.0.0.0", 0)) as service:  # noqa: S104 (the very thing that must not be reached)
            port = service.getsockname()[1]
            assert await reaches(two, "127.0.0.1", PORT)  # the check itself can succeed
            with socket.create_connection((neighbour, PORT), timeout=PATIENCE_SECONDS):
                pass  # and the machine can reach in, so it is the rules that keep the neighbour out
            assert not await reaches(one, neighbour, PORT)
            for address in (gateway, "127.0.0.1", *addresses_of_this_machine()):
                assert not await reaches(one, address, port), address
            assert not await reaches(one, gateway, one.environment.port or 0)


async def test_the_way_out_is_translated_and_leads_to_no_private_network(pair: tuple[OpenSsh, OpenSsh]) -> None:
    """The same machine beyond, by a public address and by private ones."""
    one, _ = pair
    private = ("10.99.0", "172.16.99", "192.168.99", "169.254.99")
    async with machine_beyond("203.0.113", *private) as visitors:
        assert await reaches(one, "203.0.113.2", PORT)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await visitors.readline() == b"203.0.113.1\n", "it sees the node and not the environment"
        for address in private:
            with socket.create_connection((f"{address}.2", PORT), timeout=PATIENCE_SECONDS):
                pass  # it is there, for the node
            assert not await reaches(one, f"{address}.2", PORT), address


async def test_a_forged_sender_is_dropped(pair: tuple[OpenSsh, OpenSsh]) -> None:
    """Root inside may write packets of any kind; those with an address of somebody else do not leave."""
    one, _ = pair
    forged = (
        "import socket, struct; s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)\n"
        "ip = lambda text: socket.inet_aton(text)\n"
        "head = struct.pack('!BBHHHBBH4s4s', 69, 0, 32, 1, 0, 64, 17, 0, ip('{source}'), ip('203.0.113.2'))\n"
        "s.sendto(head + struct.pack('!HHHH', 9, 9, 12, 0) + bytes(4), ('203.0.113.2', 0))"
    )
    own = (await one.says("hostname -I")).split()[0]
    async with machine_beyond("203.0.113"):
        counted = await received()
        await one.says(f'sudo python3 -c "{forged.format(source=own)}"')
        assert await received() > counted, "the check itself can succeed"
        counted = await received()
        await one.says(f'sudo python3 -c "{forged.format(source="198.51.100.9")}"')
        assert await received() == counted


async def received() -> int:
    """UDP packets that the machine beyond has seen, to a port or to none."""
    told = await commands.run("ip", "netns", "exec", f"n{os.getpid()}", "cat", "/proc/net/snmp")
    names, numbers = [line.split() for line in told.splitlines() if line.startswith("Udp:")]
    counts = dict(zip(names[1:], map(int, numbers[1:]), strict=True))
    return counts["InDatagrams"] + counts["NoPorts"]
