"""Runs mmdebstrap: a clean Debian root from the package sources of the node."""

# ruff: noqa: ASYNC240 (small files of the node, read once)

import asyncio
import os
import platform
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.images import image_recipe, image_sources, images
from gpuaas.engines.images.image_sources import Source
from gpuaas.engines.images.images import ImageError
from gpuaas.engines.node import commands

LOG = "build.log"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
ENOUGH_MEMORY, ENOUGH_MEMORY_WITH_ADDED = 4 << 30, 16 << 30
EXCERPT_LINES = 12
LONGEST_LINE = 1 << 20
# In a mount namespace: the build runs in memory, on a private /tmp, and a killed build leaves nothing there. In a pid
# namespace: a killed build leaves no process. A descriptor names the draft, because the draft may itself be below /tmp.
SCRIPT = r"""
set -euo pipefail
umask 022
draft=/proc/self/fd/8 memory=$2 copies=$3
exec 8<"$1"
shift 3
if [[ $memory != 0 ]]; then
    mount -t tmpfs -o "mode=1777,size=$memory" tmpfs /tmp
else
    mkdir "$draft/work"
    chmod 1777 "$draft/work"
    mount --bind "$draft/work" /tmp
fi
cp -r "$draft/input" /tmp/input
chmod -R go+rX /tmp/input
export TMPDIR=/tmp
mmdebstrap "$@"
if [[ $memory != 0 && $copies == yes ]]; then
    echo 'I: copying the image to disk...'
    cp --archive /tmp/root "$draft/root"
fi
"""
SETUP = r"""#!/bin/sh
set -eu
mkdir -p "$1/etc/dpkg/dpkg.cfg.d" "$1/etc/apt"
cp /tmp/input/excludes "$1/etc/dpkg/dpkg.cfg.d/95excludes"
for name in auth.conf auth.conf.d; do
    if [ -e "/etc/apt/$name" ]; then cp -a "/etc/apt/$name" "$1/etc/apt/"; fi
done
"""
# Certificate authorities that the operator added to the node: sources and programs inside may need them.
CUSTOMIZE = r"""#!/bin/sh
set -eu
rm -rf "$1/etc/apt/auth.conf" "$1/etc/apt/auth.conf.d"
mkdir -p "$1/etc/apt/auth.conf.d"
if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
    cp -L /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/"
    chmod 644 "$1"/usr/local/share/ca-certificates/*.crt
    chroot "$1" update-ca-certificates
fi
"""
NEXT_STEPS = (
    (r"Unable to locate package|has no installation candidate|Version .* was not found", "check the package names"),
    (r"No space left on device", "free disk space, then build again"),
    (
        r"Failed to fetch|Could not resolve|Could not connect|NO_PUBKEY|not signed",
        "make `apt-get update` work on this node",
    ),
)


@dataclass(frozen=True)
class Node:
    """Facts of the node that go into an image."""

    release: str
    architecture: str
    sources: tuple[Source, ...]
    settings: tuple[str, ...]
    """Settings of apt for access to the sources."""
    keys: tuple[Path, ...]
    proxies: Mapping[str, str]


async def look_at_node(
    environ: Mapping[str, str], *, apt: Path = Path("/etc/apt"), os_release: Path = Path("/etc/os-release")
) -> Node:
    release = debian_release(os_release.read_text())
    for program in ("mmdebstrap", "unshare", "setpriv"):
        if commands.find(program) is None:
            raise ImageError(f"{program} is not installed", "apt-get install mmdebstrap util-linux")
    if os.geteuid() != 0:
        raise ImageError("only root can build an image", "sudo gpuaas node image build")
    sources = tuple(image_sources.node_sources(apt, release))
    if not sources:
        raise ImageError(
            f"no enabled package source of {apt} names the release {release}",
            f"name {release}, not an alias such as stable, in {apt}/sources.list or {apt}/sources.list.d",
        )
    settings = image_sources.needed_settings(await commands.run("apt-config", "dump"))
    return Node(
        release=release,
        architecture=await commands.run("dpkg", "--print-architecture"),
        sources=sources,
        settings=tuple(settings),
        keys=tuple(image_sources.key_files(apt, sources)),
        proxies={name: environ[name] for name in PROXIES if environ.get(name)},
    )


def debian_release(os_release: str) -> str:
    facts = images.os_release(os_release)
    if facts.get("ID") != "debian" or not facts.get("VERSION_CODENAME"):
        name = facts.get("PRETTY_NAME", platform.system())
        raise ImageError(f"this node runs {name}; images are built on Debian", "use a node with Debian 12 or newer")
    return facts["VERSION_CODENAME"]


async def run(
    draft: Path,
    added: tuple[str, ...],
    node: Node,
    *,
    on_line: Callable[[str], Awaitable[None]],
    simulate: bool = False,
) -> list[str]:
    """Create the new root in the draft; return all output lines, which are also in the log."""
    write_input(draft / "input", node)
    memory = memory_for(added, Path("/proc/meminfo").read_text())
    arguments = [
        str(draft),
        str(memory),
        "no" if simulate else "yes",
        *mmdebstrap_arguments(added, node, simulate=simulate),
    ]
    namespaces = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
    command = commands.mortal(*namespaces, "bash", "-c", SCRIPT, "bash", *arguments)
    log, lines = draft.parent / LOG, list[str]()
    with log.open("w") as out:
        log.chmod(0o600)
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**commands.ENVIRONMENT, **node.proxies},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LONGEST_LINE,
        )
        try:
            async for line in lines_of(process):
                lines.append(line)
                out.write(f"{line}\n")
                await on_line(line)
        except BaseException:
            process.kill()  # ends the namespace and all its processes
            raise
        finally:
            code = await process.wait()
    if code != 0:
        raise failure(code, lines, log)
    return lines


def write_input(folder: Path, node: Node) -> None:
    folder.mkdir(mode=0o700)
    (folder / "node.sources").write_text(image_sources.render(node.sources))
    (folder / "excludes").write_text(image_recipe.dpkg_excludes())
    for name, script in {"setup": SETUP, "customize": CUSTOMIZE}.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)


def mmdebstrap_arguments(added: Iterable[str], node: Node, *, simulate: bool) -> list[str]:
    packages = ",".join([*image_recipe.PACKAGES, *added])
    settings = ['Acquire::Retries "3";', 'Acquire::Languages "none";', *node.settings]
    return [
        *("--verbose", "--mode=root", "--variant=minbase", "--format=directory"),
        *(["--simulate"] if simulate else []),
        *(f"--aptopt={line}" for line in settings),
        "--dpkgopt=force-unsafe-io",  # an interrupted build is erased, so dpkg need not sync
        f"--include={packages}",
        "--setup-hook=/tmp/input/setup",
        "--customize-hook=/tmp/input/customize",
        *(node.release, "/tmp/root", "/tmp/input/node.sources"),  # noqa: S108 - of the build's own namespace
    ]


def memory_for(added: Iterable[str], meminfo: str) -> int:
    """Bytes of memory for the build; 0 to build on disk."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo, re.MULTILINE)
    available = int(found[1]) << 10 if found else 0
    return available // 2 if available >= (ENOUGH_MEMORY_WITH_ADDED if [*added] else ENOUGH_MEMORY) else 0


async def lines_of(process: asyncio.subprocess.Process) -> AsyncIterator[str]:
    if process.stdout is not None:
        async for line in process.stdout:
            yield line.decode(errors="replace").rstrip()


def failure(code: int, lines: list[str], log: Path) -> ImageError:
    """Lines marked as errors by apt and mmdebstrap, otherwise the last lines."""
    errors = [line for line in lines if line.startswith(("E: ", "Err:", "dpkg: error"))]
    text = "\n".join(lines)
    hint = next((step for pattern, step in NEXT_STEPS if re.search(pattern, text)), f"less {log}")
    return ImageError(f"mmdebstrap ended with {code}", hint, tuple((errors or lines)[-EXCERPT_LINES:]))
