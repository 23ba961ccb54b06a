"""A session that ends while its page is open."""

from playwright.async_api import expect

from tests.browser.conftest import Arrive


async def test_a_session_ended_elsewhere_is_begun_anew_over_the_page_which_keeps_what_was_typed(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.add_key()
    page = ada.page
    await page.goto(f"/projects/{await ada.project_id()}/launch/review")
    await page.get_by_role("textbox", name="Name", exact=True).fill("half-typed")
    await ada.delete(f"/auth/sessions/{(await ada.get('/auth/sessions'))['items'][0]['id']}")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    await dialog.get_by_label("Password").fill(ada.password)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("half-typed")
    await ada.take_over()
