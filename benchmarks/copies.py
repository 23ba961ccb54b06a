"""S18: scp of 5,000 small files and of one file of 500 MB into an allocation; the floor of the same run is a plain sshd
on the same disk."""

import shutil
import statistics
import time
from pathlib import Path

from benchmarks.create_to_ssh import Person, up
from benchmarks.harness import Run, interleave
from benchmarks.peers.slurm import run as run_program
from benchmarks.peers.sshd import plain_sshd
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.allocations import SshConnection

FILES, FILE_BYTES = 5_000, 4_096
LARGE_MB = 500
LIMIT = 1.3


async def run(run: Run) -> None:
    rounds = run.options.pick(5, 2)
    small, large = _sources(run.scratch, run.options.pick(FILES, 500), run.options.pick(LARGE_MB, 50))
    async with up(run.scratch / "up") as file:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        async with AsyncClient(file.url, token) as client:
            person = await Person.with_key(client, file, run.scratch)
            door = await person.create("copies")
            async with plain_sshd(run.scratch / "sshd", person.key) as plain:
                plain_command = ["scp", "-F", "none", "-q", "-P", str(plain.port), *plain.options()]
                for name, source in ((f"{len(list(small.iterdir()))} files", small), (f"{large.stem} MB", large)):

                    async def ours(_round: int, source: Path = source) -> float:
                        return await _copy([*_scp(person, door), "-r", str(source)], f"{door.username}@{door.host}:")

                    async def floor(_round: int, source: Path = source) -> float:
                        return await _copy([*plain_command, "-r", str(source)], "root@127.0.0.1:/root/")

                    got, bare = await interleave(rounds, ours, floor)
                    _report(run, name, got, bare)


def _sources(scratch: Path, files: int, megabytes: int) -> tuple[Path, Path]:
    small, large = scratch / "small", scratch / f"{megabytes}.bin"
    small.mkdir()
    for number in range(files):
        (small / f"{number}.txt").write_bytes(number.to_bytes(4, "big") * (FILE_BYTES // 4))
    block = bytes(range(256)) * 4096
    with large.open("wb") as out:
        for _ in range(megabytes):
            out.write(block[: 1 << 20])
    return small, large


def _scp(person: Person, door: SshConnection) -> list[str]:
    known = person.key.with_name("known-copies")
    known.write_text(door.known_hosts + "\n")
    options = ("BatchMode=yes", "IdentitiesOnly=yes", "LogLevel=ERROR", f"UserKnownHostsFile={known}")
    alias = f"HostKeyAlias={door.known_hosts.split()[0]}"
    words = [word for each in (*options, alias) for word in ("-o", each)]
    return [shutil.which("scp") or "scp", "-F", "none", "-q", "-P", str(door.port), "-i", str(person.key), *words]


async def _copy(command: list[str], target: str) -> float:
    began = time.perf_counter()
    await run_program([*command, target], {})
    return time.perf_counter() - began


def _report(run: Run, name: str, got: list[float], bare: list[float]) -> None:
    run.keep(f"S18 {name} s", got)
    run.keep(f"S18 {name} plain sshd s", bare)
    ratio = statistics.median(got) / statistics.median(bare)
    seconds = f"{statistics.median(got):.2f} s against {statistics.median(bare):.2f} s"
    run.row(f"S18 scp of {name} to a plain sshd, p50", f"{ratio:.2f} x ({seconds})", f"≤ {LIMIT} x", met=ratio <= LIMIT)
