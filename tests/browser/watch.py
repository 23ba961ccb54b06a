"""What a page complains about where nobody looks: a story with a complaint is not a success."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.async_api import ConsoleMessage, Error, Page

REFUSED = "the server responded with a status of 4"
GONE = ("net::ERR_", "the server responded with a status of 503", "WebSocket connection to")


class Watch:
    """Everything Chromium logs as an error: thrown, printed, forbidden by the content security policy, not loaded."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self._is_server_gone = False

    def over(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)

    def end(self, page: Page) -> None:
        page.remove_listener("console", self._on_console)
        page.remove_listener("pageerror", self._on_error)

    @contextmanager
    def server_gone(self) -> Iterator[None]:
        """Meanwhile requests fail, or files of the page's build are missing, and Chromium says so."""
        self._is_server_gone = True
        yield
        self._is_server_gone = False

    def _on_error(self, error: Error) -> None:
        self.complaints.append(f"thrown: {error}")

    def _on_console(self, message: ConsoleMessage) -> None:
        text, url = message.text, message.location.get("url", "")
        if message.type != "error":
            return
        if "/api/v1/" in url and REFUSED in text:
            return  # a refusal is an answer, and the page tells the person
        if self._is_server_gone and (any(words in text for words in GONE) or ("/assets/" in url and REFUSED in text)):
            return
        self.complaints.append(f"{text} ({url})")
