"""A plain sshd: the one of the base image, unmodified, in a root of its own, with nothing of ours around it.

Key exchange and ciphers are those of the SSH gateway: the default key exchange alone takes 80 ms longer.
"""

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import CannotMeasureError
from benchmarks.peers.slurm import run as run_program
from benchmarks.stage import free_port
from gpuaas.gateway import sshd
from tests.images.real import real_image

START_SECONDS = 10.0
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey /etc/ssh/bench_host_key
AuthorizedKeysFile /etc/ssh/bench_authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
StrictModes no
Subsystem sftp /usr/lib/openssh/sftp-server
{algorithms}
"""
SCRIPT = """
set -e
mount --make-rprivate /
mount -t overlay -o lowerdir={image},upperdir={folder}/upper,workdir={folder}/work overlay {folder}/root
mount -t proc proc {folder}/root/proc
mount --rbind /dev {folder}/root/dev
mkdir -p {folder}/root/run/sshd
exec chroot {folder}/root /usr/sbin/sshd -D -e -f /etc/ssh/bench_config
"""


@dataclass(frozen=True)
class PlainSshd:
    port: int
    key: Path
    known: Path

    def ssh(self, *words: str) -> list[str]:
        return ["ssh", "-F", "none", "-p", str(self.port), *self.options(), "root@127.0.0.1", *words]

    def options(self) -> list[str]:
        given = ("BatchMode=yes", "IdentitiesOnly=yes", f"UserKnownHostsFile={self.known}", "LogLevel=ERROR")
        return ["-i", str(self.key), *(word for each in given for word in ("-o", each))]


@asynccontextmanager
async def plain_sshd(folder: Path, key: Path) -> AsyncIterator[PlainSshd]:
    """On the same disk as everything else of the run."""
    port = free_port()
    etc = folder / "upper" / "etc" / "ssh"
    for each in (folder, folder / "work", folder / "root", etc):
        each.mkdir(parents=True, exist_ok=True)
        each.chmod(0o755)
    await run_program(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(etc / "bench_host_key")], {})
    (etc / "bench_authorized_keys").write_bytes(key.with_suffix(".pub").read_bytes())
    (etc / "bench_config").write_text(CONFIG.format(port=port, algorithms=sshd.ALGORITHMS))
    known = folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {(etc / 'bench_host_key.pub').read_text()}")
    script = SCRIPT.format(image=shlex.quote(str(real_image().root)), folder=shlex.quote(str(folder)))
    with (folder / "log").open("wb") as log:
        child = await asyncio.create_subprocess_exec(
            *("unshare", "--mount", "--", "sh", "-c", script),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        found = PlainSshd(port, key, known)
        await _until_it_listens(found, child, folder / "log")
        yield found
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
            await child.wait()


async def _until_it_listens(found: PlainSshd, child: asyncio.subprocess.Process, log: Path) -> None:
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", found.port)
        except OSError:
            if child.returncode is not None or asyncio.get_running_loop().time() > deadline:
                raise CannotMeasureError(f"the plain sshd did not start: {log.read_text()[-500:]}") from None
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
