"""Each extra, installed by pip into a clean environment and used as a person uses it. No package index is asked."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.main.demo import REGION, Demo
from tests.e2e.stack import free_port
from tests.packaging.wheelhouse import clean, fill, install
from tests.patience import PATIENCE_SECONDS
from tests.world import database

FEW = 20  # distributions of the base, our own included
SCRIPT = """
import sys
from gpuaas.sdk import Client
url, email, password = sys.argv[1:]
with Client(url) as client:
    token = client.auth.sign_up(email, password).access_token
with Client(url, token) as client:
    print(client.auth.me().user.email, [key.id for key in client.ssh_keys.list()])
"""


class Environments:
    """Clean environments by extra, each installed once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._wheels = folder, folder / "wheels"
        self._wheels.mkdir()
        self._ours = fill(self._wheels)

    def with_extra(self, extra: str) -> Path:
        """Its folder of programs."""
        environment = self._folder / (extra or "base")
        if not environment.exists():
            install(environment, self._wheels, self._ours, extra)
        return environment / "bin"


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    return Environments(tmp_path_factory.mktemp("installs"))


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The variables of a person who has never run the CLI."""
    return {**clean(), "HOME": str(tmp_path), "GPUAAS_CONFIG": str(tmp_path / "config.toml"), "NO_COLOR": "1"}


def run(*words: object, environ: Mapping[str, str], code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*map(str, words)], env=dict(environ), capture_output=True, text=True, check=False, input=stdin, cwd="/"
    )
    assert done.returncode == code, f"{words} → {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@asynccontextmanager
async def running(*words: object, environ: Mapping[str, str], log: Path) -> AsyncIterator[None]:
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(*map(str, words), env=environ, stdout=out, stderr=out, cwd="/")
        try:
            yield
        finally:
            process.terminate()
            await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)


async def until_ready(url: str, log: Path, *, links: int = 0) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), httpx.AsyncClient(base_url=url) as http:
        while True:
            try:
                answer = await http.get("/readyz")
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.is_success and answer.json()["links"] >= links:
                return
            assert "Traceback" not in log.read_text(), log.read_text()
            await asyncio.sleep(0.1)


def test_the_base_is_sdk_and_cli_with_few_dependencies(environments: Environments, home: dict[str, str]) -> None:
    programs = environments.with_extra("")
    installed = {path.name for path in (programs.parent / "lib").glob("python*/site-packages/*.dist-info")}
    assert len(installed) <= FEW, sorted(installed)
    assert "gpuaas allocations create" in run(programs / "gpuaas", "--help", environ=home).stdout
    assert "usage" in run(programs / "gpuaas", "admin", "nodes", "list", "--help", environ=home).stdout.lower()
    without = run(programs / "gpuaas", "up", environ=home, code=1)
    assert "next: pip install 'gpuaas[up]'" in without.stderr
    login = ("login", "--url", f"http://127.0.0.1:{free_port()}", "--email", "ann@example.com", "--password-stdin")
    assert "does not answer" in run(programs / "gpuaas", *login, environ=home, code=2, stdin="x").stderr


async def test_a_server_and_a_node_serve_the_sdk_each_from_an_environment_of_its_own(
    environments: Environments, home: dict[str, str], tmp_path: Path
) -> None:
    base, server, node = (environments.with_extra(extra) for extra in ("", "server", "node"))
    url, log, folder = f"http://127.0.0.1:{(port := free_port())}", tmp_path / "server.log", tmp_path / "agent"
    async with database() as dsn:
        words = (server / "gpuaas", "server", "--data", tmp_path / "server", "--port", port)
        async with running(*words, environ={**home, "GPUAAS_DSN": dsn}, log=log):
            await until_ready(url, log)
            password = "a long password for one test"
            said = await asyncio.to_thread(
                run, base / "python", "-P", "-c", SCRIPT, url, "ann@example.com", password, environ=home
            )
            assert said.stdout == "ann@example.com []\n"
            login = (base / "gpuaas", "login", "--url", url, "--email", "ann@example.com", "--password-stdin")
            await asyncio.to_thread(run, *login, environ=home, stdin=password)
            assert "ann@example.com" in (await asyncio.to_thread(run, base / "gpuaas", "whoami", environ=home)).stdout
            token = await enrolment_token(dsn)
            enrol = ("agent", "enrol", "--server", url, "--token", token, "--folder", folder, "--engine", "fake")
            await asyncio.to_thread(run, node / "gpuaas", *enrol, environ=home)
            agent = (node / "gpuaas", "agent", "--folder", folder, "--engine", "fake")
            async with running(*agent, environ=home, log=(agent_log := tmp_path / "agent.log")):
                await until_ready(url, agent_log, links=1)


async def enrolment_token(dsn: str) -> str:
    clock = SystemClock()
    db = await connect(dsn, DbRole.WORKER, hints=Hints("test"), size=1)
    try:
        async with db.write() as tx:
            await tx.run("insert into regions (name) values ($1) on conflict do nothing", REGION)
        return await Demo(db, Ids(clock), clock.now()).enrolment_token()
    finally:
        await db.close()


async def test_everything_runs_with_its_own_postgresql_from_one_environment(
    environments: Environments, home: dict[str, str], tmp_path: Path
) -> None:
    up, base = environments.with_extra("up"), environments.with_extra("")
    url, log = f"http://127.0.0.1:{(port := free_port())}", tmp_path / "up.log"
    words = (up / "gpuaas", "up", "--data", tmp_path / "data", "--port", port, "--engine", "fake")
    async with running(*words, environ={**home, "GPUAAS_SPARES": "0"}, log=log):
        await until_ready(url, log, links=1)
        login = (base / "gpuaas", "login", "--url", url, "--email", "dev-user@example.com", "--password-stdin")
        wrong = await asyncio.to_thread(run, *login, environ=home, stdin="wrong", code=3)
        assert "Traceback" not in wrong.stderr
    assert not (tmp_path / "data/postgres/data/postmaster.pid").exists()
