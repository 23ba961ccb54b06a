"""The root process of a `gpuaas up` whose person is not root: it prepares the node, and runs its agent.

It is started once, by sudo or by a supervisor that is root and becomes its person afterwards, so it needs no password
later. Only root can signal it, so its standard input stands for the supervisor: `Stop` ends the agent in order. The
end of the input, for whatever reason, ends the agent at once, as the kernel ends the agent of a supervisor that is
root. Environments outlive both.

After preparing the node this program restarts in the same process, without the modules that only preparing needs: it
stays as long as the agent, and they cost about 20 MB.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress

import msgspec
import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.main.children import Child
from gpuaas.main.engine_kinds import EngineKind
from gpuaas.main.node_words import agent_words
from gpuaas.main.root_messages import (
    PYCACHE,
    Begin,
    CrashLooping,
    Event,
    Failed,
    Handover,
    NeedsToken,
    Order,
    Prepared,
    Ready,
    Run,
    Stop,
    Token,
    encode,
    handovers,
    orders,
)

LOOK_SECONDS = 0.2


def tell(event: Event) -> None:
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


class RootAgent:
    def __init__(self) -> None:
        self._orders: asyncio.Queue[Order] = asyncio.Queue()
        self._stop = asyncio.Event()

    async def run(self, handover: Handover | None) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._take, Stop())
        for number in (signal.SIGINT, signal.SIGHUP):  # for the supervisor, which has the same terminal
            loop.add_signal_handler(number, lambda: None)
        reader = asyncio.StreamReader()
        self._input, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        listening = asyncio.create_task(self._listen(reader))
        if handover is None:
            tell(Ready())
            await self._work()
        else:
            await self._run_prepared(handover)
        listening.cancel()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(msgspec.DecodeError):
            while line := await reader.readline():
                self._take(orders.decode(line))
        os._exit(1)  # the supervisor ended; the kernel ends the agent with this process

    def _take(self, order: Order) -> None:
        if isinstance(order, Stop):
            self._stop.set()
        self._orders.put_nowait(order)

    async def _work(self) -> None:
        begin = await self._orders.get()
        if not isinstance(begin, Begin):
            return
        os.environ.update(begin.environ, PYTHONPYCACHEPREFIX=PYCACHE)
        from gpuaas.agent.identity import IdentityError

        try:
            node_id = await self._prepare(begin)
        except Complaint as error:
            tell(Failed(why=error.why, details=error.details, next_step=error.next_step))
            return
        except (IdentityError, OSError) as error:
            tell(Failed(why=str(error), next_step=f"check {begin.folder}"))
            return
        await self._begin_anew(Handover(msgspec.structs.replace(begin, environ={}), node_id))

    async def _begin_anew(self, handover: Handover) -> None:
        """No order is lost during the restart: until the supervisor learns of the node, it sends only `Stop`."""
        self._input.pause_reading()
        await asyncio.sleep(0)  # all input that was read is in the queue now
        if self._stop.is_set():
            return
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # until the handlers are set again
        words = ["-P", "-X", f"pycache_prefix={PYCACHE}", "-m", "gpuaas.main.root_agent", encode(handover).decode()]
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - ourselves

    async def _run_prepared(self, handover: Handover) -> None:
        tell(Prepared(handover.node_id))
        if isinstance(await self._orders.get(), Run):
            await self._run_agent(handover.begin)

    async def _prepare(self, begin: Begin) -> str:
        from gpuaas.main.preparing import ensure_enrolled, ensure_image

        await ensure_image(begin.folder, EngineKind.OCI, lambda line: typer.echo(line, err=True))
        return await ensure_enrolled(
            begin.folder, EngineKind.OCI, begin.url, gpus=begin.gpus, token=self._ask_for_token
        )

    async def _ask_for_token(self) -> str:
        tell(NeedsToken())
        answer = await self._orders.get()
        if not isinstance(answer, Token):
            raise Complaint("the start was stopped")
        return answer.token

    async def _run_agent(self, begin: Begin) -> None:
        words = agent_words(begin.folder, EngineKind.OCI, gpus=begin.gpus, shared_storage=begin.shared_storage)
        command = [sys.executable, "-P", "-m", "gpuaas.main", *words, "--with-parent", str(os.getpid())]
        agent = Child("agent", command, begin.log, {})
        agent.start()
        is_told = False
        while not self._stop.is_set():
            if agent.is_crash_looping and not is_told:
                tell(CrashLooping())
                is_told = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), LOOK_SECONDS)
        await agent.stop()


if __name__ == "__main__":
    asyncio.run(RootAgent().run(handovers.decode(sys.argv[1]) if sys.argv[1:] else None))
