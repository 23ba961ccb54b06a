"""One bundle made from its recipe, in a folder that nobody sees until it is whole.

Wheels only, each by its checksum, so nothing of a package runs while it is installed. The tree is made for the place
where people will find it, and its check runs there: in their root, with their rights, without a network.
"""

import asyncio
import contextlib
import json
import os
import sys
from datetime import datetime

from gpuaas.engines.base import EngineError, Telling
from gpuaas.engines.sandbox import commands, etc, files, manifests, trial
from gpuaas.engines.sandbox.boots import Boots
from gpuaas.engines.sandbox.nursery import INSIDE_UID, SOURCE
from gpuaas.engines.sandbox.site import Site
from gpuaas.wire.environments import EnvironmentSpec, KeySet
from gpuaas.wire.runtimes import INSTALL_ROOT, BundleSpec, StagedBundle

PYTHONS = ("/usr/bin", "/usr/local/bin")  # where people inside find it too
TRIAL_UIDS = (65_533, 65_534)  # nobody's: for pid 1 of a trial, and for the command
STEP_SECONDS = {"venv": 120, "download": 3600, "install": 1800, "compile": 900, "check": 300}
INTERPRETER = os.path.realpath(sys.executable)
EXCERPT = 20  # lines of a failed step that are told
PASSED = ("HOME", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
PIP = (sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-cache-dir")
NOT_TOLD = ("Looking in ", "WARNING: Location ")  # where packages come from is the node's business
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


def find_python(version: str) -> str | None:
    paths = (f"{folder}/python{version}" for folder in PYTHONS)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def pythons() -> list[str]:
    """Versions that bundles can be made for here."""
    return [version for version in (f"3.{minor}" for minor in range(9, 20)) if find_python(version)]


class Staging:
    def __init__(self, site: Site, boots: Boots, bundle: BundleSpec, tell: Telling) -> None:
        self._site, self._boots, self._bundle, self._tell = site, boots, bundle, tell
        self.folder = site.staging / f"{bundle.slug}-{bundle.version}"
        self._shown = self.folder / "runtimes"
        self.tree = self._shown / bundle.slug / bundle.version
        self._root = f"{INSTALL_ROOT}/{bundle.slug}/{bundle.version}"

    async def build(self, now: datetime) -> StagedBundle:
        await self._tell("preparing", f"{self._bundle.slug} {self._bundle.version}")
        await self._prepare()
        await self._tell("downloading", f"{len(self._bundle.recipe.requirements)} packages")
        await self._download()
        await self._tell("installing", self._root)
        await self._install()
        await self._tell("checking", " ".join(self._bundle.recipe.check)[:200])
        health = await self._check()
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
        )
        manifests.record(self.tree, staged)
        await commands.run("sync", "-f", str(self.tree))
        return staged

    async def _prepare(self) -> None:
        python = find_python(self._bundle.recipe.python)
        if python is None:
            found = ", ".join(pythons()) or "none"
            raise EngineError(f"this node has no Python {self._bundle.recipe.python}", f"found: {found}")
        await files.erase(self.folder)
        self.folder.mkdir(mode=0o700)
        for path in (self._shown, self.tree.parent):
            path.mkdir(mode=0o755)
        await self._run("venv", python, "-I", "-m", "venv", "--without-pip", "--symlinks", str(self.tree))
        for name in ("activate", "activate.csh", "activate.fish", "Activate.ps1"):
            (self.tree / "bin" / name).unlink(missing_ok=True)
        text = ACTIVATE.format(slug=self._bundle.slug, version=self._bundle.version, root=self._root)
        (self.tree / "activate.sh").write_text(text)
        (self.tree / "activate.sh").chmod(0o644)

    async def _download(self) -> None:
        lines = (
            f"{each.name}=={each.version} " + " ".join(f"--hash=sha256:{sum}" for sum in each.sha256)
            for each in self._bundle.recipe.requirements
        )
        (self.folder / "requirements.txt").write_text("\n".join(lines) + "\n")
        await self._pip("download", "--only-binary", ":all:", "--dest", str(self.folder / "wheels"))

    async def _install(self) -> None:
        local = ("--no-index", "--find-links", str(self.folder / "wheels"))
        await self._pip("install", *local, "--no-compile", "--no-warn-script-location", "--root-user-action=ignore")
        await files.erase(self.folder / "wheels")
        await asyncio.to_thread(self._move_in)
        compiled = ("-m", "compileall", "-q", "-j", "2", "--invalidation-mode", "unchecked-hash")
        moved = ("-s", str(self.tree), "-p", self._root, str(self.tree / "lib"))
        with contextlib.suppress(EngineError):  # what a package ships may not compile; it is only slower then
            await self._run("compile", str(self.tree / "bin" / "python"), "-I", *compiled, *moved)

    async def _pip(self, verb: str, *arguments: str) -> None:
        target, locked = str(self.tree / "bin" / "python"), str(self.folder / "requirements.txt")
        shared = ("--no-deps", "--require-hashes", "--progress-bar", "off", "-r", locked)
        await self._run(verb, *PIP, "--python", target, verb, *arguments, *shared)

    def _move_in(self) -> None:
        """Programs and settings name the place where they were made; they shall name the one where they will be."""
        here, there = str(self.tree).encode(), self._root.encode()
        for path in (self.tree / "pyvenv.cfg", *(self.tree / "bin").iterdir()):
            if path.is_symlink() or not path.is_file():
                continue
            content = path.read_bytes()
            if here in content:
                path.write_bytes(content.replace(here, there))

    async def _check(self) -> str:
        """The last line of what it said."""
        folder = self.folder / "trial"
        home = folder / "disk" / "home" / "check"
        home.mkdir(mode=0o700, parents=True)
        for name in ("tmp", "var_tmp"):
            (folder / "disk" / name).mkdir()
            (folder / "disk" / name).chmod(0o1777)
        etc.write_own(folder / "etc", _SPEC, uid=INSIDE_UID, gid=INSIDE_UID, address="127.0.1.1")
        pid_1, person = TRIAL_UIDS
        owner = [person, person] if self._site.is_root else []
        if owner:
            os.chown(home, *owner)
        program, *arguments = self._bundle.recipe.check
        ids = f"0 {pid_1} 1\n{INSIDE_UID} {person} 1\n"
        orders = {
            "view": str(self._site.view),
            "folder": str(folder),
            "etc": str(await self._boots.snapshot()),
            "hide": [],
            "uid": INSIDE_UID,
            "owner": owner,
            "maps": {"uid_map": ids, "gid_map": ids} if owner else {},
            "platform": {"runtimes": str(self._shown)},
            "argv": [program if "/" in program else f"{self._root}/bin/{program}", *arguments],
            "environment": {
                **etc.variables(_SPEC, "/home/check"),
                "PATH": f"{self._root}/bin:/usr/bin:/bin",
                "VIRTUAL_ENV": self._root,
                "PYTHONUNBUFFERED": "1",  # what it said last is what is told first
            },
        }
        python = (INTERPRETER, "-S", "-s", "-P", str(trial.__file__), self._site.mark)
        said = await self._run("check", *python, text=json.dumps(orders) + "\n", is_trial=True)
        return (said[-1] if said else "it said nothing, and ended well")[:500]

    async def _run(self, step: str, *argv: str, text: str = "", is_trial: bool = False) -> list[str]:
        """In a process namespace that ends with the agent: nothing of a cut attempt goes on beside the next."""
        flags: tuple[str, ...] = ("--pid", "--fork")
        if is_trial:
            flags = (*self._boots.namespaces, "--net")
        elif not self._site.is_root:
            flags = ("--user", "--map-current-user", *flags)
        with commands.given(text) as stdin:
            process = await asyncio.create_subprocess_exec(
                *("sh", "-c", 'umask 022 && exec "$@"', "sh"),
                *commands.mortal("unshare", *flags, "--kill-child", "--"),
                *argv,
                env=_environment(is_trial=is_trial),
                cwd="/",
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                limit=1 << 20,
            )
        try:
            async with asyncio.timeout(STEP_SECONDS[step]):
                said = await self._listen(process)
                code = await process.wait()
        except TimeoutError as error:
            raise EngineError("staging took too long", f"{step}: {STEP_SECONDS[step]} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if code != 0:
            reason = "its health check failed" if is_trial else f"the bundle could not be made ({step})"
            last = said[-1][:300] if said else f"exit code {code}"
            raise EngineError(f"{reason}: {last}", "\n".join(said[-EXCERPT:]))
        return said

    async def _listen(self, process: asyncio.subprocess.Process) -> list[str]:
        assert process.stdout is not None  # noqa: S101 (it was asked for)
        said = []
        while line := (await process.stdout.readline()).decode(errors="replace"):
            told = line.strip().replace(f"{self.folder}/", "")
            if told and not told.startswith(NOT_TOLD):
                said.append(told)
                self._tell.say(told)
        return said


def _environment(*, is_trial: bool) -> dict[str, str]:
    """The node's own settings of where packages come from, and nothing else of the agent's surroundings."""
    if is_trial:
        return {"PYTHONPATH": str(SOURCE), **commands.ENVIRONMENT}
    passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name in PASSED}
    return {**passed, **commands.ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}


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
