"""`gpuaas admin tenants|projects|users`: find an account, suspend it with a reason, resume it."""

import pytest

from gpuaas.cli.complaints import ExitCode
from gpuaas.wire.accounts import AccountKind, AdminProject, AdminTenant, AdminUser, Suspension
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page

KINDS = {kind: samples.id_of({"project": "proj", "tenant": "ten"}.get(kind, "user"), 9) for kind in AccountKind}
SHOWN: dict[AccountKind, AdminTenant | AdminProject | AdminUser] = {
    AccountKind.TENANT: samples.admin_tenant(),
    AccountKind.PROJECT: samples.admin_project(),
    AccountKind.USER: samples.admin_user(),
}


def suspension(kind: AccountKind, *, is_suspended: bool) -> Suspension:
    return Suspension(
        kind=kind,
        id=KINDS[kind],
        suspended_at=samples.NOON if is_suspended else None,
        suspended_by=samples.id_of("user", 1) if is_suspended else None,
        reason="mined coins" if is_suspended else "",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_account_is_suspended_with_a_reason_and_resumed(terminal: Terminal, api: FakeApi, kind: AccountKind) -> None:
    place, id = f"/admin/{kind}s/{KINDS[kind]}", KINDS[kind]
    api.on("POST", f"{place}/suspend", Answer(suspension(kind, is_suspended=True)))
    api.on("POST", f"{place}/unsuspend", Answer(suspension(kind, is_suspended=False)))
    ran = terminal.run("admin", f"{kind}s", "suspend", id, "--reason", "mined coins", "--yes")
    assert (ran.code, "mined coins" in ran.out) == (0, True)
    assert f"gpuaas admin {kind}s resume {id}" in ran.err
    (asked,) = api.asked("POST", f"{place}/suspend")
    assert asked.body == {"reason": "mined coins"}
    assert asked.key
    ran = terminal.run("admin", f"{kind}s", "resume", id, "--reason", "appealed")
    assert (ran.code, "mined coins" in ran.out) == (0, False)
    assert api.asked("POST", f"{place}/unsuspend")[0].body == {"reason": "appealed"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_suspension_needs_a_reason_and_a_confirmation(terminal: Terminal, api: FakeApi, kind: AccountKind) -> None:
    line = ("admin", f"{kind}s", "suspend", KINDS[kind])
    without_reason = terminal.run(*line, "--yes")
    assert (without_reason.code, "--reason" in without_reason.err) == (ExitCode.CLIENT, True)
    unconfirmed = terminal.run(*line, "--reason", "r")
    assert (unconfirmed.code, "--yes" in unconfirmed.err) == (ExitCode.CLIENT, True)
    assert api.seen == []


@pytest.mark.parametrize("kind", KINDS)
def test_accounts_are_found_by_a_part_of_their_name(terminal: Terminal, api: FakeApi, kind: AccountKind) -> None:
    api.on("GET", f"/admin/{kind}s", page(SHOWN[kind]))
    ran = terminal.run("admin", f"{kind}s", "list", "--search", "ad")
    assert (ran.code, SHOWN[kind].id in ran.out, "mined" in ran.out) == (0, True, True)
    assert api.asked("GET", f"/admin/{kind}s")[0].query["search"] == "ad"
