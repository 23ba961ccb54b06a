"""Everybody can use every page: axe finds nothing on any of them, in light and in dark."""

import random
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser import axe
from tests.browser.conftest import PATIENCE_MS
from tests.browser.people import Person, person
from tests.browser.places import OPERATOR, PLACES, USER, VISITOR, patterns
from tests.browser.scenery import furnish
from tests.e2e.stack import Stack

COLOURS = ("light", "dark")
KEEP_COLOURS = "(colours) => localStorage.setItem('gpuaas-colours', colours)"
FOLLOW = """(address) => {
    for (const each of document.querySelectorAll("h1")) each.dataset.seen = "";
    history.pushState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
FIRST_PAGE = "Machines"  # which several addresses lead to
LOADING = re.compile(r"^\s*Loading ")


@pytest.fixture(scope="module")
async def lookers(platform: Stack, browser: Browser) -> AsyncIterator[dict[str, Person]]:
    """A visitor, somebody with one of everything, and an operator; each looks at many pages."""
    async with AsyncExitStack() as leaving:
        made: dict[str, Person] = {}
        for role in (VISITOR, USER, OPERATOR):
            known = platform.user("admin" if role == OPERATOR else "user")
            home = Path(tempfile.mkdtemp(prefix=f"{role}-", dir=platform.folder))
            entering = person(browser, platform.file.url, home, email=known.email, password=known.password)
            made[role] = await leaving.enter_async_context(entering)
            await axe.bring(made[role].context)
            made[role].page.set_default_timeout(PATIENCE_MS)
            await made[role].page.goto("/login")  # where colours can be chosen for the first page
            if role != VISITOR:
                await made[role].sign_in()
        yield made
        await made[USER].leave_nothing()


@pytest.fixture(scope="module")
async def things(lookers: dict[str, Person]) -> dict[str, str]:
    """What addresses are made of."""
    return await furnish(lookers[USER])


async def settled(page: Page) -> None:
    """Everything that was asked for is there, or said to be missing."""
    await expect(page.get_by_role("heading", level=1).first).to_be_visible()
    await expect(page.get_by_text(LOADING)).to_have_count(0)


async def go(page: Page, address: str, colours: str) -> None:
    """As by a link of the page, where there is a heading to tell the next page by; by its address otherwise."""
    is_first = await page.get_by_role("heading", name=FIRST_PAGE, level=1).count()
    if "/login" in page.url or "/login" in address or is_first:
        await page.evaluate(KEEP_COLOURS, colours)
        await page.goto(address)
    else:
        await page.evaluate(FOLLOW, address)
        await expect(page.locator("h1:not([data-seen])").first).to_be_visible()
    await settled(page)
    if await page.evaluate("document.documentElement.style.colorScheme") != colours:
        await recolour(page)


async def recolour(page: Page) -> str:
    """As a person does, where there is a button for it; what it was before."""
    before: str = await page.evaluate("document.documentElement.style.colorScheme")
    button = page.get_by_role("button", name=re.compile("Use (light|dark) colours"))
    if await button.count():
        await button.click()
    else:
        other = COLOURS[before == COLOURS[0]]
        await page.evaluate(KEEP_COLOURS, other)
        await page.reload()
        await settled(page)
    return before


@pytest.mark.parametrize("pattern", patterns())
async def test_no_page_shuts_anybody_out(lookers: dict[str, Person], things: dict[str, str], pattern: str) -> None:
    """A sample that is the same in every run: of each page one address, in one of the colours."""
    assert pattern in PLACES, f"a new page: say in places.py how to get to {pattern}"
    who, addresses = PLACES[pattern]
    chance, page = random.Random(pattern), lookers[who].page
    address, colours = chance.choice(addresses).format(**things), chance.choice(COLOURS)
    await go(page, address, colours)
    assert await page.get_by_role("tab").count() <= len(addresses), "a new tab: say so in places.py"
    assert await page.evaluate("document.documentElement.style.colorScheme") == colours
    wrong = await axe.violations(page)
    assert not wrong, "\n".join([f"{address} in {colours}:", *wrong])
    assert lookers[who].watch.complaints == []


@pytest.mark.soak
@pytest.mark.parametrize("pattern", patterns())
async def test_no_address_in_any_colours_shuts_anybody_out(
    lookers: dict[str, Person], things: dict[str, str], pattern: str
) -> None:
    assert pattern in PLACES, f"a new page: say in places.py how to get to {pattern}"
    who, addresses = PLACES[pattern]
    page = lookers[who].page
    visited = [each.format(**things) for each in addresses]
    wrong: list[str] = []
    for address in visited:
        await page.goto(address)
        await settled(page)
        assert await page.get_by_role("tab").count() <= len(visited), "a new tab: say so in places.py"
        seen: set[str] = set()
        for _ in COLOURS:
            found = await axe.violations(page, *(axe.BY_COLOUR if seen else ()))
            colours = await recolour(page)
            wrong += [f"{address} in {colours}: {each}" for each in found]
            seen.add(colours)
        assert seen == set(COLOURS)
    assert not wrong, "\n".join(wrong)
    assert lookers[who].watch.complaints == []


def test_every_way_leads_to_a_page_that_is_there() -> None:
    assert set(PLACES) <= set(patterns())


async def test_a_planted_button_without_a_name_is_found(lookers: dict[str, Person]) -> None:
    page = lookers[VISITOR].page
    await page.goto("/login")
    await settled(page)
    await page.evaluate("() => document.querySelector('main').append(document.createElement('button'))")
    found = await axe.violations(page)
    assert [each for each in found if each.startswith("button-name:")]


async def test_planted_text_in_the_colour_of_its_ground_is_found(lookers: dict[str, Person]) -> None:
    page = lookers[VISITOR].page
    await page.goto("/login")
    await settled(page)
    await page.evaluate(
        """() => { const pale = document.createElement('p'); pale.textContent = 'hardly readable';
        pale.style = 'color: #777; background: #888'; document.querySelector('main').append(pale) }"""
    )
    found = await axe.violations(page, *axe.BY_COLOUR)
    assert [each for each in found if each.startswith("color-contrast:")]
