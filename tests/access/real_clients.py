"""Real clients of one person for one allocation: OpenSSH, sftp, a forwarded port, a terminal's WebSocket, HTTP.

Each client opens a connection that stays open where its kind has one, reports whether that connection was cut, and
tries to enter again.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any, Protocol

import httpx
from websockets.exceptions import ConnectionClosed

from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS
from tests.terminals.browsers import Browser, dialled

REFUSED = (401, 403, 404)


class Client(Protocol):
    """`open` returns whether the person was let in; `is_cut` is about the connection that it opened."""

    is_lasting: bool  # its connection stays open

    async def open(self) -> bool: ...

    async def is_cut(self) -> bool: ...

    async def enters(self) -> bool: ...

    async def close(self) -> None: ...


class Shell:
    """`ssh` with a command; with a key of the own key file it is the client of that file."""

    is_lasting = True

    def __init__(self, ssh: OpenSsh) -> None:
        self._ssh = ssh
        self._process: asyncio.subprocess.Process | None = None

    async def enters(self) -> bool:
        return (await self._ssh.run("true")).code == 0

    async def open(self) -> bool:
        await self.close()
        self._process = await self._spawn()
        return bool(await self._answer(self._process))

    async def is_cut(self) -> bool:
        assert self._process is not None
        return self._process.returncode is not None

    async def close(self) -> None:
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()
        self._process = None

    async def _spawn(self) -> asyncio.subprocess.Process:
        return await self._ssh.spawn("ssh", *self._ssh.options(), self._ssh.target, "echo in; exec sleep 1000")

    async def _answer(self, process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await process.stdout.readline()


class Sftp(Shell):
    async def enters(self) -> bool:
        argv = ("sftp", *self._ssh.options(), "-b", "-", self._ssh.target)
        return (await self._ssh.outcome(*argv, text="ls /etc/hostname\n")).code == 0

    async def is_cut(self) -> bool:
        """`sftp` notices a lost connection at its next command."""
        assert self._process is not None
        await self._ask(self._process)
        return await super().is_cut()

    async def _spawn(self) -> asyncio.subprocess.Process:
        process = await self._ssh.spawn("sftp", *self._ssh.options(), "-b", "-", self._ssh.target)
        await self._ask(process)
        return process

    async def _answer(self, process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.stdout.readline()  # the command itself
            return await process.stdout.readline()

    async def _ask(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(b"ls /etc/hostname\n")
            await process.stdin.drain()


class Forward(Shell):
    """`ssh -W` to an echo server inside."""

    def __init__(self, ssh: OpenSsh, port: int) -> None:
        super().__init__(ssh)
        self._argv = ("ssh", *ssh.options(), "-W", f"127.0.0.1:{port}", ssh.target)

    async def enters(self) -> bool:
        process = await self._spawn()
        answer = await self._answer(process)
        if process.returncode is None:
            process.kill()
        await process.communicate()
        return answer == b"ping\n"

    async def _spawn(self) -> asyncio.subprocess.Process:
        process = await self._ssh.spawn(*self._argv)
        assert process.stdin is not None
        process.stdin.write(b"ping\n")
        return process


class TerminalSocket:
    """A browser terminal: a token minted over HTTP, and the WebSocket that it opens."""

    is_lasting = True

    def __init__(self, http: httpx.AsyncClient, url: str, allocation_id: str) -> None:
        self._http, self._url, self._id = http, url, allocation_id
        self._stack = AsyncExitStack()
        self._reading: asyncio.Task[Any] | None = None
        self.session_id: str | None = None

    async def enters(self) -> bool:
        async with AsyncExitStack() as stack:
            browser = await self._dial(stack, None)
            if browser:
                await browser.type("exit\n")
                await browser.ended()
            return browser is not None

    async def open(self) -> bool:
        return await self._hold(None)

    async def is_cut(self) -> bool:
        assert self._reading is not None
        return self._reading.done()

    async def close(self) -> None:
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._stack.aclose()

    async def _hold(self, session_id: str | None) -> bool:
        browser = await self._dial(self._stack, session_id)
        if browser:
            self._reading = asyncio.create_task(self._read(browser))
        return browser is not None

    async def _dial(self, stack: AsyncExitStack, session_id: str | None) -> Browser | None:
        path = f"/api/v1/allocations/{self._id}/terminal-token"
        minted = await self._http.post(path, json={"session_id": session_id} if session_id else {})
        if minted.status_code in REFUSED:
            return None
        token = minted.raise_for_status().json()["token"]
        browser = await stack.enter_async_context(dialled(self._url, self._id, token))
        try:
            session = await browser.session()
        except ConnectionClosed:
            return None
        assert session.resumed == (session_id is not None)
        self.session_id = session.session_id
        return browser

    @staticmethod
    async def _read(browser: Browser) -> None:
        with suppress(ConnectionClosed):
            while True:
                await browser.socket.recv()


class Reattached(TerminalSocket):
    """A terminal that was left and entered again."""

    async def open(self) -> bool:
        async with AsyncExitStack() as stack:
            if await self._dial(stack, None) is None:
                return False
        return await self._hold(self.session_id)

    async def enters(self) -> bool:
        async with AsyncExitStack() as stack:
            if self.session_id is None and await self._dial(stack, None) is None:
                return False
        async with AsyncExitStack() as stack:
            return await self._dial(stack, self.session_id) is not None


class Route:
    """One request over HTTP."""

    is_lasting = False

    def __init__(self, http: httpx.AsyncClient, method: str, path: str, body: object = None) -> None:
        self._http, self._method, self._path, self._body = http, method, path, body

    async def enters(self) -> bool:
        answer = await self._http.request(self._method, self._path, json=self._body)
        if answer.status_code in REFUSED:
            return False
        answer.raise_for_status()
        return True

    async def open(self) -> bool:
        return await self.enters()

    async def is_cut(self) -> bool:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing stays open."""


class EventStream(Route):
    """Server-sent events: a request that stays open."""

    is_lasting = True

    def __init__(self, http: httpx.AsyncClient, path: str) -> None:
        super().__init__(http, "GET", path)
        self._reading: asyncio.Task[None] | None = None

    async def enters(self) -> bool:
        async with self._http.stream("GET", self._path) as answer:
            return answer.status_code not in REFUSED

    async def open(self) -> bool:
        await self.close()
        is_open: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(is_open))
        return await is_open

    async def is_cut(self) -> bool:
        assert self._reading is not None
        return self._reading.done()

    async def close(self) -> None:
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self, is_open: asyncio.Future[bool]) -> None:
        async with self._http.stream("GET", self._path, timeout=PATIENCE_SECONDS) as answer:
            is_open.set_result(answer.status_code not in REFUSED)
            async for _ in answer.aiter_lines():
                pass
