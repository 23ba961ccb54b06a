"""Grants, members, invitations and who is in: what each command asks of the API, and what it says before and after."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from gpuaas.cli.complaints import ExitCode
from gpuaas.wire.access import AccessGrant, AllocationKeys, GrantStatus, OwnKeyFile
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from gpuaas.wire.members import Invitation, Member, ReachedMachine, ReachedProject, SentInvitation
from gpuaas.wire.sessions import EndedSession, LiveSession, LiveSessions
from gpuaas.wire.terminals import Terminal as WireTerminal
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page, problem

MACHINE = f"/allocations/{samples.ALLOCATION}"
PLACE, PROJECT = f"{MACHINE}/access-grants", f"/projects/{samples.PROJECT}"
BOB = Member(project_id=samples.PROJECT, user_id=samples.id_of("user", 2), email="bob@example.com", role=Role.MEMBER)
INVITATION = Invitation(
    id=samples.id_of("inv", 1),
    project_id=samples.PROJECT,
    project_slug="vision",
    tenant_slug="acme",
    email=BOB.email,
    role=Role.MEMBER,
    invited_by=samples.USER.id,
    invited_by_email=samples.USER.email,
    created_at=samples.NOON,
    expires_at=samples.NOON + timedelta(days=14),
)
SECRET = "gpi_secret"
SENT = SentInvitation(**asdict(INVITATION), link=f"https://gpu.example.com/invitations/accept#{SECRET}")
INSIDE = LiveSession(
    id="3f9c0001",
    kind="ssh",
    user_id=BOB.user_id,
    email=BOB.email,
    key_fingerprint="SHA256:bob",
    source="10.0.0.7:50022",
    opened_at=samples.NOON - timedelta(minutes=2),
    bytes_in=10,
    bytes_out=2000,
    is_ending=False,
)
KEYS = AllocationKeys(
    allocation_id=samples.ALLOCATION,
    ssh_key_ids=[samples.id_of("key", 2)],
    fingerprints=["SHA256:desk"],
    generation=2,
    installed=False,
)


def grant(status: GrantStatus = GrantStatus.ACTIVE, **changes: Any) -> AccessGrant:
    made = AccessGrant(
        id=samples.id_of("grant", 1),
        project_id=samples.PROJECT,
        allocation_id=samples.ALLOCATION,
        allocation_name="train-a",
        user_id=BOB.user_id,
        email=BOB.email,
        status=status,
        status_since=samples.NOON - timedelta(minutes=5),
        status_reason="",
        ssh_key_id=None,
        key_fingerprint="SHA256:bob" if status is GrantStatus.ACTIVE else None,
        created_by=samples.USER.id,
        created_at=samples.NOON,
        expires_at=None,
        installed=True,
    )
    return replace(made, **changes)


def seen(*sessions: LiveSession, is_current: bool = True) -> LiveSessions:
    return LiveSessions(
        allocation_id=samples.ALLOCATION,
        items=[*sessions],
        observed_at=samples.NOON,
        age_seconds=1.0,
        is_current=is_current,
    )


@pytest.fixture
def shared(api: FakeApi) -> FakeApi:
    """A project of Ada and Bob with one machine, that Bob was let into."""
    api.on("GET", f"{PROJECT}/allocations", page(samples.allocation()))
    api.on("GET", f"{PROJECT}/members", page(BOB))
    api.on("GET", f"{PROJECT}/access-grants", page(grant()))
    api.on("GET", PLACE, page(grant(GrantStatus.REVOKED, id=samples.id_of("grant", 0)), grant()))
    api.on("GET", f"{MACHINE}/sessions", Answer(seen(INSIDE)))
    api.on("GET", "/ssh-keys", page(samples.ssh_key("laptop", 1), samples.ssh_key("desk", 2)))
    api.on("GET", "/me", Answer(samples.me()))
    return api


def test_grants_of_a_project_are_the_live_ones_and_of_a_machine_all_there_were(
    terminal: Terminal, shared: FakeApi
) -> None:
    assert [one["status"] for one in json.loads(terminal.run("grants", "list", "-o", "json").out)] == ["active"]
    of_one = json.loads(terminal.run("grants", "list", "train-a", "-o", "json").out)
    assert [one["status"] for one in of_one] == ["revoked", "active"]
    assert "bob@example.com" in terminal.run("grants", "list").out


def test_a_grant_without_a_key_says_what_the_other_does_next(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("POST", PLACE, Answer(grant(GrantStatus.AWAITING_KEY), 201))
    ran = terminal.run("grants", "create", "train-a", "bob@example.com", "--hours", "8")
    assert ran.code == 0
    assert "bob@example.com chooses a key now: gpuaas grants use-key train-a" in ran.err
    (asked,) = shared.asked("POST", PLACE)
    assert (asked.body["user_id"], asked.body["expires_at"]) == (BOB.user_id, "2026-05-04T20:00:00Z")
    assert asked.key


def test_a_grant_is_extended_or_given_no_end(terminal: Terminal, shared: FakeApi) -> None:
    at = f"{PLACE}/{samples.id_of('grant', 1)}"
    shared.on("PATCH", at, Answer(grant(expires_at=samples.NOON + timedelta(hours=8))))
    ran = terminal.run("grants", "extend", "train-a", BOB.email)
    assert terminal.run("grants", "extend", "train-a", BOB.email, "--forever").code == 0
    ends = [one.body["expires_at"] for one in shared.asked("PATCH", at)]
    assert ends == [(samples.NOON + timedelta(hours=8)).isoformat().replace("+00:00", "Z"), None]
    assert "+00:00" not in ran.out


def test_access_is_asked_for_with_a_key_and_a_reason(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("POST", f"{MACHINE}/access-requests", Answer(grant(GrantStatus.ASKED), 201))
    assert terminal.run("grants", "ask", "train-a", "--key", "desk", "--reason", "the loss").code == 0
    (asked,) = shared.asked("POST", f"{MACHINE}/access-requests")
    assert asked.body == {"ssh_key_id": samples.id_of("key", 2), "reason": "the loss"}


def test_the_grantee_chooses_the_key(terminal: Terminal, shared: FakeApi) -> None:
    mine = grant(GrantStatus.AWAITING_KEY, user_id=samples.USER.id, email=samples.USER.email)
    shared.on("GET", PLACE, page(mine))
    shared.on("PATCH", f"{PLACE}/{mine.id}", Answer(grant()))
    assert terminal.run("grants", "use-key", "train-a", "--key", "desk").code == 0
    assert shared.asked("PATCH", f"{PLACE}/{mine.id}")[0].body == {"ssh_key_id": samples.id_of("key", 2)}


def test_a_revoke_says_what_it_ends_and_warns_of_other_doors(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("DELETE", f"{PLACE}/{grant().id}", Answer(grant(GrantStatus.REVOKED, notice="Look for other doors.")))
    unsure = terminal.run("grants", "revoke", "train-a", "bob@example.com")
    assert (unsure.code, shared.asked("DELETE", f"{PLACE}/{grant().id}")) == (1, [])
    assert "open sessions are cut" in unsure.err
    ran = terminal.run("grants", "revoke", "train-a", BOB.email, "--yes", "--reason", "left")
    assert ran.code == 0
    assert "Look for other doors." in ran.err
    assert shared.asked("DELETE", f"{PLACE}/{grant().id}")[0].query == {"reason": "left"}


def test_nobody_to_revoke_from_is_not_found(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("GET", PLACE, page())
    ran = terminal.run("grants", "revoke", "train-a", "me", "--yes")
    assert (ran.code, "shared with nobody" in ran.err) == (4, True)


def test_members_are_listed_invited_and_changed(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("POST", f"{PROJECT}/members", Answer(SENT, 202))
    shared.on("PUT", f"{PROJECT}/members/{BOB.user_id}", Answer(replace(BOB, role=Role.ADMIN)))
    assert "bob@example.com  member" in terminal.run("members", "list").out
    assert SENT.link in terminal.run("members", "invite", "bob@example.com", "--role", "viewer").out
    assert shared.asked("POST", f"{PROJECT}/members")[0].body == {"email": "bob@example.com", "role": "viewer"}
    assert "admin" in terminal.run("members", "set-role", "bob@example.com", "admin").out
    assert shared.asked("PUT", f"{PROJECT}/members/{BOB.user_id}")[0].body == {"role": "admin"}


def test_a_member_is_shown_with_their_machines(terminal: Terminal, shared: FakeApi) -> None:
    machine = ReachedMachine(
        allocation_id=samples.ALLOCATION,
        name="train-a",
        status=Status.ACTIVE,
        is_holder=False,
        grant=GrantStatus.ACTIVE,
    )
    reached = ReachedProject(
        project_id=samples.PROJECT,
        slug="default",
        tenant_id=samples.id_of("ten", 1),
        tenant_slug="acme",
        role=Role.MEMBER,
        tenant_role=None,
        machines=[machine],
    )
    shared.on("GET", f"{PROJECT}/members/{BOB.user_id}", Answer(reached))
    assert "grant, active" in terminal.run("members", "get", "bob@example.com").out
    assert json.loads(terminal.run("members", "get", BOB.email, "-o", "json").out)["machines"][0]["name"] == "train-a"


@pytest.mark.parametrize(
    ("line", "path", "lost"),
    [
        ("members remove bob@example.com", f"{PROJECT}/members/{BOB.user_id}", "sessions are cut at once"),
        ("members leave", f"{PROJECT}/members/{samples.USER.id}", "sessions there are cut at once"),
    ],
)
def test_leaving_says_what_is_lost_and_asks(
    terminal: Terminal, shared: FakeApi, line: str, path: str, lost: str
) -> None:
    shared.on("DELETE", path, Answer(status=204))
    unsure = terminal.run(*line.split())
    assert (unsure.code, lost in unsure.err, shared.asked("DELETE", path)) == (1, True, [])
    assert terminal.run(*line.split(), "--yes").code == 0
    assert len(shared.asked("DELETE", path)) == 1


def test_a_member_becomes_a_viewer_only_after_a_yes(terminal: Terminal, shared: FakeApi) -> None:
    path = f"{PROJECT}/members/{BOB.user_id}"
    shared.on("PUT", path, Answer(replace(BOB, role=Role.VIEWER)))
    assert terminal.run("members", "set-role", BOB.email, "viewer").code == 1
    assert shared.asked("PUT", path) == []


def test_the_last_owner_is_told_so(terminal: Terminal, shared: FakeApi) -> None:
    path = f"{PROJECT}/members/{samples.USER.id}"
    shared.on("DELETE", path, problem(409, "last_owner", "A project keeps an owner."))
    ran = terminal.run("members", "leave", "--yes")
    assert (ran.code, "A project keeps an owner." in ran.err) == (5, True)


def test_invitations_are_listed_accepted_and_withdrawn(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("GET", "/invitations", page(INVITATION))
    shared.on("POST", "/invitations/accept", Answer(INVITATION))
    shared.on("DELETE", f"/invitations/{INVITATION.id}", Answer(status=204))
    assert INVITATION.id in terminal.run("invitations", "list", "-o", "csv").out
    for given in (SENT.link, SECRET):
        assert terminal.run("invitations", "accept", given).code == 0
    assert [each.body for each in shared.asked("POST", "/invitations/accept")] == [{"secret": SECRET}] * 2
    assert "withdrawn" in terminal.run("invitations", "withdraw", INVITATION.id).err


def test_who_is_in_is_shown_and_how_old_that_is(terminal: Terminal, shared: FakeApi) -> None:
    ran = terminal.run("allocations", "sessions", "train-a")
    assert all(word in ran.out for word in ("bob@example.com", "ssh", "10.0.0.7", "2 m"))
    shared.on("GET", f"{MACHINE}/sessions", Answer(seen(is_current=False)))
    away = terminal.run("allocations", "sessions", "train-a")
    assert ("Nobody is in." in away.err, "does not answer now" in away.err) == (True, True)


def test_one_session_is_ended_by_its_id(terminal: Terminal, shared: FakeApi) -> None:
    path = f"{MACHINE}/sessions/{INSIDE.id}"
    ended = EndedSession(id=INSIDE.id, allocation_id=samples.ALLOCATION, operation_id=samples.OPERATION)
    shared.on("DELETE", path, Answer(ended, 202))
    assert terminal.run("allocations", "end-session", "train-a", INSIDE.id).code == 1
    assert shared.asked("DELETE", path) == []
    assert terminal.run("allocations", "end-session", "train-a", INSIDE.id, "--yes", "--reason", "coffee").code == 0
    assert shared.asked("DELETE", path)[0].query == {"reason": "coffee"}


def test_the_last_key_goes_only_with_that_word(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("PUT", f"{MACHINE}/ssh-keys", Answer(KEYS))
    ran = terminal.run("allocations", "set-keys", "train-a", "--key", "desk", "--yes")
    assert (ran.code, "on its way" in ran.out) == (0, True)
    terminal.run("allocations", "set-keys", "train-a", "--none", "--yes")
    chosen, none = (one.body for one in shared.asked("PUT", f"{MACHINE}/ssh-keys"))
    assert chosen == {"ssh_key_ids": [samples.id_of("key", 2)], "confirm_no_way_in": False}
    assert none == {"ssh_key_ids": [], "confirm_no_way_in": True}


def test_a_machine_is_handed_over_after_a_yes(terminal: Terminal, shared: FakeApi) -> None:
    shared.on("POST", f"{MACHINE}/handover", Answer(samples.allocation(holder=BOB.email)))
    assert terminal.run("allocations", "handover", "train-a", "bob@example.com").code == 1
    ran = terminal.run("allocations", "handover", "train-a", "bob@example.com", "--yes")
    assert (ran.code, shared.asked("POST", f"{MACHINE}/handover")[0].body["user_id"]) == (0, BOB.user_id)


TERMINAL = WireTerminal(
    id=samples.id_of("term", 1),
    allocation_id=samples.ALLOCATION,
    user_id=BOB.user_id,
    source="10.0.0.7:50022",
    opened_at=samples.NOON - timedelta(hours=2),
    recorded=True,
    closed_at=samples.NOON - timedelta(hours=1),
    reason="the shell ended with code 0",
    recorded_bytes=12_345,
)
CAST = b'{"version": 2}\n[0.1, "o", "hello"]\n'


def test_terminals_are_listed_and_a_recording_is_written(terminal: Terminal, shared: FakeApi, tmp_path: Path) -> None:
    shared.on("GET", f"{MACHINE}/terminals", page(TERMINAL))
    shared.on("GET", f"{MACHINE}/terminals/{TERMINAL.id}/recording", Answer(raw=CAST))
    listed = terminal.run("allocations", "terminals", "train-a", "-o", "json")
    assert [one["recorded_bytes"] for one in json.loads(listed.out)] == [12_345]
    file = tmp_path / "shown.cast"
    ran = terminal.run("allocations", "recording", "train-a", TERMINAL.id, "--to", str(file))
    assert (ran.code, file.read_bytes()) == (0, CAST)
    assert f"{len(CAST)} bytes" in ran.err
    assert terminal.run("allocations", "recording", "train-a", "nothing").code == ExitCode.NOT_FOUND


def test_the_project_lists_the_allocations_that_admit_their_own_key_file(terminal: Terminal, shared: FakeApi) -> None:
    file = OwnKeyFile(
        allocation_id=samples.ALLOCATION,
        allocation_name="train-a",
        project_id=samples.PROJECT,
        allowed_by=BOB.user_id,
        allowed_by_email=BOB.email,
        allowed_at=samples.NOON,
        installed=False,
        fingerprints=["SHA256:stray"],
        refused_fingerprints=[],
        observed_at=samples.NOON,
    )
    shared.on("GET", f"{PROJECT}/own-keys", page(file), page())
    ran = terminal.run("projects", "own-keys", "-o", "csv")
    assert ran.code == 0, ran
    assert all(word in ran.out for word in ("train-a", BOB.email, "pending", "SHA256:stray"))
    ran = terminal.run("projects", "own-keys")
    assert "No allocation admits" in ran.out + ran.err


@pytest.mark.parametrize(
    ("installed", "applied", "word"),
    [(True, True, "admitted"), (False, True, "not admitted"), (False, False, "pending")],
)
def test_the_list_of_grants_says_what_the_node_confirmed(
    terminal: Terminal, shared: FakeApi, *, installed: bool, applied: bool, word: str
) -> None:
    shared.on("GET", f"{PROJECT}/access-grants", page(grant(installed=installed, applied=applied)))
    assert f",{word}," in terminal.run("grants", "list", "-o", "csv").out
