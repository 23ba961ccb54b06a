"""Pictures for the documentation, of a real platform in use: `.venv/bin/python -m tests.browser.pictures`."""

import asyncio
import base64
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.chromium import quiet_chromium
from tests.browser.people import DESK, PHONE, Person, person
from tests.browser.scenery import furnish
from tests.e2e.stack import Stack, stack

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"
MOST_BYTES = 80_000
QUALITIES = range(90, 20, -10)
PATIENCE_MS = 60_000
COLOURS = ("light", "dark")
SIZES = {"desk": DESK, "phone": PHONE}
Prepare = Callable[[Page], Awaitable[None]]


async def as_it_is(page: Page) -> None:
    """Nothing has to be done first."""


async def in_a_terminal(page: Page) -> None:
    await page.get_by_role("button", name="Open terminal").click()
    await expect(page.get_by_text("Connected to fine-tune")).to_be_visible()
    terminal = page.get_by_role("textbox", name=re.compile("Terminal on"))
    await terminal.press_sequentially("hostname; echo $GPUAAS_SLOTS; df -h /data")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Mounted on")).to_be_visible()


@dataclass(frozen=True, kw_only=True)
class Picture:
    address: str
    shows: str  # words that are there once it is ready
    role: str = "user"
    prepare: Prepare = as_it_is


MACHINE = "/projects/{project}/allocations/{machine}"
ALL = {
    "login": Picture(address="/login", shows="Password", role=""),
    "list": Picture(address="/projects/{project}/allocations", shows="fine-tune"),
    "machine": Picture(address=MACHINE, shows="SSH command"),
    "activity": Picture(address=f"{MACHINE}/activity", shows="Timeline"),
    "launch-compute": Picture(address="/projects/{project}/launch", shows="GPUs in each machine"),
    "launch-review": Picture(address="/projects/{project}/launch/review", shows="Fits, in"),
    "terminal": Picture(address=MACHINE, shows="SSH command", prepare=in_a_terminal),
    "platform": Picture(address="/platform", shows="sim-h200", role="admin"),
}


async def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    expect.set_options(timeout=PATIENCE_MS)
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-pictures-"))
    folder.chmod(0o711)
    async with stack(folder) as up:
        await up.up()
        async with quiet_chromium(up.port, "--force-color-profile=srgb") as browser:
            things = await furnished(browser, up)
            for colours in COLOURS:
                for size, pixels in SIZES.items():
                    for role in ("", "user", "admin"):
                        async with sitter(browser, up, role, pixels, colours) as page:
                            for name, picture in ALL.items():
                                if picture.role == role:
                                    await sit(page, picture, things)
                                    await take(page, PICTURES / f"{name}-{size}-{colours}.webp")


async def furnished(browser: Browser, up: Stack) -> dict[str, str]:
    """A project in which somebody works."""
    known = up.user("user")
    entering = person(browser, up.file.url, up.folder / "furnisher", email=known.email, password=known.password)
    async with entering as somebody:
        await somebody.sign_in()
        things = await furnish(somebody)
        for name in ("notebook", "evaluation"):
            await somebody.machine(name)
        await give_back(somebody, "old-run")
        return things


async def give_back(somebody: Person, name: str) -> None:
    machine = await somebody.machine(name)
    await somebody.post(f"/allocations/{machine['id']}/release")


async def sit(page: Page, picture: Picture, things: dict[str, str]) -> None:
    await page.goto(picture.address.format(**things))
    await expect(page.get_by_text(picture.shows).first).to_be_visible()
    await picture.prepare(page)
    await expect(page.get_by_text(re.compile(r"^\s*Loading "))).to_have_count(0)
    await page.evaluate("document.fonts.ready")


@asynccontextmanager
async def sitter(browser: Browser, up: Stack, role: str, size: tuple[int, int], colours: str) -> AsyncIterator[Page]:
    """Somebody whose screen is that large and who likes those colours."""
    known = up.user(role or "user")
    home = Path(tempfile.mkdtemp(dir=up.folder))
    entering = person(browser, up.file.url, home, email=known.email, password=known.password, size=size)
    async with entering as somebody:
        somebody.page.set_default_timeout(PATIENCE_MS)
        await somebody.context.add_init_script(f"localStorage.setItem('gpuaas-colours', '{colours}')")
        if role:
            await somebody.sign_in()
        yield somebody.page


async def take(page: Page, path: Path) -> None:
    """As good as fits: the documentation is read over slow lines too."""
    session = await page.context.new_cdp_session(page)
    for quality in QUALITIES:
        shot = await session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        body = base64.b64decode(shot["data"])
        if len(body) <= MOST_BYTES:
            path.write_bytes(body)
            print(f"{path.name:<32} {len(body):>7,} bytes at quality {quality}", flush=True)
            return
    raise AssertionError(f"{path.name} is larger than {MOST_BYTES:,} bytes however it is packed")


if __name__ == "__main__":
    asyncio.run(main())
