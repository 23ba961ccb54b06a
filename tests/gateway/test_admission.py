"""Who gets in, and who is cut: key sets, leases, the holder's own key file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import LoginKind
from gpuaas.wire.gateway import ACCESS_FILE
from tests.gateway.node import ALLOCATION, Node, until

REFUSED = 255


async def test_a_key_of_the_set_admits_and_another_does_not(node: Node) -> None:
    await node.set_keys(node.keys.authorized("holder"))
    assert (await node.ssh("true"))[0] == 0
    assert (await node.ssh("true", key="stranger"))[0] == REFUSED


async def test_a_withdrawn_key_is_cut_before_sync_answers_and_others_stay(node: Node) -> None:
    holder, guest = node.keys.authorized("holder"), node.keys.authorized("guest", granted=True)
    await node.set_keys(holder, guest)
    async with node.session("-tt") as stays, node.session("-tt", key="guest") as goes:
        await stays.see("$")
        await goes.see("$")
        await node.set_keys(holder)
        (left,) = await node.gateway.connections(ALLOCATION)
        assert left.user_id == "usr_holder"
        code, shown = await goes.end()
        assert code == REFUSED
        assert "this key is no longer accepted" in shown
        await stays.say("echo $((40 + 2)) still here\n")
        await stays.see("42 still here")


async def test_a_cut_hangs_up_what_the_session_ran(node: Node) -> None:
    async with node.session(
        command="trap 'echo hung up > /home/ada/hangup; exit' HUP; echo ready; sleep 1000 & wait"
    ) as live:
        await live.see("ready")
        (id,) = await node.wait_for_connections(1)
        assert await node.gateway.end_connection(ALLOCATION, id, "over")
        assert not await node.gateway.end_connection(ALLOCATION, id, "over")

    async def was_told() -> bool | None:
        return "hung up" in node.container.run("cat", "/home/ada/hangup", check=False) or None

    await until(was_told)


async def test_a_reason_is_shown_without_control_characters(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        assert await node.gateway.end_connections(ALLOCATION, None, "moved \x1b[2J away") == 1
        _, shown = await live.end()
    assert "moved  [2J away" in shown


async def test_a_session_without_a_terminal_is_told_on_its_standard_error(node: Node) -> None:
    async with node.session(command="echo ready; sleep 1000") as live:
        await live.see("ready")
        assert await node.gateway.end_connections(ALLOCATION, None, "access revoked") == 1
        _, shown = await live.end()
    assert "access revoked" in shown


async def test_a_session_that_moved_its_standard_error_away_is_cut_all_the_same(node: Node) -> None:
    async with node.session(command="exec 2> /home/ada/elsewhere; echo ready; sleep 1000") as live:
        await live.see("ready")
        assert await node.gateway.end_connections(ALLOCATION, None, "access revoked") == 1
        _, shown = await live.end()
    assert "access revoked" not in shown
    assert node.container.run("cat", "/home/ada/elsewhere") == ""


async def test_granted_keys_end_with_the_lease_and_the_holder_stays(node: Node) -> None:
    await node.set_keys(node.keys.authorized("holder"), node.keys.authorized("guest", granted=True))
    async with node.session("-tt") as holder, node.session("-tt", key="guest") as guest:
        await holder.see("$")
        await guest.see("$")
        node.lease(0.0)
        assert await node.gateway.renew_lease() == 1
        assert "no link to the platform" in (await guest.end())[1]
        assert (await node.ssh("true", key="guest"))[0] == REFUSED
        assert (await node.ssh("true"))[0] == 0
        node.lease(300.0)
        await node.gateway.renew_lease()
        assert (await node.ssh("true", key="guest"))[0] == 0


async def test_a_grant_ends_by_itself_while_nobody_asks(node: Node) -> None:
    await node.set_keys(node.keys.authorized("guest", granted=True))
    async with node.session("-tt", key="guest") as guest:
        await guest.see("$")
        ends = datetime.now(UTC) + timedelta(seconds=1)
        await node.set_keys(node.keys.authorized("guest", granted=True, ends_at=ends))
        assert "this access has expired" in (await guest.end())[1]


async def test_the_holder_ends_with_the_holder_lease(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        node.lease(0.0, holder_seconds=0.0)
        assert await node.gateway.renew_lease() == 1
        assert "no link to the platform for too long" in (await live.end())[1]
        assert (await node.ssh("true"))[0] == REFUSED


def write_own_keys(node: Node, text: str) -> None:
    script = "umask 077; mkdir -p /home/ada/.ssh && cat > /home/ada/.ssh/authorized_keys"
    node.container.run("sh", "-c", f"{script} <<'END'\n{text}\nEND", user=1000)


async def test_the_own_key_file_admits_only_where_the_holder_allows_it(node: Node) -> None:
    write_own_keys(node, f'{node.keys.public("own")} a comment\ncommand="date" {node.keys.public("optioned")}')
    holder = node.keys.authorized("holder")
    assert (await node.set_keys(holder)).own_keys is None
    assert (await node.ssh("true", key="own"))[0] == REFUSED
    state = await node.set_keys(holder, admits_own=True)
    assert state.own_keys == (node.keys.authorized("own").fingerprint,)
    assert (await node.ssh("true", key="own"))[0] == 0
    assert (await node.ssh("true", key="optioned"))[0] == REFUSED
    await node.set_keys(holder, admits_own=True, refused=(node.keys.authorized("own").fingerprint,))
    assert (await node.ssh("true", key="own"))[0] == REFUSED


async def test_an_own_key_file_that_others_could_write_is_not_read(node: Node) -> None:
    write_own_keys(node, node.keys.public("own"))
    node.container.run("chmod", "666", "/home/ada/.ssh/authorized_keys")
    assert (await node.set_keys(node.keys.authorized("holder"), admits_own=True)).own_keys == ()
    node.container.run("chmod", "600", "/home/ada/.ssh/authorized_keys")
    assert len((await node.set_keys(node.keys.authorized("holder"), admits_own=True)).own_keys or ()) == 1


async def test_logins_and_logouts_are_told_with_their_bytes(node: Node) -> None:
    node.gateway.logins.kept([event.id for event in node.gateway.logins.waiting()])
    assert (await node.ssh("head -c 100000 /dev/zero"))[0] == 0

    async def both() -> bool | None:
        return len(node.gateway.logins.waiting()) >= 2 or None

    await until(both)
    login, logout = node.gateway.logins.waiting()[-2:]
    assert [login.kind, logout.kind] == [LoginKind.LOGIN, LoginKind.LOGOUT]
    assert login.connection_id == logout.connection_id
    assert logout.user_id == "usr_holder"
    assert logout.bytes_out > 100_000 > logout.bytes_in > 0


def access_file(node: Node) -> Path:
    return node.root / "environments" / ALLOCATION / ACCESS_FILE


async def test_an_environment_that_does_not_run_admits_nobody(node: Node) -> None:
    async with node.session("-tt") as live:
        await node.wait_for_connections(1)
        access_file(node).unlink()
        state = await node.gateway.sync(ALLOCATION)
        assert not state.is_open
        assert state.detail == "the environment is not running"
        assert (await live.end())[0] == REFUSED
        code, _, error = await node.ssh("true")
        assert (code, "Connection refused" in error) == (REFUSED, True)


async def test_a_reused_pid_is_no_environment(node: Node) -> None:
    reused = msgspec.structs.replace(node.access.init, born="1")
    assert not (await node.sync(msgspec.structs.replace(node.access, init=reused))).is_open


async def test_an_unreadable_access_file_changes_nothing(node: Node) -> None:
    access_file(node).write_text("{")
    with pytest.raises(EngineError):
        await node.gateway.sync(ALLOCATION)
    assert (await node.ssh("true"))[0] == 0
