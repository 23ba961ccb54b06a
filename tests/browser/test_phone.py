"""The same work with a thumb on a phone."""

from playwright.async_api import Page, expect

from tests.browser import deeds
from tests.browser.conftest import Arrive
from tests.browser.people import PHONE


async def test_on_a_phone_a_machine_is_launched_looked_at_and_given_back(arrive: Arrive) -> None:
    ada = await arrive("ada", size=PHONE)
    await ada.sign_up()
    await ada.add_key()
    page = ada.page
    await page.goto("/")
    await page.get_by_role("button", name="Launch a machine").first.tap()
    await fits(page)
    await page.get_by_role("button", name="Skip to review").tap()
    await fits(page)
    await page.get_by_role("textbox", name="Name", exact=True).fill("pocket")
    await page.get_by_role("button", name="Launch", exact=True).tap()
    await expect(page.get_by_role("heading", name="pocket", level=1)).to_be_visible()
    await deeds.until_status(page, "Active")
    await fits(page)
    await deeds.act(page, "pocket", "Release")
    await deeds.until_status(page, "Released")
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await fits(page)


async def fits(page: Page) -> None:
    """Nothing is cut off at the side, and nobody has to scroll there."""
    wide: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{page.url} is {wide} px too wide"
