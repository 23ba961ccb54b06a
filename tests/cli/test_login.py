"""Signing in and out, and what is kept of it."""

import stat
from pathlib import Path

import pytest

from gpuaas.wire.identity import LoggedIn
from tests.cli.conftest import TOKEN, Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, problem

PASSWORD = "correct horse battery"
LOGGED_IN = Answer(LoggedIn(access_token=TOKEN, expires_at=samples.NOON, user=samples.USER))


def login(terminal: Terminal, api: FakeApi, *more: str) -> str:
    api.on("POST", "/auth/personal/login", LOGGED_IN)
    line = ("login", "--url", f"{api.url}/", "--email", "ada@example.com", "--password-stdin", *more)
    ran = terminal.run(*line, stdin=f"{PASSWORD}\n")
    assert (ran.code, ran.out) == (0, "")
    assert not any(secret in ran.err for secret in (PASSWORD, TOKEN))
    return ran.err


def test_login_keeps_the_token_where_only_its_owner_can_read_it(stranger: Terminal, api: FakeApi) -> None:
    api.on("GET", "/me", Answer(samples.me()))
    assert "Signed in" in login(stranger, api)
    assert stat.S_IMODE(stranger.config.stat().st_mode) == 0o600
    assert stat.S_IMODE(stranger.config.parent.stat().st_mode) == 0o700
    text = stranger.config.read_text()
    assert TOKEN in text
    assert PASSWORD not in text
    assert [one.name for one in stranger.config.parent.iterdir()] == ["config.toml"]
    assert stranger.run("whoami").code == 0
    assert api.seen[-1].headers["authorization"] == f"Bearer {TOKEN}"


def test_the_default_project_is_the_only_one_or_the_one_called_default(stranger: Terminal, api: FakeApi) -> None:
    api.on("GET", "/me", Answer(samples.me("vision")))
    assert "project acme/vision" in login(stranger, api)
    api.on("GET", "/me", Answer(samples.me("vision", "default")))
    assert "project acme/default" in login(stranger, api)
    api.on("GET", "/me", Answer(samples.me("vision", "speech")))
    assert "gpuaas projects use" in login(stranger, api)
    assert "project acme/speech" in login(stranger, api, "--project", "speech")


def test_a_wrong_password_changes_nothing(stranger: Terminal, api: FakeApi) -> None:
    api.on("POST", "/auth/personal/login", problem(401, "credentials_invalid", "Email or password is wrong."))
    ran = stranger.run("login", "--url", api.url, "--email", "a@example.com", "--password-stdin", stdin=PASSWORD)
    assert (ran.code, stranger.config.exists()) == (3, False)
    assert "Email or password is wrong." in ran.err
    assert PASSWORD not in ran.err


def test_without_a_terminal_a_password_cannot_be_asked_for(stranger: Terminal, api: FakeApi) -> None:
    ran = stranger.run("login", "--url", api.url, "--email", "ada@example.com")
    assert (ran.code, api.seen) == (1, [])
    assert "--password-stdin" in ran.err


def test_plain_http_beyond_this_machine_is_refused(stranger: Terminal) -> None:
    ran = stranger.run("login", "--url", "http://gpuaas.example.com", "--email", "a@b", "--password-stdin", stdin="x\n")
    assert ran.code == 1
    assert "clear text" in ran.err


def test_logout_forgets_the_token_even_if_the_server_has(terminal: Terminal, api: FakeApi) -> None:
    api.on("POST", "/auth/logout", problem(401, "token_expired"))
    assert terminal.run("logout").code == 0
    assert TOKEN not in terminal.config.read_text()
    assert api.url in terminal.config.read_text()
    assert "not signed in" in terminal.run("logout").err


def test_the_environment_goes_before_the_file(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/me", Answer(samples.me()))
    terminal.environ["GPUAAS_TOKEN"] = "other-token"
    assert terminal.run("whoami").code == 0
    assert api.seen[-1].headers["authorization"] == "Bearer other-token"


def test_a_saved_token_goes_to_no_other_address(terminal: Terminal, api: FakeApi) -> None:
    terminal.environ["GPUAAS_URL"] = "http://127.0.0.1:9"
    ran = terminal.run("whoami")
    assert (ran.code, api.seen) == (3, [])
    assert "not signed in to http://127.0.0.1:9" in ran.err


def test_the_config_file_may_be_elsewhere(stranger: Terminal, api: FakeApi, tmp_path: Path) -> None:
    stranger.environ["GPUAAS_CONFIG"] = str(tmp_path / "elsewhere" / "mine.toml")
    api.on("GET", "/me", Answer(samples.me()))
    login(stranger, api)
    assert (tmp_path / "elsewhere" / "mine.toml").exists()


@pytest.mark.parametrize("text", ["not toml", "\0", "token = 3\nurl = []\n"])
def test_a_damaged_config_is_said_and_not_crashed_upon(terminal: Terminal, text: str) -> None:
    terminal.config.write_text(text)
    assert terminal.run("whoami").code in {1, 3}


def test_projects_use_changes_the_default(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/me", Answer(samples.me("default", "vision")))
    api.on("GET", "/projects", Answer({"items": [samples.project("vision", 2), samples.project("default", 1)]}))
    assert terminal.run("projects", "use", "vision").code == 0
    assert samples.id_of("proj", 2) in terminal.config.read_text()
    ran = terminal.run("projects", "list")
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == ["*", "acme"]
