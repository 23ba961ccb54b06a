"""Somebody in front of a browser of their own, and what they have beside it: a shell, a key, the API."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.watch import Watch
from tests.e2e.stack import Ran, run

PASSWORD = "correct horse battery staple"
DESK, PHONE = (1440, 900), (390, 844)
SETTLE_SECONDS = 60.0
SKU = "sim-h200-slice"
COOKIE = "gpuaas_session"


@dataclass(frozen=True, kw_only=True)
class Person:
    """The page is what they see; `http` is for what the story is not about."""

    email: str
    password: str
    page: Page
    context: BrowserContext
    watch: Watch
    http: httpx.AsyncClient
    home: Path

    async def get(self, path: str, **query: str) -> Any:
        return said(await self.http.get(f"/api/v1{path}", params=query))

    async def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-Idempotency-Key": uuid4().hex}
        return said(await self.http.post(f"/api/v1{path}", json=body or {}, headers=headers))

    async def delete(self, path: str) -> Any:
        return said(await self.http.delete(f"/api/v1{path}"))

    # -- who they are

    async def sign_up(self) -> None:
        """Quickly: the story that is about signing up does it in the page."""
        await self._enter("signup")

    async def sign_in(self) -> None:
        await self._enter("login")

    async def _enter(self, how: str) -> None:
        credentials = {"email": self.email, "password": self.password}
        await self.carry((await self.post(f"/auth/personal/{how}", credentials))["access_token"])

    async def carry(self, token: str) -> None:
        """The same session in the page and beside it."""
        self.http.headers["Authorization"] = f"Bearer {token}"
        await self.context.add_cookies([{"name": COOKIE, "value": token, "url": str(self.http.base_url)}])

    async def take_over(self) -> None:
        """Beside the page, be who signed in there."""
        cookies = {each.get("name"): each.get("value", "") for each in await self.context.cookies()}
        self.http.headers["Authorization"] = f"Bearer {cookies[COOKIE]}"

    async def another_page(self) -> Page:
        """A second tab of the same browser, watched alike."""
        page = await self.context.new_page()
        self.watch.over(page)
        return page

    async def project_id(self) -> str:
        return str((await self.get("/me"))["projects"][0]["id"])

    # -- what they have

    async def make_key(self) -> str:
        """A key pair where OpenSSH looks for it; the public half."""
        folder = self.home / ".ssh"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "laptop", "-f", str(folder / "id_ed25519"))
        return (folder / "id_ed25519.pub").read_text().strip()

    async def add_key(self) -> str:
        return str((await self.post("/ssh-keys", {"title": "laptop", "public_key": await self.make_key()}))["id"])

    async def shell(self, command: str) -> Ran:
        """A real shell in which their home is their home: ssh asks the password file for it, not `$HOME`."""
        become_root = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        home = 'mount --bind "$0" "$(getent passwd "$(id -u)" | cut -d: -f6)" && exec bash -c "$1"'
        return await run("unshare", "--mount", *become_root, "sh", "-c", home, str(self.home), command)

    async def machine(self, name: str, **wanted: Any) -> dict[str, Any]:
        """An active one, without the page."""
        keys = [key["id"] for key in (await self.get("/ssh-keys"))["items"]] or [await self.add_key()]
        body = {"sku": SKU, "name": name, "project_id": await self.project_id(), "ssh_key_ids": keys, **wanted}
        made = (await self.post("/allocations", body))["allocations"][0]
        return await self.until(f"/allocations/{made['id']}", status="active")

    async def until(self, path: str, **wanted: Any) -> dict[str, Any]:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            seen: dict[str, Any] = await self.get(path)
            if all(seen[field] == value for field, value in wanted.items()):
                return seen
            assert time.monotonic() < deadline, f"{path} is {seen}, not {wanted}"
            await asyncio.sleep(0.2)

    async def leave_nothing(self) -> None:
        """Eight GPUs are all there are; the next story begins with all of them."""
        if "Authorization" not in self.http.headers:
            return
        if (await self.http.get("/api/v1/me")).status_code == httpx.codes.UNAUTHORIZED:
            await self.sign_in()
        for project in (await self.get("/me"))["projects"]:
            machines = (await self.get(f"/projects/{project['id']}/allocations"))["items"]
            held = [each for each in machines if not each["cleanup_proven"]]
            for machine in held:
                if machine["status"] not in {"releasing", "failed"}:
                    await self.post(f"/allocations/{machine['id']}/release")
            for machine in held:
                await self.until(f"/allocations/{machine['id']}", cleanup_proven=True)


def said(answer: httpx.Response) -> Any:
    assert answer.is_success, f"{answer.request.method} {answer.request.url} → {answer.status_code}: {answer.text}"
    return answer.json() if answer.content else None


async def new_profile(browser: Browser, url: str, size: tuple[int, int]) -> Page:
    """The one page of a browser profile that nobody used before."""
    context = await browser.new_context(
        base_url=url,
        viewport={"width": size[0], "height": size[1]},
        has_touch=size == PHONE,
        is_mobile=size == PHONE,
        reduced_motion="reduce",
        locale="en-GB",
        permissions=["clipboard-read", "clipboard-write"],
    )
    return await context.new_page()


@asynccontextmanager
async def person(
    browser: Browser, url: str, home: Path, *, email: str, password: str = PASSWORD, size: tuple[int, int] = DESK
) -> AsyncIterator[Person]:
    """With a browser profile that nobody used before."""
    page = await new_profile(browser, url, size)
    try:
        async with in_front_of(page, url, home, email=email, password=password) as made:
            yield made
    finally:
        await page.context.close()


@asynccontextmanager
async def in_front_of(page: Page, url: str, home: Path, *, email: str, password: str) -> AsyncIterator[Person]:
    """Whoever looks at this page, and a watch over it."""
    home.mkdir(mode=0o700, exist_ok=True)
    watch, context = Watch(), page.context
    watch.over(page)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:
        yield Person(email=email, password=password, page=page, context=context, watch=watch, http=http, home=home)
