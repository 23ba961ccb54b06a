"""A machine that runs: its keys are changed, its end, its size and its holder, and others follow in their own pages."""

import re
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser import deeds
from tests.browser.conftest import Arrive
from tests.browser.people import Person
from tests.e2e.stack import run

DROP = """(zone, text) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], "desktop.pub", { type: "text/plain" }));
    for (const name of ["dragenter", "dragover", "drop"])
        zone.dispatchEvent(new DragEvent(name, { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""


async def test_a_machine_changes_keys_end_size_and_hands_while_another_looks(arrive: Arrive) -> None:
    ada, bob = await arrive("ada"), await arrive("bob")
    await ada.sign_up()
    await bob.sign_up()
    machine = await ada.machine("shared")
    await admit(ada, bob, machine)
    await drop_a_key(ada)
    await change_keys(ada, machine)
    await extend(ada, machine)
    await revoke(ada, bob, machine)
    await hand_over(ada, bob, machine)
    await resize(bob, machine)


async def admit(ada: Person, bob: Person, machine: dict[str, Any]) -> None:
    """Bob is in the project, and in a terminal on the machine."""
    invited = await ada.post(f"/projects/{machine['project_id']}/members", {"email": bob.email, "role": "member"})
    await bob.post("/invitations/accept", {"secret": invited["link"].rpartition("#")[2]})
    here, who = f"/allocations/{machine['id']}", (await bob.get("/me"))["user"]["id"]
    key = await bob.add_key()
    grant = await ada.post(f"{here}/access-grants", {"user_id": who})
    changed = await bob.http.patch(f"/api/v1{here}/access-grants/{grant['id']}", json={"ssh_key_id": key})
    assert changed.is_success, changed.text
    for person in (ada, bob):
        await deeds.trust(person, machine["connection"]["known_hosts"])
    await bob.page.goto(f"/projects/{machine['project_id']}/allocations/{machine['id']}/access")
    await bob.page.get_by_role("button", name="Open terminal").click()
    await expect(bob.page.get_by_text("Connected to shared")).to_be_visible()


async def drop_a_key(ada: Person) -> None:
    """On the field for it, as a file manager would."""
    path = ada.home / ".ssh" / "desktop"
    await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "desktop", "-f", str(path))
    public = Path(f"{path}.pub").read_text()
    page = ada.page
    await page.goto("/account/ssh-keys")
    await page.get_by_role("button", name="Add a key").first.click()
    dialog = page.get_by_role("dialog", name="Add a key")
    await dialog.get_by_label("Public key").evaluate(DROP, public)
    await expect(dialog.get_by_text("SHA256:")).to_be_visible()
    await dialog.get_by_role("button", name="Save the key").click()
    await expect(page.get_by_text("desktop is added")).to_be_visible()


async def change_keys(ada: Person, machine: dict[str, Any]) -> None:
    page, command = ada.page, machine["connection"]["command"]
    await page.goto(f"/projects/{machine['project_id']}/allocations/{machine['id']}/access")
    await page.get_by_role("button", name="Change keys").click()
    dialog = page.get_by_role("dialog", name="Keys that open shared")
    await dialog.get_by_role("checkbox", name="laptop").click()
    await dialog.get_by_role("checkbox", name="desktop").click()
    await dialog.get_by_role("button", name="Change keys").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text("The machine admits exactly these")).to_be_visible()
    await expect(page.get_by_role("row", name="desktop")).to_be_visible()
    assert await is_refused(ada, command)
    assert (await ada.shell(f"{by_desktop(command)} hostname")).out.strip() == "shared"


def by_desktop(command: str) -> str:
    return command.replace("ssh ", "ssh -i ~/.ssh/desktop ", 1)


async def is_refused(person: Person, command: str) -> bool:
    return "Permission denied" in (await person.shell(f"{command} -o BatchMode=yes true")).err


async def extend(ada: Person, machine: dict[str, Any]) -> None:
    page = ada.page
    await page.get_by_role("tab", name="Overview").click()
    await page.get_by_role("button", name="Extend", exact=True).click()
    dialog = page.get_by_role("dialog", name="When shared ends")
    await dialog.get_by_role("spinbutton", name="Hours").fill("6")
    await expect(dialog.get_by_text("It then ends on")).to_be_visible()
    await dialog.get_by_role("button", name="Change", exact=True).click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text(re.compile(r"in (6 h|5 h 59)")).first).to_be_visible()
    assert (await ada.get(f"/allocations/{machine['id']}"))["limits"]["expires_at"]


async def revoke(ada: Person, bob: Person, machine: dict[str, Any]) -> None:
    """Bob's page says so by itself, and his shell is shut out."""
    page = ada.page
    await page.get_by_role("tab", name="SSH access").click()
    await page.get_by_role("button", name=f"Revoke: {bob.email}").click()
    dialog = page.get_by_role("dialog", name=f"Revoke the access of {bob.email} to shared?")
    await dialog.get_by_label("Why").fill("the review is over")
    await dialog.get_by_role("button", name="Revoke", exact=True).click()
    await expect(page.get_by_text(f"{bob.email} is out of shared")).to_be_visible()
    await expect(bob.page.get_by_text("Ended: ")).to_be_visible()
    await expect(bob.page.get_by_role("button", name="Ask for access")).to_be_visible()
    await expect(bob.page.get_by_role("button", name="Open terminal")).to_be_disabled()
    assert await is_refused(bob, machine["connection"]["command"])


async def hand_over(ada: Person, bob: Person, machine: dict[str, Any]) -> None:
    page = ada.page
    await page.get_by_role("button", name="Hand over").click()
    dialog = page.get_by_role("dialog", name="Hand over shared")
    await choose(page, dialog.get_by_role("button", name="To"), bob.email)
    await dialog.get_by_role("button", name="Hand over", exact=True).click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("row", name=bob.email)).to_have_count(0)
    await bob.page.get_by_role("button", name="Change keys").click()  # which is now there, without a reload
    keys = bob.page.get_by_role("dialog", name="Keys that open shared")
    await keys.get_by_role("checkbox", name="laptop").click()
    await keys.get_by_role("button", name="Change keys").click()
    await expect(keys).to_be_hidden()
    await expect(bob.page.get_by_text("The machine admits exactly these")).to_be_visible()
    command = machine["connection"]["command"]
    assert (await bob.shell(f"{command} hostname")).out.strip() == "shared"
    assert await is_refused(ada, by_desktop(command))


async def choose(page: Page, field: Locator, option: str) -> None:
    await field.click()
    await page.get_by_role("option", name=option).click()


async def resize(bob: Person, machine: dict[str, Any]) -> None:
    page = bob.page
    await page.get_by_role("button", name="Actions of shared").click()
    await page.get_by_role("menuitem", name="Resize").click()
    dialog = page.get_by_role("dialog", name="Resize shared")
    await dialog.get_by_role("radio", name="2 GPUs").first.click()
    await dialog.get_by_role("button", name="Resize to 2 GPUs").click()
    await expect(dialog).to_be_hidden()
    await page.get_by_role("tab", name="Overview").click()
    await expect(page.get_by_text("2 GPUs").first).to_be_visible()
    await deeds.until_status(page, "Active")
    assert (await bob.until(f"/allocations/{machine['id']}", status="active", boot=2))["gpu_count"] == 2
