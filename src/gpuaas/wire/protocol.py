"""The versions of the node link's protocol that each end supports, and the version that a link uses.

The server declares the range it supports in its `Challenge`, the agent in its `Hello`. They use the newest version that
both support. An end that declares nothing is older than the declaration and supports only version 1.

| version | since |
|---|---|
| 1 | 0.1.0: no end declares a version |
| 2 | both ends declare the range they support; the server says in `Welcome` which version it chose |
"""

from msgspec import Struct

UNDECLARED = 1


class ProtocolRange(Struct, frozen=True):
    """The oldest and newest version that one end supports."""

    oldest: int = UNDECLARED
    newest: int = UNDECLARED

    def __str__(self) -> str:
        return f"{self.newest}" if self.oldest == self.newest else f"{self.oldest} to {self.newest}"


SUPPORTED = ProtocolRange(oldest=1, newest=2)


class ProtocolMismatch(Exception):
    """The message names the versions of both ends and which one to upgrade."""


def agree(*, agent: ProtocolRange, server: ProtocolRange) -> int:
    """The newest version that both ends support."""
    chosen = min(agent.newest, server.newest)
    if chosen >= max(agent.oldest, server.oldest):
        return chosen
    older = "agent" if agent.newest < server.oldest else "server"
    raise ProtocolMismatch(
        f"The agent supports version {agent} of the link protocol, and the server version {server}. "
        f"Upgrade the {older}."
    )
