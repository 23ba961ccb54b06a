"""Addresses that lead nowhere: somebody else's things, a page that never was."""

from playwright.async_api import expect

from tests.browser.conftest import Arrive


async def test_anothers_address_shows_nothing_but_that_it_is_not_there(arrive: Arrive) -> None:
    ada, eve = await arrive("ada"), await arrive("eve")
    await ada.sign_up()
    await eve.sign_up()
    secret = await ada.machine("secret-plans")
    theirs, mine = await ada.project_id(), await eve.project_id()
    for address in (
        f"/projects/{theirs}/allocations",
        f"/projects/{theirs}/allocations/{secret['id']}",
        f"/projects/{mine}/allocations/{secret['id']}",
    ):
        await eve.page.goto(address)
        await expect(eve.page.get_by_text("Not found")).to_be_visible()
        await expect(eve.page.get_by_text("secret-plans")).to_have_count(0)


async def test_an_address_that_never_was_says_so_and_leads_home(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.page.goto("/no/such/page")
    await expect(ada.page.get_by_role("heading", name="No such page")).to_be_visible()
    await ada.page.get_by_role("link", name="Go to your machines").click()
    await expect(ada.page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
