"""Each class of failure has its exit code, its reason and its next step, on stderr."""

import pytest

from gpuaas.wire.common import FieldError
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page, problem

REFUSALS = {
    "validation_error": (422, 1, ""),
    "balance_depleted": (402, 1, ""),
    "token_missing": (401, 3, "gpuaas login"),
    "token_expired": (401, 3, "gpuaas login"),
    "insufficient_permissions": (403, 3, "owner"),
    "sku_not_found": (404, 4, "list"),
    "sku_unavailable": (409, 5, "placement explain"),
    "internal_error": (500, 2, "correlation id"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_has_its_exit_code(terminal: Terminal, api: FakeApi, code: str) -> None:
    status, exit_code, step = REFUSALS[code]
    api.on("GET", "/skus", problem(status, code, "Why it failed.", facts={"region": "eu-1"}))
    ran = terminal.run("skus")
    assert (ran.code, ran.out) == (exit_code, "")
    first, *rest = ran.err.splitlines()
    assert first == f"gpuaas skus: Why it failed. ({code})"
    assert "  region: eu-1" in rest
    assert "  correlation id: corr-7" in rest
    assert step in ran.err


def test_wrong_fields_are_named(terminal: Terminal, api: FakeApi) -> None:
    api.on("POST", "/projects", problem(422, "validation_error", errors=[FieldError(field="slug", message="too long")]))
    assert "  slug: too long" in terminal.run("projects", "create", "x").err


def test_nobody_there_is_a_network_error(stranger: Terminal) -> None:
    stranger.sign_in("ftp://nowhere")
    assert stranger.run("skus").code == 1
    stranger.environ |= {"GPUAAS_URL": "https://127.0.0.1:9", "GPUAAS_TOKEN": "t"}
    api_is_away = stranger.run("login", "--email", "a@b", "--password-stdin", stdin="x\n")  # never tried again
    assert api_is_away.code == 2
    assert "https://127.0.0.1:9 does not answer" in api_is_away.err
    assert "gpuaas up" in api_is_away.err


def test_an_unreadable_answer_is_the_servers_fault(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/skus", Answer(raw=b"<html>"))
    assert terminal.run("skus").code == 2


def test_not_signed_in_is_an_auth_error(stranger: Terminal) -> None:
    ran = stranger.run("allocations", "list")
    assert (ran.code, ran.err) == (
        3,
        "gpuaas allocations list: You are not signed in.\n  next: gpuaas login\n",
    )


@pytest.mark.parametrize(
    "line",
    ["", "nonsense", "skus --nonsense", "allocations", "allocations get", "skus -o yaml", "allocations create -g x"],
)
def test_wrong_usage_is_a_client_error(terminal: Terminal, line: str) -> None:
    ran = terminal.run(*line.split())
    assert (ran.code, ran.out) == (1, "")
    assert "--help" in ran.err


def test_a_near_miss_is_guessed(terminal: Terminal) -> None:
    assert "Did you mean 'allocations'" in terminal.run("alocations").err


def test_a_name_that_is_not_there_is_not_found(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    ran = terminal.run("allocations", "get", "nope")
    assert ran.code == 4
    assert "There is no allocation 'nope'." in ran.err


def test_secrets_are_never_in_an_error(terminal: Terminal, api: FakeApi) -> None:
    for reply in (problem(500, "internal_error"), problem(401, "token_invalid"), Answer(raw=b"{}")):
        api.on("GET", "/skus", reply)
        ran = terminal.run("skus")
        assert "secret-token" not in ran.out + ran.err
