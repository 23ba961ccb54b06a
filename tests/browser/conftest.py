"""One Chromium for each test process; for everybody in a story a profile of their own."""

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
from tests.browser.chromium import MISSING, Way, executable, quiet_chromium
from tests.browser.people import DESK, PASSWORD, Person, in_front_of
from tests.browser.profiles import Profiles
from tests.e2e.stack import Stack

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
def chromium() -> None:
    """Before a platform is started that nobody could look at."""
    if executable() is None:
        pytest.skip(MISSING)
    if not (BUILT / "index.html").exists():
        pytest.fail("the console is not built: make console")


@pytest.fixture(scope="session")
def way() -> Way:
    return Way()


@pytest.fixture(scope="session")
async def browser(chromium: None, platform: Stack, way: Way) -> AsyncIterator[Browser]:
    async with quiet_chromium(platform.port, way=way) as made:
        yield made


@pytest.fixture(scope="session")
def profiles(browser: Browser, platform: Stack) -> Profiles:
    return Profiles(browser, platform.file.url)


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
async def arrive(up: Stack, profiles: Profiles, request: pytest.FixtureRequest) -> AsyncIterator[Arrive]:
    """`await arrive("ada")`: somebody in front of a browser. What a story leaves is kept if it fails, else put away.

    `own=True` is for who changes more of a browser than is put back: its cache, its clock, what listens to it.
    """
    async with AsyncExitStack() as leaving:
        present: list[Person] = []
        lent: dict[Path, tuple[int, int]] = {}

        async def arrive(name: str, *, size: tuple[int, int] = DESK, role: str = "", own: bool = False) -> Person:
            home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=up.folder))
            known = up.user(role) if role else None
            email = known.email if known else f"{home.name}@example.com".lower()
            password = known.password if known else PASSWORD
            is_lent = not (own or TRACED)
            page = await (profiles.take(size) if is_lent else profiles.new(size))
            entering = in_front_of(page, up.file.url, home, email=email, password=password)
            made = await leaving.enter_async_context(entering)
            made.page.set_default_timeout(PATIENCE_MS)
            if TRACED:
                await made.context.tracing.start(snapshots=True)
            present.append(made)
            if is_lent:
                lent[home] = size
            return made

        yield arrive
        has_failed = request.node.stash.get(FAILED, False)
        for each in present:
            if has_failed:
                await keep(each, KEPT / request.node.name)
        said = [words for each in present for words in each.watch.complaints]
        may_lend = not (has_failed or said)
        for each in present:
            if may_lend and each.home in lent:
                each.watch.end(each.page)
                await profiles.give_back(each.page, lent[each.home])
            else:
                await each.context.close()
            await each.leave_nothing()
    assert not said, said


async def keep(person: Person, folder: Path) -> None:
    """What they saw last, what they typed before, and what the page said."""
    name = person.home.name.rpartition("-")[0]
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir(parents=True)
    if TRACED:
        await person.context.tracing.stop(path=folder / name / "trace.zip")
    await person.page.screenshot(path=folder / name / "last.png")
    (folder / name / "complaints.txt").write_text("\n".join(person.watch.complaints))
