"""Another build of the console is deployed under an open page: the page finds it, and its terminal goes on."""

from playwright.async_api import Route, expect

from tests.browser.conftest import Arrive
from tests.browser.test_insides import opened

SEE_A_CRASH = """new MutationObserver(() => {
    if (document.body.textContent.includes("made a mistake")) sessionStorage.setItem("crashed", "yes");
}).observe(document.body, { subtree: true, childList: true })"""


async def test_a_page_of_a_replaced_build_loads_the_new_one_and_keeps_its_terminal(arrive: Arrive) -> None:
    ada = await arrive("ada", own=True)
    await ada.sign_up()
    page, machine = ada.page, await ada.machine("upgraded")
    shown = await opened(page, machine)
    await page.keyboard.type("kept=from-before\n")
    await expect(shown).to_contain_text("kept=from-before")
    documents: list[str] = []

    async def replaced(route: Route) -> None:
        """The server serves another build: chunks of this page's build are gone until the page is loaded again."""
        if documents:
            await route.continue_()
        elif route.request.url.endswith("/build.json"):
            await route.fulfill(json={"build": "another"})
        else:
            await route.fulfill(status=404, json={"code": "asset_not_found"})

    page.on("request", lambda one: documents.append(one.url) if one.is_navigation_request() else None)
    await page.route("**/build.json", replaced)
    await page.route("**/assets/**", replaced)
    await page.evaluate(SEE_A_CRASH)
    with ada.watch.server_gone():
        await page.get_by_role("link", name="Volumes").click()
        await expect(page.get_by_role("heading", name="Volumes", level=1)).to_be_visible()
    assert [url.rpartition("/")[2] for url in documents] == ["volumes"]
    assert await page.evaluate("sessionStorage.getItem('crashed')") is None
    await expect(shown).to_contain_text("kept=from-before")  # the same shell is shown again
    await page.get_by_role("textbox", name="Terminal on upgraded").focus()
    await page.keyboard.type("echo still-$kept\n")
    await expect(shown).to_contain_text("still-from-before")
