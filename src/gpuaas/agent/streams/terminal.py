"""Streams of the kind `terminal`: each shows one terminal of this node."""

import asyncio

import structlog

from gpuaas.agent.streams.kinds import AgentStreams, Node, StreamRefusedError, StreamSocket
from gpuaas.agent.terminals import Terminal
from gpuaas.wire.link import EndedTerminal, EndTerminals, LiveTerminal, TerminalReport
from gpuaas.wire.terminals import TERMINAL, TerminalTarget

REPORT_AGAIN_SECONDS = 5.0
MOST_ENDED = 1_000
log = structlog.get_logger()


class TerminalStreams(AgentStreams[TerminalTarget]):
    """All terminals of the node, and the reports on them."""

    def __init__(self, node: Node) -> None:
        super().__init__(TERMINAL)
        self._shells, self._outgoing, self._time = node.engine.terminals, node.outgoing, node.server_time
        self._here: dict[str, Terminal] = {}
        self._ended: list[EndedTerminal] = []

    async def take_over(self) -> None:
        """Take over the terminals of an earlier agent, before the first report of live terminals."""
        for id, allocation_id, shell in await self._shells.take_over():
            terminal = Terminal(id=id, allocation_id=allocation_id, shell=shell, on_news=self._news)
            self._here[id] = terminal
            terminal.resume()
            log.info("terminal.taken_over", terminal=id, allocation=allocation_id)

    async def serve(self, socket: StreamSocket, allocation_id: str, target: TerminalTarget) -> None:
        terminal = self._here.get(target.terminal_id)
        if terminal is None:
            if not target.is_new:
                raise StreamRefusedError("this terminal has ended")
            shell = await self._shells.open(allocation_id, target.boot, target.terminal_id)
            terminal = Terminal(id=target.terminal_id, allocation_id=allocation_id, shell=shell, on_news=self._news)
            terminal.limit(target)
            self._here[terminal.id] = terminal
        await terminal.show(socket, target)

    def end(self, message: EndTerminals) -> None:
        for id in message.terminal_ids:
            if terminal := self._here.get(id):
                terminal.finish(message.reason)
            else:
                self._ended.append(EndedTerminal(id=id, reason=message.reason))
        self._news()

    def welcomed(self) -> None:
        """Report now, and once more later: the first report may be too fresh for the server to judge."""
        self._report()
        asyncio.get_running_loop().call_later(REPORT_AGAIN_SECONDS, self._report)

    def leave(self) -> None:
        """Terminals continue if the engine keeps them."""
        for terminal in self._here.values():
            terminal.leave()

    def _news(self) -> None:
        for terminal in [each for each in self._here.values() if each.is_over]:
            del self._here[terminal.id]
            terminal.forget()
            if terminal.end is not None:
                self._ended.append(terminal.end)
        del self._ended[:-MOST_ENDED]
        self._report()

    def _report(self) -> None:
        """Report all terminals, whenever one of them changed."""
        if not self._time.is_known:
            return
        ended, self._ended = self._ended, []
        if not self._outgoing.put(TerminalReport(live=self._live(), ended=ended, at=self._time.now())):
            self._ended = [*ended, *self._ended]  # included in the next report

    def _live(self) -> list[LiveTerminal]:
        return [
            LiveTerminal(id=each.id, allocation_id=each.allocation_id, is_attached=each.is_attached)
            for each in self._here.values()
        ]
