"""What the list of machines costs to open, as Chromium received it."""

from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import CDPSession, expect

from gpuaas.api.console import FOLDER as BUILT
from tests.browser.conftest import Arrive

MOST_SCRIPT = 350_000
WORTH_PACKING = 1_024
# Words that only the terminal and only the charts are made of; the build must hold them, the list must not load them.
LAZY = {"terminal": "xterm-helper-textarea", "charts": "GPU temperature"}


class Transfers:
    """Everything a page fetched, with the bytes of its body as they came: packed."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.bytes = Counter[str]()

    async def over(self, session: CDPSession) -> None:
        session.on("Network.responseReceived", self._on_answer)
        session.on("Network.dataReceived", self._on_data)
        await session.send("Network.enable")

    def _on_answer(self, event: dict[str, Any]) -> None:
        self.answers[event["requestId"]] = {"kind": event["type"], **event["response"]}

    def _on_data(self, event: dict[str, Any]) -> None:
        self.bytes[event["requestId"]] += int(event["encodedDataLength"])

    def of(self, kind: str) -> dict[str, int]:
        return {answer["url"]: self.bytes[id] for id, answer in self.answers.items() if answer["kind"] == kind}

    def packings(self) -> dict[str, str | None]:
        """Of scripts and styles, how they came."""
        sent = [answer for answer in self.answers.values() if answer["kind"] in {"Script", "Stylesheet"}]
        return {answer["url"]: answer["headers"].get("content-encoding") for answer in sent}


@pytest.fixture
async def transfers(arrive: Arrive) -> Transfers:
    ada = await arrive("ada", own=True)
    await ada.sign_up()
    await ada.machine("shown")
    seen = Transfers()
    await seen.over(await ada.context.new_cdp_session(ada.page))
    await ada.page.goto("/")
    await expect(ada.page.get_by_role("link", name="shown")).to_be_visible()
    await ada.page.evaluate("document.fonts.ready")
    return seen


async def test_the_list_is_light_packed_and_loads_nothing_it_does_not_show(transfers: Transfers) -> None:
    scripts = transfers.of("Script")
    assert all(scripts.values())
    assert sum(scripts.values()) <= MOST_SCRIPT, heaviest(scripts)
    for url, packing in transfers.packings().items():
        assert packing == "br" or len(built(url)) < WORTH_PACKING, url
    fonts = transfers.of("Font")
    assert fonts
    for url in (*scripts, *transfers.of("Stylesheet")):
        body = built(url)
        assert "data:font" not in body, f"{url} carries a font"
        for what, word in LAZY.items():
            assert word not in body, f"{url} carries the {what}"


@pytest.mark.parametrize("what", LAZY)
def test_what_is_looked_for_is_in_the_build(what: str) -> None:
    assert any(LAZY[what] in path.read_text() for path in (BUILT / "assets").glob("*.js"))


def heaviest(scripts: dict[str, int]) -> str:
    names = sorted(scripts, key=lambda url: -scripts[url])[:10]
    return f"{sum(scripts.values()):,} bytes: " + ", ".join(
        f"{url.rpartition('/')[2]} {scripts[url]:,}" for url in names
    )


def built(url: str) -> str:
    return (BUILT / urlsplit(url).path.lstrip("/")).read_text()
