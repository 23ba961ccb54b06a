"""A reader on one replica, the node's link on another: the agent dials the one that asked."""

from pathlib import Path

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.terminals import Error
from tests.live import agent, serving
from tests.terminals.browsers import browsing, dialled, mint
from tests.terminals.conftest import active


async def test_a_terminal_is_opened_kept_and_cut_across_replicas(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (first, first_url), serving(migrated, tmp_path) as (_, second_url):
        await first.furnish()
        async with agent(first, first_url, tmp_path / "node", engine):
            id = (await first.submit()).raise_for_status().json()["allocations"][0]["id"]
            await active(first, id)
            async with browsing(first, second_url, id, record=True) as browser:
                session = await browser.session()
                await browser.type("over there\n")
                await browser.shows("over there\n")
            minted = await mint(first.ada, id, session_id=session.session_id)
            async with dialled(first_url, id, minted["token"]) as here:
                await here.shows("over there\n")
                assert (await here.session()).recorded
            async with browsing(first, second_url, id) as browser:
                await browser.session()
                (await first.http.post("/api/v1/auth/logout")).raise_for_status()
                code, last = await browser.ended()
                assert (code, last) == (4410, Error(reason="you signed out"))
