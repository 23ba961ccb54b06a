"""Stages one bundle: built and checked inside the base image, at the path where environments see it.

Each step runs in a private root (workshop.py). The tree is mounted at its final path, so no file contains the path of
the build folder. Packages are wheels with pinned checksums; no code of a package runs before the check.
"""

import asyncio
import base64
import configparser
import contextlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gpuaas.engines.base import EngineError, Telling
from gpuaas.engines.images import images
from gpuaas.engines.images.images import Image
from gpuaas.engines.node import commands, files, seccomp
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import config
from gpuaas.engines.oci.ids import HOLDER
from gpuaas.engines.runtimes import manifests, workshop
from gpuaas.wire.environments import EnvironmentSpec, Init, KeySet
from gpuaas.wire.runtimes import INSTALL_ROOT, BundleSpec, StagedBundle

CHECK_UID = 65_534  # uid of a check on the node, which owns no files; inside it is the holder's id
WORK = "/run/staging"  # inside: requirements and wheels
TEMPORARY = f"{WORK}/temporary"  # on disk: wheels can be larger than the memory
HOME = "/root"
TMPFS = {"/tmp": "mode=1777", "/var/tmp": "mode=1777", "/run": "mode=755", HOME: "mode=700"}  # noqa: S108 (names inside)
NAMESPACES = ("--mount", "--pid", "--fork", "--ipc", "--uts", "--kill-child")
LONGEST_LINE = 1 << 20
END_SECONDS = 10.0
PIP = ("-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-cache-dir")
TOPOLOGY = "/sys/devices/system"  # numerical libraries read processor facts here
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts")
PIP_FILES = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf")
PIP_HOME_FILES = (".config/pip/pip.conf", ".pip/pip.conf", ".netrc")
PIP_PATHS = ("find-links", "index-url", "extra-index-url", "cert", "client-cert", "constraint", "config-file")
"""Settings of pip whose value may be a path on the node."""
STEP_SECONDS = {"venv": 120, "download": 3600, "install": 1800, "compile": 900, "check": 300}
EXCERPT = 20  # lines of a failed step that are shown
PASSED = ("HOME", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
NOT_TOLD = ("Looking in ", "WARNING: Location ")  # the node determines the package index
ACTIVATE = """\
# Source this file to use {slug} {version} in this shell: . {root}/activate.sh
if [ -z "${{GPUAAS_RUNTIME_ACTIVE:-}}" ]; then
    GPUAAS_RUNTIME_OLD_PATH=$PATH
fi
GPUAAS_RUNTIME_ACTIVE={slug}@{version}
VIRTUAL_ENV={root}
PATH={root}/bin:$GPUAAS_RUNTIME_OLD_PATH
export GPUAAS_RUNTIME_ACTIVE VIRTUAL_ENV PATH
deactivate() {{
    PATH=$GPUAAS_RUNTIME_OLD_PATH
    unset GPUAAS_RUNTIME_ACTIVE GPUAAS_RUNTIME_OLD_PATH VIRTUAL_ENV
    unset -f deactivate
}}
"""


@dataclass(frozen=True, kw_only=True)
class Rights:
    """Rights of a step: root without capabilities, or an unprivileged user."""

    seconds: float
    is_root: bool = True
    writes_tree: bool = True
    has_network: bool = False


RIGHTS = {
    "venv": Rights(seconds=STEP_SECONDS["venv"]),
    "download": Rights(seconds=STEP_SECONDS["download"], writes_tree=False, has_network=True),
    "install": Rights(seconds=STEP_SECONDS["install"]),
    "compile": Rights(seconds=STEP_SECONDS["compile"]),
    "check": Rights(seconds=STEP_SECONDS["check"], is_root=False, writes_tree=False),
}


class Staging:
    """`environment` has the node's settings for the package index."""

    def __init__(
        self,
        site: Site,
        bundle: BundleSpec,
        tell: Telling,
        *,
        image: Callable[[], Image],
        environment: Mapping[str, str],
        rights: Mapping[str, Rights] = RIGHTS,
    ) -> None:
        self._bundle, self._tell, self._rights = bundle, tell, rights
        self._find_image, self._environment = image, environment
        self.folder = site.staging / f"{bundle.slug}-{bundle.version}"
        self.tree, self._work = self.folder / "tree", self.folder / "work"
        self._root = f"{INSTALL_ROOT}/{bundle.slug}/{bundle.version}"
        self._python = f"/usr/bin/python{bundle.recipe.python}"

    async def build(self, now: datetime) -> StagedBundle:
        await self._tell("preparing", f"{self._bundle.slug} {self._bundle.version}")
        image = await self._prepare()
        await self._tell("downloading", f"{len(self._bundle.recipe.requirements)} packages")
        await self._download(image)
        await self._tell("installing", self._root)
        await self._install(image)
        await self._tell("checking", " ".join(self._bundle.recipe.check)[:200])
        health = await self._check(image)
        sums = await asyncio.to_thread(manifests.take, self.tree)
        sizes = await asyncio.to_thread(lambda: sum((self.tree / path).lstat().st_size for path in sums))
        staged = StagedBundle(
            slug=self._bundle.slug,
            version=self._bundle.version,
            digest=self._bundle.digest,
            manifest=manifests.seal(self.tree, sums),
            health=health,
            files=len(sums),
            bytes=sizes,
            staged_at=now,
            distribution=image.system,
            python=image.python_series,
        )
        manifests.record(self.tree, staged)
        await commands.run("sync", "-f", str(self.tree))
        return staged

    async def _prepare(self) -> Image:
        image = self._find_image()
        require_current_image(self._bundle, image)
        await files.erase(self.folder)
        for path, mode in (
            (self.folder, 0o700),
            (self._work, 0o700),
            (self._work / "temporary", 0o700),
            (self.tree, 0o755),
        ):
            path.mkdir(mode=mode)
            path.chmod(mode)
        images.claim(image, self.folder)
        await self._run(image, "venv", self._python, "-I", "-m", "venv", "--without-pip", "--symlinks", self._root)
        for name in ("activate", "activate.csh", "activate.fish", "Activate.ps1"):
            (self.tree / "bin" / name).unlink(missing_ok=True)
        text = ACTIVATE.format(slug=self._bundle.slug, version=self._bundle.version, root=self._root)
        (self.tree / "activate.sh").write_text(text)
        (self.tree / "activate.sh").chmod(0o644)
        return image

    async def _download(self, image: Image) -> None:
        lines = (
            f"{each.name}=={each.version} " + " ".join(f"--hash=sha256:{sum}" for sum in each.sha256)
            for each in self._bundle.recipe.requirements
        )
        (self._work / "requirements.txt").write_text("\n".join(lines) + "\n")
        await self._pip(image, "download", "--only-binary", ":all:", "--dest", f"{WORK}/wheels")

    async def _install(self, image: Image) -> None:
        local = ("--no-index", "--find-links", f"{WORK}/wheels")
        arguments = ("--no-compile", "--no-warn-script-location", "--root-user-action=ignore")
        await self._pip(image, "install", *local, *arguments)
        await files.erase(self._work / "wheels")
        compiled = ("-m", "compileall", "-q", "-j", "2", "--invalidation-mode", "unchecked-hash", f"{self._root}/lib")
        with contextlib.suppress(EngineError):  # a source file of a package may not compile; it is then only slower
            await self._run(image, "compile", f"{self._root}/bin/python", "-I", *compiled)

    async def _pip(self, image: Image, verb: str, *arguments: str) -> None:
        shared = ("--no-deps", "--require-hashes", "--progress-bar", "off", "-r", f"{WORK}/requirements.txt")
        target = ("--python", f"{self._root}/bin/python")
        await self._run(image, verb, self._python, *PIP, *target, verb, *arguments, *shared)

    async def _check(self, image: Image) -> str:
        """The last line of its output."""
        program, *arguments = self._bundle.recipe.check
        path = program if "/" in program else f"{self._root}/bin/{program}"
        said = await self._run(image, "check", path, *arguments)
        return (said[-1] if said else "the check ended without output")[:500]

    async def _run(self, image: Image, step: str, *argv: str) -> list[str]:
        """Run it and return the last lines of its output. All processes of the step end with it or with the agent."""
        rights = self._rights[step]
        order = self._order(image, rights, argv)
        with commands.given(json.dumps(order)) as stdin:
            process = await asyncio.create_subprocess_exec(
                *commands.mortal("unshare", *NAMESPACES, *(() if rights.has_network else ("--net",)), "--"),
                *commands.ours(workshop.__file__),
                env=commands.FOR_OURS,
                cwd="/",
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                limit=LONGEST_LINE,
            )
        try:
            async with asyncio.timeout(rights.seconds):
                said = await self._listen(process)
                code = await process.wait()
        except TimeoutError as error:
            raise EngineError("staging took too long", f"{step}: {rights.seconds:.0f} s") from error
        finally:
            if process.returncode is None:
                await end(process)
        if code != 0:
            reason = "its health check failed" if step == "check" else f"the bundle could not be made ({step})"
            last = said[-1][:300] if said else f"exit code {code}"
            raise EngineError(f"{reason}: {last}", "\n".join(said))
        return said

    def _order(self, image: Image, rights: Rights, argv: tuple[str, ...]) -> dict[str, object]:
        shared = {TOPOLOGY: TOPOLOGY} if Path(TOPOLOGY).exists() else {}
        if rights.has_network:
            shared |= network_files(self._environment)
        work = {WORK: str(self._work)} if rights.is_root else {}
        tree = {self._root: str(self.tree)}
        etc = {name: (image.root / "etc" / name).read_text() for name in ("passwd", "group", "shadow")}
        texts = config.files(_SPEC, image_etc=etc, address="127.0.1.1", resolv="")
        return {
            "image": str(image.root),
            "hostname": _SPEC.hostname,
            "tmpfs": {
                **TMPFS,
                config.home(_SPEC): f"mode=700,uid={CHECK_UID},gid={CHECK_UID}",
                INSTALL_ROOT: "mode=755,size=64k",
            },
            "files": {path: (mode, text) for path, (mode, _, text) in texts.items()},
            "writable": {**work, **(tree if rights.writes_tree else {})},
            "read_only": {**shared, **({} if rights.writes_tree else tree)},
            "uid": 0 if rights.is_root else HOLDER,
            "outside": 0 if rights.is_root else CHECK_UID,
            "seccomp": base64.b64encode(seccomp.compile_bpf(seccomp.profile(config.held(Init.PLAIN)))).decode(),
            "argv": argv,
            "environment": self._variables(rights),
        }

    def _variables(self, rights: Rights) -> dict[str, str]:
        if not rights.is_root:
            name = _SPEC.username
            return {
                **config.variables(_SPEC),
                "HOME": config.home(_SPEC),
                "USER": name,
                "LOGNAME": name,
                "SHELL": "/bin/bash",
                "PATH": f"{self._root}/bin:{config.PATH}",
                "VIRTUAL_ENV": self._root,
                "PYTHONUNBUFFERED": "1",  # keeps the order of both streams
            }
        own = {"HOME": HOME, "TMPDIR": TEMPORARY, "PYTHONDONTWRITEBYTECODE": "1", **commands.ENVIRONMENT}
        return {**(passed(self._environment) if rights.has_network else {}), **own}

    async def _listen(self, process: asyncio.subprocess.Process) -> list[str]:
        assert process.stdout is not None  # noqa: S101 (it was asked for)
        said: deque[str] = deque(maxlen=EXCERPT)
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than the limit; the reader dropped it
                continue
            if not line:
                return list(said)
            told = line.decode(errors="replace").strip().replace(f"{WORK}/", "")
            if told and not told.startswith(NOT_TOLD):
                said.append(told)
                self._tell.say(told)


def require_current_image(bundle: BundleSpec, image: Image) -> None:
    """Check the current image: a bundle built in it fits only environments with its distribution and Python."""
    needs = bundle.recipe.distribution, f"Python {bundle.recipe.python}"
    for needed, found in zip(needs, (image.system, f"Python {image.python_series}"), strict=True):
        if needed not in (None, found):
            raise EngineError(
                f"the bundle needs {needed}, and the current base image of this node has {found}",
                f"{bundle.slug} {bundle.version}; image {image.version}",
            )


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill it and read its output to the end, because processes of the step keep it open until they end."""
    process.kill()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while process.stdout is not None and await process.stdout.read(LONGEST_LINE):
                pass
    await process.wait()


def passed(environment: Mapping[str, str]) -> dict[str, str]:
    """Without PIP_LOG, whose file a step cannot write."""
    return {
        name: value
        for name, value in environment.items()
        if (name.startswith("PIP_") and name != "PIP_LOG") or name in PASSED
    }


def network_files(environment: Mapping[str, str]) -> dict[str, str]:
    """Path inside → path on the node, for the files that pip needs to find packages as on the node."""
    home = environment.get("HOME", HOME)
    files = {path: path for path in (*NETWORK_FILES, *PIP_FILES)}
    files |= {f"{HOME}/{name}": f"{home}/{name}" for name in PIP_HOME_FILES}
    settings = [files[path] for path in files if path.endswith("pip.conf")]
    named = [environment.get("SSL_CERT_FILE", ""), *pip_values(environment, settings)]
    for value in named:
        for word in (value, *value.split()):
            path = os.path.normpath(word.removeprefix("file://"))
            if path.startswith("/") and path != "/":
                files[path] = path
    return {target: source for target, source in files.items() if Path(source).is_file() or Path(source).is_dir()}


def pip_values(environment: Mapping[str, str], settings: list[str]) -> Iterator[str]:
    """Values that may name paths, from variables and from configuration files."""
    for name in PIP_PATHS:
        yield environment.get("PIP_" + name.upper().replace("-", "_"), "")
    for path in (*settings, environment.get("PIP_CONFIG_FILE", "")):
        parser = configparser.RawConfigParser()
        with contextlib.suppress(configparser.Error, UnicodeDecodeError):  # pip reports the error
            parser.read(path)
        for section in parser.sections():
            for name, value in parser.items(section):
                if name.replace("_", "-") in PIP_PATHS:
                    yield value


_SPEC = EnvironmentSpec(
    allocation_id="check",
    boot=1,
    hostname="check",
    username="check",
    slots=(),
    vcpus=1,
    memory_mib=1024,
    simulated=True,
    keys=KeySet(generation=0),
)
"""Accounts, names and variables of a check, the same as in an environment."""
