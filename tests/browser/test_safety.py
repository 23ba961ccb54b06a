"""What operators do to accounts and allocations: they suspend, limit and break in, and its people see it."""

from playwright.async_api import Page, expect

from tests.browser.conftest import Arrive
from tests.browser.people import Person


async def confirm(page: Page, title: str, verb: str, reason: str = "") -> None:
    dialog = page.get_by_role("dialog", name=title)
    if reason:
        await dialog.get_by_label("Reason").fill(reason)
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_be_hidden()


async def test_a_suspension_says_what_happens_is_seen_and_is_undone(arrive: Arrive) -> None:
    ada, root = await arrive("ada"), await arrive("root", role="admin")
    await ada.sign_up()
    await root.sign_in()
    project, page = await ada.project_id(), root.page
    me = await ada.get("/me")
    await ada.page.goto(f"/projects/{project}/volumes")
    await page.goto(f"/platform/accounts/projects?search={project}")
    await page.get_by_role("table").get_by_role("link").first.click()
    await page.get_by_role("button", name="Suspend").click()
    dialog = page.get_by_role("dialog", name="Suspend")
    await expect(dialog.get_by_text("Allocations keep running")).to_be_visible()
    await dialog.get_by_role("button", name="Suspend", exact=True).click()
    await expect(dialog.get_by_text("Say why")).to_be_visible()  # without a reason nothing happens
    try:
        await confirm(page, "Suspend", "Suspend", "unpaid since May")
        await expect(page.get_by_text("This project is suspended")).to_be_visible()
        await expect(ada.page.get_by_text("An operator suspended the project")).to_be_visible()
        await expect(ada.page.get_by_text("Reason: unpaid since May. Allocations keep running")).to_be_visible()
        await page.get_by_role("button", name="Resume").click()
        await confirm(page, "Resume", "Resume")
        await expect(ada.page.get_by_text("An operator suspended the project")).to_be_hidden()

        await page.goto(f"/platform/accounts/users/{me['user']['id']}")
        await page.get_by_role("button", name="Suspend").click()
        await confirm(page, "Suspend", "Suspend", "stolen laptop")
        await expect(ada.page.get_by_role("heading", name="Your account is suspended")).to_be_visible()
        await expect(ada.page.get_by_text("stolen laptop")).to_be_visible()
        await page.get_by_role("button", name="Resume").click()
        await confirm(page, "Resume", "Resume")
        await ada.page.get_by_role("button", name="Check again").click()
        await expect(ada.page.get_by_role("heading", name="Volumes", level=1)).to_be_visible()
    finally:
        for kind, id in (("projects", project), ("users", me["user"]["id"])):
            await root.post(f"/admin/{kind}/{id}/unsuspend")
    await the_log_tells(root.page, project, "project.suspend")
    await ada.page.goto(f"/tenants/{me['projects'][0]['tenant_id']}/audit?target={project}")
    await expect(ada.page.get_by_text("project.suspend", exact=True)).to_be_visible()


async def the_log_tells(page: Page, target: str, action: str) -> None:
    await page.goto("/platform/audit")
    await expect(page.get_by_text("Verified", exact=True)).to_be_visible()
    await page.get_by_label("Target id").fill(target)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(action, exact=True)).to_be_visible()
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Export the whole log").click()
    lines = (await (await download.value).path()).read_text().splitlines()
    assert '"kind":"key"' in lines[0]
    assert any(action in line for line in lines)


async def test_the_people_of_an_allocation_see_break_glass_access_and_end_it(arrive: Arrive) -> None:
    ada, root = await arrive("ada"), await arrive("root", role="admin")
    await ada.sign_up()
    await root.sign_in()
    machine, page = await ada.machine("watched"), ada.page
    await page.goto(f"/projects/{await ada.project_id()}/allocations/{machine['id']}")
    await expect(page.get_by_role("heading", name="watched", level=1)).to_be_visible()
    await break_in(root, machine["id"])
    alert = page.get_by_text("An operator has access to this allocation")
    await expect(alert).to_be_visible()
    await expect(page.get_by_text("Reason: ticket 4711")).to_be_visible()
    await expect(page.get_by_text(root.email).first).to_be_visible()
    await page.get_by_role("button", name="End the access").click()
    await confirm(page, "End the operator's access?", "End the access")
    await expect(alert).to_be_hidden()
    (access,) = (await ada.get(f"/allocations/{machine['id']}/break-glass"))["items"]
    assert access["ended_by"] == (await ada.get("/me"))["user"]["id"]


async def break_in(operator: Person, allocation_id: str) -> None:
    body = {"reason": "ticket 4711: fan alarm", "minutes": 30}
    await operator.post(f"/admin/allocations/{allocation_id}/break-glass", body)
