"""Ids, states, pages, secrets and logs: the small parts everything stands on."""

import io
import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

import pytest
import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.core import logs
from gpuaas.core.errors import IllegalMove, ValidationError
from gpuaas.core.ids import ALPHABET, Ids, encode
from gpuaas.core.paging import LIMIT, Paging
from gpuaas.core.secrets import MasterKey, MasterKeyError, TaskSigner, token_hash
from gpuaas.core.settings import load
from gpuaas.core.states import Machine
from gpuaas.wire.link import TASK_PURPOSE

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


class SetClock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0


class Light(StrEnum):
    RED = "red"
    GREEN = "green"
    BROKEN = "broken"


LIGHTS = Machine("light", {Light.RED: {Light.GREEN}, Light.GREEN: {Light.RED, Light.BROKEN}, Light.BROKEN: set()})


def test_ids_say_what_they_name_and_sort_by_birth() -> None:
    clock = SetClock(NOON)
    ids = Ids(clock)
    made = []
    for step in range(50):
        clock.at = NOON + timedelta(milliseconds=step)
        made.append(ids.new("alloc"))
    assert made == sorted(made)
    assert all(id.startswith("alloc_") and len(id) == 32 for id in made)


def test_ids_of_one_moment_differ() -> None:
    ids = Ids(SetClock(NOON))
    assert len({ids.new("x") for _ in range(1000)}) == 1000


def test_the_same_clock_and_randomness_make_the_same_ids() -> None:
    first, second = (Ids(SetClock(NOON), lambda size: b"\x07" * size) for _ in range(2))
    assert first.new("x") == second.new("x")


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_encoded_numbers_sort_as_the_numbers_do(one: int, other: int) -> None:
    assert (encode(one) < encode(other)) == (one < other)
    assert set(encode(one)) <= set(ALPHABET)


def test_a_move_that_is_not_in_the_table_is_refused_by_name() -> None:
    LIGHTS.check(Light.RED, Light.GREEN)
    with pytest.raises(IllegalMove) as refused:
        LIGHTS.check(Light.RED, Light.BROKEN)
    assert refused.value.facts == {"here": "red", "there": "broken"}
    assert LIGHTS.final == {Light.BROKEN}


def test_pages_follow_each_other_without_gap_or_repeat() -> None:
    rows = [f"id_{number:03d}" for number in range(10)]
    seen: list[str] = []
    cursor = None
    while True:
        paging = Paging.of(3, cursor)
        found = [row for row in reversed(rows) if row < paging.before][: paging.limit + 1]
        page = paging.page(found, str)
        seen += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == rows[::-1]


def test_a_page_has_a_limit_of_its_own_when_none_is_asked_for() -> None:
    assert Paging.of(None, None).limit == LIMIT


@pytest.mark.parametrize("cursor", ["", "%%%", "é", "abc", "gA==", "AA==", "YQ==junk"])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(ValidationError):
        Paging.of(10, cursor)


def test_what_is_sealed_opens_only_under_its_own_name_and_key(tmp_path: Path) -> None:
    key = MasterKey(b"k" * 32)
    sealed = key.seal(b"secret", "token:1")
    assert b"secret" not in sealed
    assert key.open(sealed, "token:1") == b"secret"
    for wrong_key, name, text in (
        (key, "token:2", sealed),
        (MasterKey(b"x" * 32), "token:1", sealed),
        (key, "token:1", sealed[:-1] + bytes([sealed[-1] ^ 1])),
    ):
        with pytest.raises(InvalidTag):
            wrong_key.open(text, name)


def test_sealing_twice_gives_different_bytes() -> None:
    key = MasterKey(b"k" * 32)
    assert key.seal(b"secret", "n") != key.seal(b"secret", "n")


def test_the_master_key_is_made_once_for_our_eyes_only(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    first, second = MasterKey.from_file(file), MasterKey.from_file(file)
    assert first.derive("x") == second.derive("x") != first.derive("y")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_replicas_that_start_at_once_on_one_folder_get_one_whole_key(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    with ThreadPoolExecutor(8) as replicas:
        made = [each.derive("x") for each in replicas.map(lambda _: MasterKey.from_file(file), range(8))]
    assert len(set(made)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["master.key"]


def test_a_start_cut_short_before_the_key_is_whole_leaves_no_key(tmp_path: Path) -> None:
    """A child ends itself right before the file gets its name."""
    file = tmp_path / "master.key"
    cut = (
        "import os, pathlib, sys\n"
        "sys.addaudithook(lambda event, _: event == 'os.link' and os._exit(9))\n"
        "from gpuaas.core.secrets import MasterKey\n"
        f"MasterKey.from_file(pathlib.Path({str(file)!r}))\n"
    )
    assert subprocess.run([sys.executable, "-c", cut], check=False).returncode == 9
    assert not file.exists()
    assert MasterKey.from_file(file).derive("x") == MasterKey.from_file(file).derive("x")


def test_a_damaged_master_key_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    file.write_bytes(b"")
    with pytest.raises(MasterKeyError, match="backup"):
        MasterKey.from_file(file)


def test_a_master_key_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        MasterKey(b"short")


def test_a_signed_task_is_verified_by_the_published_key_and_by_no_other() -> None:
    signer, other = TaskSigner(MasterKey(b"k" * 32)), TaskSigner(MasterKey(b"x" * 32))
    task = signer.sign(b"body")
    assert task.signer == signer.verifier.id != other.verifier.id
    public = signer._key.public_key()
    assert isinstance(public, Ed25519PublicKey)
    public.verify(task.signature, TASK_PURPOSE + task.body)


def test_a_token_is_kept_as_its_hash() -> None:
    assert token_hash("gps_x") == token_hash("gps_x") != token_hash("gps_y")
    assert b"gps_x" not in token_hash("gps_x")


def test_settings_come_from_arguments_then_variables_then_defaults(tmp_path: Path) -> None:
    environ = {"GPUAAS_PORT": "9000", "GPUAAS_HOST": "0.0.0.0", "GPUAAS_OTHER": "x"}  # noqa: S104 - only a value
    config = load(environ, data=tmp_path, host=None, port=9001)
    assert (config.port, config.host, config.log_level) == (9001, "0.0.0.0", "info")  # noqa: S104 - as above


def fail(password: str) -> None:
    raise RuntimeError(f"with {len(password)} characters")


def test_logs_never_show_a_secret_and_carry_the_correlation_id(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    before = structlog.get_config()
    logs.configure(human=False)
    try:
        reset = logs.correlation_id.set("req_1")
        log = structlog.get_logger()
        log.info("user.login", password="hunter2", access_token="gps_hunter2", cookie="gps_hunter2", user="ada")
        try:
            fail("hunter2")
        except RuntimeError:
            log.exception("request.failed")
        logs.correlation_id.reset(reset)
    finally:
        structlog.configure(**before)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert "hunter2" not in out.getvalue()
    assert [(line["event"], line["correlation_id"]) for line in lines] == [
        ("user.login", "req_1"),
        ("request.failed", "req_1"),
    ]
    assert (lines[0]["user"], lines[0]["password"]) == ("ada", "[redacted]")
    assert lines[1]["exception"][0]["exc_value"] == "with 7 characters"
