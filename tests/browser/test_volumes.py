"""Data that outlives the machine it was made with."""

import os

import pytest
from playwright.async_api import expect

from tests.browser import deeds
from tests.browser.conftest import Arrive

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="volumes are attached live only where the agent is root")


async def test_a_volume_made_in_the_wizard_is_found_again_after_its_machine(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.add_key()
    page, project = ada.page, await ada.project_id()
    await page.goto(f"/projects/{project}/launch/storage")
    await page.get_by_role("button", name="Make a new volume").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("results")
    await page.reload()  # what was typed is still there
    await expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("results")
    await page.get_by_role("button", name="Skip to review").click()
    await deeds.name_and_launch(page, "writer")
    await deeds.until_status(page, "Active")
    command = await deeds.copied(page, "the SSH command")
    await deeds.trust(ada, await deeds.copied(page, "the known_hosts line"))
    await page.get_by_role("tab", name="Storage").click()
    await expect(
        page.get_by_role("listitem").filter(has_text="/data").get_by_text("Attached", exact=True)
    ).to_be_visible()
    assert (await ada.shell(f"{command} 'echo precious > /data/result'")).code == 0
    await deeds.act(page, "writer", "Release")
    await deeds.until_status(page, "Released")
    await page.get_by_role("link", name="Volumes").first.click()
    await page.get_by_role("link", name="results").click()
    await expect(page.get_by_role("heading", name="results", level=1)).to_be_visible()
    volume = page.url.rpartition("/")[2]
    reader = await ada.machine("reader", storage_attachments=[{"volume_id": volume, "mount_path": "/data"}])
    await expect(page.get_by_role("row", name="reader").get_by_text("Attached")).to_be_visible()
    await deeds.trust(ada, reader["connection"]["known_hosts"])
    assert (await ada.shell(f"{reader['connection']['command']} cat /data/result")).out.strip() == "precious"
