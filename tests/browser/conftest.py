"""One whole platform and one Chromium for each test process; for everybody in a story a browser of their own."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest
from playwright.async_api import Browser, expect

from gpuaas.api.console import FOLDER as BUILT
from gpuaas.core.embedded import Embedded
from tests.browser.chromium import MISSING, executable, quiet_chromium
from tests.browser.people import DESK, PASSWORD, Person, person
from tests.e2e.stack import Stack, stack

KEPT = Path(__file__).parent.parent.parent / ".cache" / "browser"
PATIENCE_MS = 60_000
TRACED = bool(os.environ.get("GPUAAS_TRACE"))  # a trace shows every step of a failed story and doubles its time
FAILED = pytest.StashKey[bool]()
Arrive = Callable[..., Awaitable[Person]]

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
async def platform() -> AsyncIterator[Stack]:
    if executable() is None:
        pytest.skip(MISSING)
    if not (BUILT / "index.html").exists():
        pytest.fail("the console is not built: make console")
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-browser-"))
    folder.chmod(0o711)  # people's environments are reached through it
    async with stack(folder) as made:
        await made.up()
        yield made


@pytest.fixture(scope="session")
async def browser(platform: Stack) -> AsyncIterator[Browser]:
    async with quiet_chromium(platform.port) as made:
        yield made


@pytest.fixture
async def up(platform: Stack) -> Stack:
    """Nobody is kept waiting for what an earlier story tried; the limits have tests of their own."""
    connection = await asyncpg.connect(await Embedded(platform.data / "postgres").start())
    try:
        await connection.execute("set role gpuaas_worker")
        await connection.execute("delete from rate_limits")
        await connection.execute("delete from attempt_delays")
    finally:
        await connection.close()
    return platform


@pytest.fixture
async def arrive(up: Stack, browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Arrive]:
    """`await arrive("ada")`: somebody with a new browser. What a story leaves is kept if it fails, else put away."""
    async with AsyncExitStack() as leaving:
        present: list[Person] = []

        async def arrive(name: str, *, size: tuple[int, int] = DESK, role: str = "") -> Person:
            home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=up.folder))
            known = up.user(role) if role else None
            email = known.email if known else f"{home.name}@example.com".lower()
            password = known.password if known else PASSWORD
            entering = person(browser, up.file.url, home, email=email, password=password, size=size)
            made = await leaving.enter_async_context(entering)
            made.page.set_default_timeout(PATIENCE_MS)
            if TRACED:
                await made.context.tracing.start(snapshots=True)
            present.append(made)
            return made

        yield arrive
        has_failed = request.node.stash.get(FAILED, False)
        for each in present:
            if has_failed:
                await keep(each, KEPT / request.node.name)
        for each in present:
            await each.leave_nothing()
    assert not (said := [words for each in present for words in each.watch.complaints]), said


async def keep(person: Person, folder: Path) -> None:
    """What they saw last, what they typed before, and what the page said."""
    name = person.home.name.rpartition("-")[0]
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir(parents=True)
    if TRACED:
        await person.context.tracing.stop(path=folder / name / "trace.zip")
    await person.page.screenshot(path=folder / name / "last.png")
    (folder / name / "complaints.txt").write_text("\n".join(person.watch.complaints))
