"""A terminal in a browser while processes die."""

import asyncio

import asyncssh
from websockets.exceptions import WebSocketException

from tests.crash.stages import Stage
from tests.terminals.browsers import dialled

PATIENCE_SECONDS = 10.0
ALIVE = ("MARK=kept; printf 'al%s\\n' ive", "alive")
SAME = ("printf 'mark %s\\n' $MARK", "mark kept")
SHELLS = "pgrep -fc '^-' || true"  # those of terminals: who comes by SSH to count them has none that is a login's
# Ten tokens a minute are plenty for a person, around whom less dies.
FORGET_TOKENS = "update terminal_tickets set created_at = created_at - interval '2 minutes'"
ROW = "select closed_at, ended_at, reason from terminals where id = $1"
OPEN = "select id from terminals where allocation_id = $1 and closed_at is null"


async def type_into(
    stage: Stage, allocation_id: str, typed: tuple[str, str], session_id: str | None = None
) -> tuple[str, str]:
    """The terminal that showed what was to be seen; or none, and what was in the way."""
    line, wanted = typed
    await stage.query(FORGET_TOKENS)
    asked: dict[str, object] = {"session_id": session_id}
    try:
        minted = await stage.post(f"/allocations/{allocation_id}/terminal-token", asked, key="token")
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            dialled(stage.url, allocation_id, minted["token"]) as browser,
        ):
            session = await browser.session()
            await browser.type(f"{line}\n")
            await browser.shows(wanted)
            return session.session_id, ""
    except (OSError, TimeoutError, WebSocketException, AssertionError) as error:
        return "", repr(error)


async def too_many(stage: Stage, allocation_id: str) -> str:
    """Shells inside that no terminal of ours stands for."""
    try:
        shells = int(await stage.says(allocation_id, SHELLS))
    except (OSError, TimeoutError, asyncssh.Error) as error:
        return f"SSH: {error!r}"
    known = len(await stage.query(OPEN, allocation_id))
    return f"{shells} shells for {known} terminals" if shells > known else ""
