"""Browser profiles that stories use one after another: a page that Chromium has loaded before costs half as much."""

from playwright.async_api import Browser, Page

from tests.browser.people import new_profile

BLANK = "about:blank"


class Profiles:
    """Whoever takes one finds no cookie and no stored value of who had it before; only files of the console stay."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser, self._url = browser, url
        self._spare: dict[tuple[int, int], list[Page]] = {}

    async def take(self, size: tuple[int, int]) -> Page:
        spare = self._spare.get(size)
        return spare.pop() if spare else await self.new(size)

    async def new(self, size: tuple[int, int]) -> Page:
        return await new_profile(self._browser, self._url, size)

    async def give_back(self, page: Page, size: tuple[int, int]) -> None:
        """Other pages of the profile are closed; this one shows nothing, so that nothing goes on in it."""
        context = page.context
        await page.unroute_all(behavior="ignoreErrors")
        for other in context.pages:
            if other is not page:
                await other.close()
        if page.url.startswith(self._url):
            await page.evaluate("sessionStorage.clear()")
        await page.goto(BLANK)
        await context.clear_cookies()
        session = await context.new_cdp_session(page)
        await session.send("Storage.clearDataForOrigin", {"origin": self._url, "storageTypes": "all"})
        await session.detach()
        self._spare.setdefault(size, []).append(page)
