"""A Slurm of one node, by hand: munged, slurmctld and slurmd as plain processes, in a folder of their own."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import CannotMeasureError, needs
from benchmarks.stage import free_port, process

READY_SECONDS = 30.0


@dataclass(frozen=True)
class Slurm:
    environ: dict[str, str]

    async def allocate(self) -> float:
        """`salloc -n1 srun true`: granted, a shell's first command run on the node, and let go; seconds."""
        began = time.perf_counter()
        await run(["salloc", "--quiet", "--ntasks", "1", "srun", "true"], self.environ)
        return time.perf_counter() - began


@asynccontextmanager
async def slurm(folder: Path) -> AsyncIterator[Slurm]:
    munged, controller, daemon = needs("munged", "munge"), needs("slurmctld", "slurm-wlm"), needs("slurmd", "slurm-wlm")
    if os.geteuid() != 0:
        raise CannotMeasureError("slurmd starts jobs as other users and wants root")
    folder.chmod(0o755)
    for name in ("munge", "run", "state", "spool", "log"):
        (folder / name).mkdir()
    (folder / "munge" / "key").write_bytes(os.urandom(1024))
    (folder / "munge" / "key").chmod(0o400)
    (folder / "slurm.conf").write_text(config(folder))
    environ = {"SLURM_CONF": str(folder / "slurm.conf")}
    munge = [munged, "--foreground", "--force", f"--key-file={folder}/munge/key", f"--socket={folder}/run/munge.socket"]
    munge += [f"--pid-file={folder}/run/munged.pid", f"--log-file={folder}/log/munged.log"]
    munge += [f"--seed-file={folder}/munge/seed"]
    log = folder / "log" / "out"
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(process(munge, log))
        await until(folder / "run" / "munge.socket")
        await stack.enter_async_context(process([controller, "-D"], log, environ))
        await stack.enter_async_context(process([daemon, "-D", "-N", node()], log, environ))
        found = Slurm(environ)
        await first(found)
        yield found


async def first(slurm: Slurm) -> None:
    """A cluster that is up has run something."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            await slurm.allocate()
        except CannotMeasureError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.5)
        else:
            return


async def until(path: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise CannotMeasureError(f"{path.name} did not appear: Slurm cannot run here")
        await asyncio.sleep(0.05)


async def run(command: list[str], environ: dict[str, str]) -> None:
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **environ},
    )
    try:
        out, _ = await asyncio.wait_for(child.communicate(), 30)
    except TimeoutError:
        child.kill()
        raise CannotMeasureError(f"{command[0]} did not end") from None
    if child.returncode:
        raise CannotMeasureError(f"{command[0]} said: {out.decode(errors='replace')[-500:]}")


def node() -> str:
    return socket.gethostname().split(".")[0]


def config(folder: Path) -> str:
    """`sched_min_interval=0`: a job is looked at when it comes, not a moment later."""
    return f"""
ClusterName=bench
SlurmctldHost={node()}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.socket
CredType=cred/munge
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={node()} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={node()} Default=YES MaxTime=INFINITE State=UP
"""
