"""The server goes and comes back: the page says so, goes on by itself, and keeps what was typed."""

import signal

from playwright.async_api import expect

from tests.browser.conftest import Arrive
from tests.e2e.stack import Stack


async def test_a_server_that_goes_and_comes_back_costs_nobody_what_they_typed(arrive: Arrive, up: Stack) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.page.goto("/")
    await expect(ada.page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    search = ada.page.get_by_role("combobox", name="Search")
    await search.fill("half a thou")
    with ada.watch.server_gone():
        await up.end(signal.SIGKILL)
        said = ada.page.get_by_text("The server has not answered since")
        await expect(said).to_be_visible()
        await up.up()
        await expect(said).to_be_hidden()
    await expect(search).to_have_value("half a thou")
    await ada.machine("made-meanwhile")
    await expect(ada.page.get_by_role("link", name="made-meanwhile")).to_be_visible()
