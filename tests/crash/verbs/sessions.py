"""Somebody is in a machine, by a terminal in a browser or by SSH."""

import asyncio

from websockets.exceptions import WebSocketException

from tests.crash.stages import Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case
from tests.patience import PATIENCE_SECONDS
from tests.terminals.browsers import dialled

ALIVE = ("MARK=kept; printf 'al%s\\n' ive", "alive")
SAME = ("printf 'mark %s\\n' $MARK", "mark kept")
SHELLS = "pgrep -fc '^-' || true"  # those of terminals: who comes by SSH to count them has none that is a login's
# Ten tokens a minute are plenty for a person, around whom less dies.
FORGET_TOKENS = "update terminal_tickets set created_at = created_at - interval '2 minutes'"
ROW = "select closed_at, ended_at, reason from terminals where id = $1"
LISTED = """
    select c ->> 'id' as id from allocation_sessions s, jsonb_array_elements(s.body) c
    where s.allocation_id = $1 and c ->> 'source' = $2
"""
WORK, BESIDE = "sleep 2000000", "sleep 1000000"  # of whoever is cut; of whoever left it behind, as in `furnished`
STILL_RUN = f"pgrep -fxc '{WORK}'; pgrep -fxc '{BESIDE}'; true"
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
    shells = int(await stage.says(allocation_id, SHELLS))
    known = len(await stage.query(OPEN, allocation_id))
    return f"{shells} shells for {known} terminals" if shells > known else ""


async def open_terminal(stage: Stage, case: Case) -> None:
    async def not_opened() -> str:
        case.notes["session"], why = await type_into(stage, case.allocation_id, ALIVE)
        return why

    await stage.reach(not_opened)
    case.notes["agent deaths"] = str(stage.agent.deaths)


async def no_terminal(stage: Stage, case: Case) -> str:
    """Until the same shell is shown again; with its agent it ends, and then until another one is to be had."""
    (row,) = await stage.query(ROW, case.notes["session"])
    if row["closed_at"] is not None:
        if stage.agent.deaths == int(case.notes["agent deaths"]):
            raise Broken(f"the terminal ended: {row['reason']}")
        await open_terminal(stage, case)
    _, why = await type_into(stage, case.allocation_id, SAME, case.notes["session"])
    return why or await too_many(stage, case.allocation_id)


async def watched(stage: Stage, case: Case) -> None:
    """A machine with a terminal that somebody opened and left."""
    await machines.furnished(stage, case)
    await open_terminal(stage, case)


async def come_back(stage: Stage, case: Case) -> None:
    await stage.reach(lambda: no_terminal(stage, case))


async def end(stage: Stage, case: Case) -> None:
    place = f"/allocations/{case.allocation_id}/sessions/{case.notes['session']}"
    try:
        await stage.post(place, {}, key=case.key, method="DELETE")
    except Broken as refused:
        if "session_not_found" not in str(refused):  # it ended with its agent before anybody asked
            raise


async def not_ended(stage: Stage, case: Case) -> str:
    (row,) = await stage.query(ROW, case.notes["session"])
    if row["closed_at"] is None or row["ended_at"] is None:
        return f"the terminal is {'open' if row['closed_at'] is None else 'not known to have ended'}"
    return await too_many(stage, case.allocation_id)


async def seated(stage: Stage, case: Case) -> None:
    await machines.furnished(stage, case)
    await sit_down(stage, case)


async def sit_down(stage: Stage, case: Case) -> None:
    """By SSH, with something running on a terminal; until the server knows."""
    case.connection = await stage.enter(case.allocation_id)
    await case.connection.create_process(f"exec {WORK}", term_type="xterm")
    host, port, *_ = case.connection.get_extra_info("sockname")
    case.notes["source"] = f"{host}:{port}"

    async def not_known() -> str:
        found = await stage.query(LISTED, case.allocation_id, case.notes["source"])
        case.notes["session"] = found[0]["id"] if found else ""
        return "" if found else "the session is not known"

    await stage.reach(not_known)


async def not_cut(stage: Stage, case: Case) -> str:
    """Until they are out with what they ran there, and nobody else is; their key still admits."""
    if not case.is_cut:
        return "the session goes on"
    if await stage.query(LISTED, case.allocation_id, case.notes["source"]):
        return "the session is still listed"
    if await stage.query("select from session_ends where allocation_id = $1", case.allocation_id):
        return "the end of the session is still waited for"
    cut, beside = (await stage.says(case.allocation_id, STILL_RUN)).split()
    if beside != "1":
        raise Broken(f"what others left running runs {beside} times")
    return "" if cut == "0" else "what ran in the session goes on"


async def leave(stage: Stage, case: Case) -> None:
    if case.connection is not None:
        case.connection.close()
        await case.connection.wait_closed()
    await machines.give_back(stage, case)
