"""Quotas and invariants in the console: shown before a launch is refused, and to operators."""

from playwright.async_api import expect

from tests.browser.conftest import Arrive


async def test_a_launch_over_the_quota_says_so_before_it_is_sent(arrive: Arrive) -> None:
    ada, root = await arrive("ada"), await arrive("root", role="admin")
    await ada.sign_up()
    await ada.add_key()
    await root.sign_in()
    project, page = await ada.project_id(), ada.page
    await root.page.goto(f"/platform/accounts/projects/{project}")
    await root.page.get_by_role("button", name="Change limits").click()
    dialog = root.page.get_by_role("dialog", name="Change limits")
    await dialog.get_by_label("GPUs").fill("2")
    await dialog.get_by_role("button", name="Change", exact=True).click()
    await expect(dialog).to_be_hidden()
    await page.goto(f"/projects/{project}/launch")
    await expect(page.get_by_text("GPUs 2 of 2")).to_be_visible()  # what remains
    await page.get_by_role("radio", name="4 GPUs").click()
    await page.get_by_role("button", name="Skip to review").click()
    await expect(page.get_by_text("GPUs: this needs 4, and 2 of 2 remain.")).to_be_visible()
    await page.get_by_role("link", name="Quota of this project").click()
    await expect(page.get_by_role("row", name="GPUs 2 0 2")).to_be_visible()

    page = root.page
    await page.goto("/platform/invariants")
    await expect(page.get_by_text("No violations.")).to_be_visible()
    await page.get_by_role("link", name="Operation history").click()
    await expect(page.get_by_role("heading", name="Operation history", level=1)).to_be_visible()
    node = (await root.get("/admin/nodes"))["items"][0]["name"]
    await expect(page.get_by_role("row", name=node).first).to_be_visible()
