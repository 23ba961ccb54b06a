"""The journey: somebody comes, has a machine, works on it, shares it, restarts it, gives it back."""

import re

from playwright.async_api import Page, Route, expect

from tests.browser import deeds
from tests.browser.conftest import Arrive
from tests.browser.people import Person


async def test_from_signing_up_to_giving_the_machine_back(arrive: Arrive) -> None:
    ada, bob = await arrive("ada"), await arrive("bob")
    await deeds.sign_up(ada)
    await launch(ada, "first")
    await enter_by_the_command_shown(ada)
    await read_what_to_do_about_an_old_image(ada.page)
    await use_the_terminal(ada.page)
    await share(ada, bob)
    await restart(ada, bob)
    await release(ada.page)


async def launch(ada: Person, name: str) -> None:
    page = ada.page
    await page.get_by_role("button", name="Launch a machine").first.click()
    await deeds.next_step(page, "Access")
    await deeds.paste_key(page, await ada.make_key())
    await page.get_by_role("button", name="Skip to review").click()
    await deeds.name_and_launch(page, name)
    await expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    await deeds.until_status(page, "Active")


async def enter_by_the_command_shown(ada: Person) -> None:
    command = await deeds.copied(ada.page, "the SSH command")
    await expect(ada.page.get_by_text(command, exact=True)).to_be_visible()
    await deeds.trust(ada, await deeds.copied(ada.page, "the known_hosts line"))
    assert (await ada.shell(f"{command} hostname")).out.strip() == "first"
    assert (await ada.shell(f"{command} 'echo precious > kept'")).code == 0


async def read_what_to_do_about_an_old_image(page: Page) -> None:
    """As if a newer image had become current on the node since."""
    await expect(page.get_by_text("debian-12, Python 3.11")).to_be_visible()
    await expect(page.get_by_text("The base image is outdated")).to_have_count(0)

    async def outdate(route: Route) -> None:
        answer = await route.fetch()
        seen = await answer.json()
        seen["image"] |= {"outdated_since": seen["created_at"], "advice": "Run `sudo apt-get upgrade` inside it."}
        await route.fulfill(response=answer, json=seen)

    here = re.compile(r"/api/v1/allocations/alloc_\w+$")
    await page.route(here, outdate)
    await page.reload()
    await expect(page.get_by_text("The base image is outdated")).to_be_visible()
    await expect(page.get_by_text("sudo apt-get upgrade", exact=True)).to_be_visible()
    await page.unroute(here)
    await page.reload()
    await expect(page.get_by_text("The base image is outdated")).to_have_count(0)


async def use_the_terminal(page: Page) -> None:
    """It echoes, shows the same disk, and is there again after a reload."""
    await page.get_by_role("button", name="Open terminal").click()
    await type_into_terminal(page, "echo seen-$((40 + 2)); cat kept")
    await expect(page.get_by_text("seen-42")).to_be_visible()
    await expect(page.get_by_text("precious", exact=True)).to_be_visible()
    await page.reload()
    await expect(page.get_by_text("Connected to first")).to_be_visible()
    await type_into_terminal(page, "echo still-$((1 + 1))")
    await expect(page.get_by_text("still-2")).to_be_visible()


async def type_into_terminal(page: Page, line: str) -> None:
    await expect(page.get_by_text("Connected to first")).to_be_visible()
    await page.get_by_role("textbox", name=re.compile("Terminal on")).press_sequentially(line)
    await page.keyboard.press("Enter")


async def share(ada: Person, bob: Person) -> None:
    """Bob joins the project, is given the machine, chooses his key, and is in."""
    await bob.sign_up()
    await bob.add_key()
    page, project = ada.page, await ada.project_id()
    invited = await ada.post(f"/projects/{project}/members", {"email": bob.email, "role": "member"})
    await bob.post("/invitations/accept", {"secret": invited["link"].rpartition("#")[2]})
    await page.get_by_role("tab", name="SSH access").click()
    await page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name="Share first")
    await dialog.get_by_role("button", name="With").click()
    await page.get_by_role("option", name=bob.email).click()
    await dialog.get_by_role("button", name="Share", exact=True).click()
    await expect(dialog).to_be_hidden()
    await bob.page.goto(page.url)
    await bob.page.get_by_role("button", name="Choose a key").click()
    choice = bob.page.get_by_role("dialog", name="Your key for first")
    await choice.get_by_role("button", name="key", exact=False).first.click()
    await bob.page.get_by_role("option", name="laptop").click()
    await choice.get_by_role("button", name="Use this key").click()
    await expect(choice).to_be_hidden()
    await expect(page.get_by_role("row", name=bob.email).get_by_text("Active")).to_be_visible()
    await bob.page.get_by_role("tab", name="Overview").click()
    command = await deeds.copied(bob.page, "the SSH command")
    await deeds.trust(bob, await deeds.copied(bob.page, "the known_hosts line"))
    assert (await bob.shell(f"{command} cat kept")).out.strip() == "precious"


async def restart(ada: Person, bob: Person) -> None:
    """The same command leads to the same disk, for both of them."""
    await ada.page.get_by_role("tab", name="Overview").click()
    command = await deeds.copied(ada.page, "the SSH command")
    await deeds.act(ada.page, "first", "Restart")
    for person in (ada, bob):  # both pages follow by themselves
        await expect(person.page.get_by_role("definition").get_by_text("2", exact=True)).to_be_visible()
        await deeds.until_status(person.page, "Active")
    assert await deeds.copied(ada.page, "the SSH command") == command
    for person in (ada, bob):
        assert (await person.shell(f"{command} cat kept")).out.strip() == "precious"


async def release(page: Page) -> None:
    await deeds.act(page, "first", "Release")
    await deeds.until_status(page, "Released")
    await page.get_by_role("tab", name="Activity").click()
    await expect(page.get_by_role("group", name="Release").get_by_text("Cleanup proven")).to_be_visible()
