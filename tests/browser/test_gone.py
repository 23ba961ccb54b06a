"""The server goes and comes back: the page says so, goes on by itself, and keeps what was typed."""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from playwright.async_api import expect

from tests.browser.chromium import Way
from tests.browser.conftest import Arrive
from tests.e2e.stack import Stack

Gone = Callable[[Stack, Way], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def killed(up: Stack, _: Way) -> AsyncIterator[None]:
    await up.end(signal.SIGKILL)
    yield
    await up.up()


@asynccontextmanager
async def unreachable(_: Stack, way: Way) -> AsyncIterator[None]:
    """A start of the platform takes as much as all the rest of this story; e2e/test_up.py kills and starts it."""
    with way.cut():
        yield


@pytest.mark.parametrize(
    "gone", [pytest.param(unreachable, id="unreachable"), pytest.param(killed, marks=pytest.mark.soak, id="killed")]
)
async def test_a_server_that_goes_and_comes_back_costs_nobody_what_they_typed(
    arrive: Arrive, up: Stack, way: Way, gone: Gone
) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.add_key()
    wizard, form, reader = ada.page, await ada.another_page(), await ada.another_page()
    project = await ada.project_id()
    await form.goto("/account/ssh-keys")
    await form.get_by_role("button", name="Add a key").first.click()
    await form.get_by_role("textbox", name="Name", exact=True).fill("half a na")
    await reader.goto(f"/projects/{project}/allocations")
    await expect(reader.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await wizard.goto(f"/projects/{project}/launch/review")
    await wizard.get_by_role("textbox", name="Name", exact=True).fill("made-meanwh")
    with ada.watch.server_gone():
        async with gone(up, way):
            await reader.get_by_role("link", name="Volumes").click()  # a page whose chunk is not loaded yet
            for page in (wizard, form, reader):
                await expect(page.get_by_text("The server has not answered since")).to_be_visible()
            await expect(reader.get_by_role("heading", name="Machines", level=1)).to_be_visible()
            await wizard.get_by_role("textbox", name="Name", exact=True).press_sequentially("ile")
        for page in (wizard, form, reader):
            await expect(page.get_by_text("The server has not answered since")).to_be_hidden()
        await expect(reader.get_by_role("heading", name="Volumes", level=1)).to_be_visible()
    await expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("half a na")
    await wizard.get_by_role("button", name="Launch", exact=True).click()
    await expect(wizard.get_by_role("heading", name="made-meanwhile", level=1)).to_be_visible()
