"""The door: a wrong password, too many of them, and being sent back to where one was going."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Arrive
from tests.browser.people import Person

TRIES = 10


async def fill(page: Page, email: str, password: str) -> None:
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(password)


async def try_wrong_passwords(person: Person) -> None:
    """All that are heard within a minute."""
    for _ in range(TRIES):
        credentials = {"email": person.email, "password": "not the password at all"}
        await person.http.post("/api/v1/auth/personal/login", json=credentials)


async def test_a_wrong_password_is_told_in_place_and_the_right_one_leads_to_where_one_was_going(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    wanted = f"/projects/{await ada.project_id()}/allocations?from=a-link"
    await ada.context.clear_cookies()
    await ada.page.goto(wanted)
    await fill(ada.page, ada.email, "not the password at all")
    await ada.page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(ada.page.get_by_text("Wrong e-mail or password.")).to_be_visible()
    await expect(ada.page.get_by_label("E-mail")).to_have_value(ada.email)
    await ada.page.get_by_label("Password").fill(ada.password)
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    assert ada.page.url.endswith(wanted)


async def test_after_too_many_tries_the_button_counts_down_to_the_next(arrive: Arrive) -> None:
    ada = await arrive("ada", own=True)
    await ada.sign_up()
    await ada.context.clear_cookies()
    await try_wrong_passwords(ada)
    await ada.page.clock.install()
    await ada.page.goto("/login")
    await fill(ada.page, ada.email, ada.password)
    await ada.page.get_by_role("button", name="Sign in", exact=True).click()
    waiting = ada.page.get_by_role("button", name="Try again in")
    await expect(waiting).to_be_disabled()
    before = seconds(await waiting.inner_text())
    await ada.page.clock.run_for(5_000)
    assert seconds(await waiting.inner_text()) in range(before - 7, before - 3)
    await ada.page.clock.run_for(60_000)
    await expect(ada.page.get_by_role("button", name="Sign in", exact=True)).to_be_enabled()


def seconds(words: str) -> int:
    return int("".join(each for each in words if each.isdecimal()))


@pytest.mark.soak  # test_people.py signs out of two tabs, and goes back
async def test_signing_out_leaves_nothing_to_go_back_to(arrive: Arrive) -> None:
    ada = await arrive("ada")
    await ada.sign_up()
    await ada.page.goto("/")
    await expect(ada.page.get_by_role("heading", name="Machines", level=1)).to_be_visible()
    await ada.page.get_by_role("button", name=f"Account {ada.email}").click()
    await ada.page.get_by_role("menuitem", name="Sign out").click()
    await expect(ada.page.get_by_text("You are signed out.")).to_be_visible()
    await ada.page.go_back()
    await expect(ada.page.get_by_label("Password")).to_be_visible()
