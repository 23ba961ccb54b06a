"""Suspension cuts what is open, by real clients: OpenSSH and a terminal's socket; and both work again after it."""

import asyncio
import os
from pathlib import Path

import pytest

from gpuaas.wire.accounts import AccountKind
from tests.access.test_real_ssh import Scene, scene
from tests.live import eventually
from tests.suspensions.test_suspension import change
from tests.terminals.browsers import browsing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")


async def test_each_kind_cuts_ssh_and_terminal_and_its_end_restores_both(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        for kind in AccountKind:
            await cut_and_restored(on, kind)


async def cut_and_restored(on: Scene, kind: AccountKind) -> None:
    url = on.world.services.public_url
    session = await on.ada.spawn("ssh", *on.ada.options(), on.ada.target, "echo in; exec sleep 1000")
    assert session.stdout is not None
    await session.stdout.readline()
    async with browsing(on.world, url, on.id) as browser:
        await browser.session()
        await change(on.world, kind, "suspend", "abuse")
        _, ended = await browser.ended()
        assert "abuse" in str(ended)
    async with asyncio.timeout(20):
        await session.communicate()
    assert session.returncode == 255
    assert (await on.ada.run("true")).code == 255
    await change(on.world, kind, "unsuspend")
    await on.installed()

    async def is_back() -> bool:
        return (await on.ada.run("true")).code == 0

    await eventually(is_back)
    async with browsing(on.world, url, on.id) as browser:
        await browser.session()
