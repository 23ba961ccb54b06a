"""Terminals of a tab: they stay while pages change and after a reload, and say why when they end."""

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Arrive


async def opened(page: Page, machine: dict[str, str]) -> Locator:
    """A terminal on this machine, from its page; what the one that is looked at shows."""
    await page.goto(f"/projects/{machine['project_id']}/allocations/{machine['id']}")
    await page.get_by_role("button", name="Open terminal").click()
    await expect(page.get_by_text(f"Connected to {machine['name']}")).to_be_visible()
    return page.locator(".xterm-rows")


async def test_two_terminals_stay_while_pages_change_and_after_a_reload(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    page = ada.page
    shown = await opened(page, await ada.machine("left"))
    await page.keyboard.type("echo one-$((40 + 2))\n")
    await expect(shown).to_contain_text("one-42")
    await opened(page, await ada.machine("right"))
    await page.keyboard.type("echo two-$((40 + 3))\n")
    await expect(shown).to_contain_text("two-43")
    await page.get_by_role("link", name="Machines", exact=True).first.click()
    await expect(page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await expect(shown).to_contain_text("two-43")
    await page.reload()
    await expect(shown).to_contain_text("two-43")
    terminals = page.get_by_role("region", name="Terminals")
    await terminals.get_by_role("button", name="left", exact=True).click()
    await expect(shown).to_contain_text("one-42")
    await page.keyboard.type("echo again-$((40 + 4))\n")
    await expect(shown).to_contain_text("again-44")


async def test_the_keyboard_leaves_a_terminal_and_one_that_ended_says_why(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    page = ada.page
    shown = await opened(page, await ada.machine("inner"))
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("textbox", name="Terminal on inner")).to_be_focused()
    await page.keyboard.press("Control+Shift+X")
    await expect(page.get_by_role("button", name="Open another terminal on inner")).to_be_focused()
    await page.get_by_role("textbox", name="Terminal on inner").focus()
    await page.keyboard.type("exit 3\n")
    await expect(page.get_by_text("Ended: the shell ended with code 3")).to_be_visible()
    await page.get_by_role("button", name="Open anew").click()
    await expect(page.get_by_text("Connected to inner")).to_be_visible()
    await page.keyboard.type("echo new-$((40 + 5))\n")
    await expect(shown).to_contain_text("new-45")
