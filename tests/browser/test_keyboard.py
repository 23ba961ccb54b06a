"""The same work without a mouse."""

import re

from playwright.async_api import Page, expect

from tests.browser import deeds
from tests.browser.conftest import Arrive

MOST_TABS = 120


async def test_without_a_mouse_a_machine_is_launched_and_given_back(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.add_key()
    page = ada.page
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await go_to(page, "Launch a machine")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Skip to review")).to_be_visible()
    await go_to(page, "Skip to review")
    await page.keyboard.press("Enter")
    await go_to(page, "Name")
    await page.keyboard.type("by-hand")
    await go_to(page, "Launch")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="by-hand", level=1)).to_be_visible()
    await deeds.until_status(page, "Active")
    await go_to(page, "Actions of by-hand")
    await page.keyboard.press("Enter")
    for _ in ("past restart", "past resize", "past extend"):
        await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Release by-hand?")).to_be_visible()
    await expect(page.get_by_role("dialog").get_by_role("button", name="Release", exact=True)).to_be_enabled()
    await go_to(page, "Release")
    await page.keyboard.press("Enter")
    await deeds.until_status(page, "Released")


FOCUSED = """() => {
    if (document.activeElement === document.body) return { name: "", seen: true };
    const it = document.activeElement, labels = [...(it?.labels ?? [])].map((each) => each.textContent);
    const named = [it?.getAttribute("aria-label"), ...labels, it?.textContent];
    return { name: named.find((each) => each?.trim())?.trim() ?? "", seen: it?.matches(":focus-visible") ?? false };
}"""


async def go_to(page: Page, name: str) -> None:
    """By Tab alone, and the place is always to be seen."""
    passed: list[str] = []
    for _ in range(MOST_TABS):
        await page.keyboard.press("Tab")
        here = await page.evaluate(FOCUSED)
        assert here["seen"], f"nobody sees that {here['name']} has the focus"
        if here["name"] == name:
            return
        passed.append(re.sub(r"\s+", " ", here["name"])[:30])
    raise AssertionError(f"Tab never came to {name}; it passed {passed}")
