"""People of a project: asked in, given a role, shut out, gone; and what is written down of it."""

import csv
import json
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.conftest import Arrive
from tests.browser.people import Person


async def test_a_project_is_made_joined_looked_on_at_and_left(arrive: Arrive) -> None:
    ada, bob = await arrive("ada"), await arrive("bob")
    await ada.sign_up()
    await bob.sign_up()
    project = await create_project(ada, "vision")
    machine = await ada.machine("eyes", project_id=project)
    await ada.page.get_by_role("link", name="Members", exact=True).click()
    first = await invite(ada.page, bob.email)
    second = await invite(ada.page, bob.email)
    await refuse(bob, first)
    await accept(bob, second)
    await make_viewer(ada.page, bob.email)
    await look_on(bob, machine)
    await leave(bob)
    await read_what_was_written(ada, project, bob.email)
    await sign_out_of_every_tab(ada)


async def create_project(ada: Person, name: str) -> str:
    page = ada.page
    await page.goto("/")
    await page.get_by_role("button", name="Project ").click()
    await page.get_by_role("menuitem", name="Create a project").click()
    dialog = page.get_by_role("dialog", name="Create a project")
    await dialog.get_by_label("Name").fill("Not a name")
    await expect(dialog.get_by_text("such as vision-2")).to_be_visible()
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_role("button", name="Create", exact=True).click()
    await expect(page.get_by_role("button", name=f"Project {name}")).to_be_visible()
    made = next(each for each in (await ada.get("/me"))["projects"] if each["slug"] == name)
    assert f"/projects/{made['id']}/" in page.url
    return str(made["id"])


async def invite(page: Page, email: str) -> str:
    """The link to pass on."""
    await page.get_by_role("button", name="Invite", exact=True).click()
    dialog = page.get_by_role("dialog", name="Invite somebody")
    await dialog.get_by_label("E-mail").fill(email)
    await dialog.get_by_role("button", name="Invite", exact=True).click()
    shown = page.get_by_role("dialog", name=f"Invitation for {email}")
    link = await shown.get_by_text("/invitations/accept#").inner_text()
    await shown.get_by_role("button", name="I have copied it").click()
    await expect(page.get_by_role("button", name=f"Withdraw the invitation of {email}")).to_be_visible()
    return link


def address_of(link: str) -> str:
    """On the server of this test, whose public address is another."""
    return link[link.index("/invitations/") :]


async def refuse(bob: Person, link: str) -> None:
    """A newer link ends an older one."""
    await bob.page.goto(address_of(link))
    await bob.page.get_by_role("button", name="Join the project").click()
    await expect(bob.page.get_by_text("Ask for a new link")).to_be_visible()


async def accept(bob: Person, link: str) -> None:
    page = bob.page
    await page.goto("/account/access")
    await page.goto(address_of(link))
    await page.get_by_role("button", name="Join the project").click()
    await expect(page.get_by_text("You are in vision now")).to_be_visible()
    await expect(page.get_by_role("link", name="eyes", exact=True)).to_be_visible()


async def make_viewer(page: Page, email: str) -> None:
    await page.reload()
    await page.get_by_role("button", name=f"Change role of {email}").click()
    dialog = page.get_by_role("dialog", name=f"Role of {email}")
    await dialog.get_by_role("radio", name="Viewer").click()
    await expect(dialog.get_by_text("Open connections close at once")).to_be_visible()
    await dialog.get_by_role("button", name="Change", exact=True).click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("row", name=email).get_by_text("Viewer", exact=True)).to_be_visible()


async def look_on(bob: Person, machine: dict[str, Any]) -> None:
    """Told why instead of being refused, and refused all the same."""
    page = bob.page
    await page.reload()
    await expect(page.get_by_role("button", name="Launch a machine")).to_be_disabled()
    await page.get_by_role("link", name="eyes", exact=True).click()
    await expect(page.get_by_role("button", name="Open terminal")).to_be_disabled()
    await page.get_by_role("tab", name="SSH access").click()
    await expect(page.get_by_text("The machine admits exactly these")).to_be_visible()
    for words in ("Share", "Ask for access", "Hand over", "Change keys"):
        await expect(page.get_by_role("button", name=words, exact=True)).to_have_count(0)
    await page.goto(f"/projects/{machine['project_id']}/launch")
    await expect(page.get_by_text("Viewers launch nothing")).to_be_visible()
    here, myself = f"/api/v1/allocations/{machine['id']}", (await bob.get("/me"))["user"]["id"]
    for path, body in (("access-grants", {"user_id": myself}), ("terminal-token", {})):
        assert (await bob.http.post(f"{here}/{path}", json=body)).status_code == 403, path


async def leave(bob: Person) -> None:
    page = bob.page
    await page.get_by_role("link", name="Members", exact=True).click()
    await page.get_by_role("button", name="Leave", exact=True).click()
    dialog = page.get_by_role("dialog", name="Leave the project?")
    await dialog.get_by_role("button", name="Leave", exact=True).click()
    await expect(page.get_by_role("heading", name="Your access", level=1)).to_be_visible()
    await expect(page.get_by_text("vision", exact=True)).to_have_count(0)
    assert "vision" not in {each["slug"] for each in (await bob.get("/me"))["projects"]}


async def read_what_was_written(ada: Person, project: str, email: str) -> None:
    """Each kind of file holds every row."""
    page, wanted = ada.page, await ada.get(f"/projects/{project}/audit", limit="200")
    await page.get_by_role("link", name="Audit log", exact=True).click()
    rows = [json.loads(line) for line in (await exported(page, "JSON lines")).read_text().splitlines()]
    assert rows == wanted["items"]
    assert {"member.invite", "member.join", "member.change", "member.leave"} <= {row["action"] for row in rows}
    with (await exported(page, "CSV")).open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [(row["correlation_id"], json.loads(row["facts"])) for row in table] == [
        (row["correlation_id"], row["facts"]) for row in rows
    ]
    assert email in {row["actor_name"] for row in table}


async def exported(page: Page, kind: str) -> Path:
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as saving:
        await page.get_by_role("menuitem", name=kind).click()
    return await (await saving.value).path()


async def sign_out_of_every_tab(ada: Person) -> None:
    other = await ada.another_page()
    await other.goto("/account/ssh-keys")
    await expect(other.get_by_role("heading", name="SSH keys", level=1)).to_be_visible()
    await other.get_by_role("button", name=f"Account {ada.email}").click()
    await other.get_by_role("menuitem", name="Sign out").click()
    for page in (other, ada.page):
        await expect(page.get_by_text("You are signed out.")).to_be_visible()
    await ada.page.go_back()
    await expect(ada.page.get_by_label("Password")).to_be_visible()
