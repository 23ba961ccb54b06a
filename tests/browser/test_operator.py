"""An operator takes a node out of sale and puts it back."""

import re

from playwright.async_api import Page, expect

from tests.browser.conftest import Arrive


async def test_an_operator_drains_a_node_and_nothing_new_is_placed_there(arrive: Arrive) -> None:
    operator, ada = await arrive("operator", role="admin"), await arrive("ada")
    await operator.sign_in()
    await ada.sign_up()
    await ada.add_key()
    page, node = operator.page, (await operator.get("/admin/nodes"))["items"][0]
    await page.goto("/platform/nodes")
    await page.get_by_role("link", name=node["name"]).click()
    await expect(page.get_by_text(node["image"]["version"])).to_be_visible()
    await expect(page.get_by_text(re.compile(r"\d+ ready, \d+ used, \d+ discarded"))).to_be_visible()
    try:
        await change(page, "Drain", "its fans are loud")
        await expect(page.get_by_text("Draining", exact=True).first).to_be_visible()
        await expect(page.get_by_text("its fans are loud").first).to_be_visible()
        await ada.page.goto(f"/projects/{await ada.project_id()}/launch/review")
        await expect(ada.page.get_by_text("Nothing else is free either.").first).to_be_visible()
    finally:
        await operator.post(f"/admin/nodes/{node['id']}/undrain")
    await expect(page.get_by_text("Draining", exact=True)).to_have_count(0)
    await expect(ada.page.get_by_text("Fits, in local")).to_be_visible()


async def change(page: Page, verb: str, reason: str) -> None:
    await page.get_by_role("button", name="Change", exact=True).click()
    await page.get_by_role("menuitem", name=verb).click()
    dialog = page.get_by_role("dialog", name=verb)
    await dialog.get_by_label("Reason").fill(reason)
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_be_hidden()
