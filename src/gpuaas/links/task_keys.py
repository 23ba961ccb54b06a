"""The task key that signs messages on each link, and the statements that move nodes to a newer key.

Messages are signed with the newest generation that the node has named as trusted, so no task is refused because of
its key, whichever replica rotated and whichever has the link.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import structlog

from gpuaas.core.db import AWAY, RERUN, Database, Tx
from gpuaas.core.hints import Hints
from gpuaas.core.secrets import TaskKeyring, TaskSigner
from gpuaas.domain.task_keys import commands, store
from gpuaas.domain.task_keys.store import Generations
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import BROKEN, Link
from gpuaas.wire.link import Hello
from gpuaas.wire.task_keys import MOST_TRUSTED, StatementBody, TaskKeyStatement, TrustedKey, TrustedKeys

NO_KEY = (
    "This node trusts no task key that this platform uses. On the node, run `gpuaas agent rotate-key --token T` "
    "with a token of `gpuaas admin nodes rotate-key NODE`; docs/howto/task-keys.md."
)
log = structlog.get_logger()


class LinkTaskKeys:
    """`links` are those of this replica; `cut` ends a link whose node trusts no key in use."""

    def __init__(
        self,
        links: Mapping[str, Link],
        keyring: TaskKeyring,
        *,
        db: Database,
        hints: Hints,
        background: BackgroundTasks,
        cut: Callable[[Link, int, str], Awaitable[None]],
    ) -> None:
        self._links, self._keyring, self._db, self._background, self._cut = links, keyring, db, background, cut
        self.generations = Generations()
        hints.on(store.TASK_KEYS, self._hint)

    def _hint(self, row_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._background.start(self._look())

    async def _look(self) -> None:
        try:
            await self.refresh()
        except (*AWAY, *RERUN) as error:  # the next check-in refreshes again
            log.warning("task_key.refresh_failed", error=repr(error))

    async def refresh(self) -> None:
        async with self._db.read() as tx:
            found = await store.generations(tx)
        self.apply(found)

    def apply(self, found: Generations) -> None:
        """Announce a change on every link. Links of nodes that trust only retired keys are closed."""
        if found == self.generations:
            return
        self.generations = found
        for link in list(self._links.values()):
            if link.generations[-1] < found.oldest:
                self._background.start(self._end(link))
            else:
                self._background.start(self.announce(link))

    async def _end(self, link: Link) -> None:
        await self._cut(link, 4410, "its task key is retired")

    def signer(self, link: Link) -> TaskSigner:
        return self._keyring.signer(link.generations[-1])

    def trusted_by(self, hello: Hello, recorded: int) -> tuple[int, ...]:
        """Generations in use, oldest first. An older agent names none; it trusts the recorded one."""
        if hello.trusted_keys:
            return self._in_use(hello.node_id, hello.trusted_keys)
        return (recorded,) if recorded >= self.generations.oldest else ()

    def _in_use(self, node_id: str, keys: list[TrustedKey]) -> tuple[int, ...]:
        named = keys[-MOST_TRUSTED:]
        ours = self._keyring.ours(named)
        if len(ours) < len(named):
            log.error("task_key.foreign", node=node_id, keys=[key.id for key in named])
        return ours if ours and ours[-1] >= self.generations.oldest else ()

    def heard(self, link: Link, message: TrustedKeys) -> None:
        """From now on, the newest key that the node trusts signs messages on its link."""
        if ours := self._in_use(link.node_id, message.keys):
            link.generations = ours
            self._background.start(self.announce(link))

    async def announce(self, link: Link) -> None:
        """Send the next statement that the node needs, once per link: an agent that cannot follow gets it only once."""
        statement = self._statement(link)
        if statement is None or statement.body == link.stated:
            return
        link.stated = statement.body
        try:
            await link.send(statement)
        except BROKEN as error:
            log.warning("link.send_failed", node=link.node_id, error=repr(error))
            await self._cut(link, 4408, "does not accept messages")

    def _statement(self, link: Link) -> TaskKeyStatement | None:
        current = max(self.generations.current, link.generations[-1])
        if link.generations[-1] < current:
            oldest = link.generations[0]  # nothing is retired before the node is known to trust the new key
        elif link.generations[0] < self.generations.oldest:
            oldest = self.generations.oldest
        else:
            return None
        public_key = self._keyring.signer(current).public_key
        return self.signer(link).state(StatementBody(generation=current, public_key=public_key, oldest=oldest))

    async def recover(self, tx: Tx, trusted: Mapping[str, tuple[int, ...]], now: datetime) -> None:
        """Record generations that nodes trust and that the database lost."""
        node_id, newest = max(((id, keys[-1]) for id, keys in trusted.items()), key=lambda each: each[1])
        if newest > self.generations.current:
            await commands.recover(tx, newest, node_id=node_id, now=now)
