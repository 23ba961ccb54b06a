"""What cannot be had: no room for a machine of that size, and what would fit instead."""

from playwright.async_api import expect

from tests.browser import deeds
from tests.browser.conftest import Arrive


async def test_a_refusal_says_why_and_a_button_takes_what_would_fit(arrive: Arrive) -> None:
    ada, bob = await arrive("ada"), await arrive("bob")
    await ada.sign_up()
    await ada.add_key()
    await bob.sign_up()
    await bob.machine("here-first", gpu_count=4)  # so that the node is short, and not Ada's quota
    page = ada.page
    await page.goto(f"/projects/{await ada.project_id()}/launch")
    await page.get_by_role("radio", name="8 GPUs").click()
    await page.get_by_role("button", name="Skip to review").click()
    await expect(page.get_by_text("This would fit now:")).to_be_visible()
    await deeds.name_and_launch(page, "smaller")
    await expect(page.get_by_text("sku_unavailable")).to_have_count(0)
    await page.get_by_role("button", name="4 GPUs").first.click()
    await page.get_by_role("button", name="Launch", exact=True).click()
    await expect(page.get_by_role("heading", name="smaller", level=1)).to_be_visible()
    await deeds.until_status(page, "Active")
