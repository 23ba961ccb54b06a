"""What people do in the page, by what they see there: names and roles, never the page's own classes."""

from playwright.async_api import Page, expect

from tests.browser.people import Person


async def sign_up(person: Person) -> None:
    page = person.page
    await page.goto("/")
    await page.get_by_role("button", name="Make an account").click()
    await page.get_by_label("E-mail").fill(person.email)
    await page.get_by_label("Password").fill(person.password)
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await person.take_over()


async def paste_key(page: Page, public_key: str) -> None:
    await page.get_by_label("Public key").fill(public_key)
    await expect(page.get_by_text("SHA256:")).to_be_visible()
    await page.get_by_role("button", name="Save the key").click()


async def next_step(page: Page, title: str) -> None:
    await page.get_by_role("button", name="Next", exact=True).click()
    await expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


async def name_and_launch(page: Page, name: str) -> None:
    await expect(page.get_by_label("Release after hours")).to_be_visible()  # other steps have names to fill in too
    await page.get_by_role("textbox", name="Name", exact=True).fill(name)
    await page.get_by_role("button", name="Launch", exact=True).click()


async def until_status(page: Page, words: str) -> None:
    await expect(page.get_by_text(words, exact=True).first).to_be_visible()


async def copied(page: Page, what: str) -> str:
    """By the button beside it, from the clipboard."""
    await page.get_by_role("button", name=f"Copy {what}").click()
    text: str = await page.evaluate("navigator.clipboard.readText()")
    return text


async def act(page: Page, name: str, verb: str) -> None:
    """From the actions of a machine's page, with what it costs read first."""
    await page.get_by_role("button", name=f"Actions of {name}").first.click()
    await page.get_by_role("menuitem", name=verb).click()
    dialog = page.get_by_role("dialog", name=f"{verb} {name}?")
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_be_hidden()


async def trust(person: Person, known_hosts: str) -> None:
    """The line the page shows, where OpenSSH looks for it."""
    file = person.home / ".ssh" / "known_hosts"
    with file.open("a") as out:
        out.write(known_hosts + "\n")
