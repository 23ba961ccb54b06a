"""A secret is in the one answer that shows it, and nowhere else: not in logs, tracebacks, tables, or other answers."""

import io
from collections.abc import Iterator

import pytest
import structlog

from gpuaas.core import logs
from tests.isolation.asgi import Answer, Ask, send
from tests.isolation.ledger import dump
from tests.world import World

PASSWORD, WRONG = "canary-password-4711", "canary-wrong-password-4711"
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----canary4711"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Our own processors, as a server runs them, writing where we can read."""
    sink = io.StringIO()
    before = structlog.get_config()
    logs.configure(level="debug", human=False)
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sink), cache_logger_on_first_use=False)
    yield sink
    structlog.configure(**before)


class Visitor:
    """Goes everywhere, and keeps every answer."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.answers: list[Answer] = []

    async def ask(self, method: str, path: str, body: bytes = b"", *, token: str = "", key: str = "") -> Answer:
        headers = {"X-Idempotency-Key": key} if key else {}
        ask = Ask(method=method, target=path, token=token, headers=headers, body=body)
        self.answers.append(await send(self._world.app, ask))
        return self.answers[-1]


async def walk(world: World, visitor: Visitor) -> dict[str, str]:
    """Every flow that a secret takes part in; the secrets, and what shows each."""
    v1, who = "/api/v1", f'{{"email": "eve@example.com", "password": "{PASSWORD}"}}'.encode()
    session = (await visitor.ask("POST", f"{v1}/auth/personal/signup", who)).json()["access_token"]
    again = (await visitor.ask("POST", f"{v1}/auth/personal/login", who)).json()["access_token"]
    await visitor.ask("POST", f"{v1}/auth/personal/login", who.replace(PASSWORD.encode(), WRONG.encode()))
    await visitor.ask("POST", f"{v1}/auth/personal/signup", who)
    await visitor.ask("POST", f"{v1}/auth/personal/signup", who[:-2])
    scopes = b'{"title": "t", "scopes": ["read"]}'
    made = [await visitor.ask("POST", f"{v1}/auth/tokens", scopes, token=session, key="once") for _ in range(2)]
    assert made[0].body == made[1].body
    node, operator = b'{"node_name": "canary"}', world.operator.token
    issued = await visitor.ask("POST", f"{v1}/admin/enrolment-tokens", node, token=operator, key="once")
    enrolment = issued.json()["token"]
    refused = f'{{"token": "{enrolment}", "public_key": "x", "agent_version": "1", "facts": {{}}}}'.encode()
    await visitor.ask("POST", "/internal/v1/nodes/enrol", refused)
    private = f'{{"title": "t", "public_key": "{PRIVATE}"}}'.encode()
    await visitor.ask("POST", f"{v1}/ssh-keys", private, token=session)
    for path in ("/me", "/auth/sessions", "/auth/tokens", "/ssh-keys", "/admin/nodes"):
        await visitor.ask("GET", v1 + path, token=session if path != "/admin/nodes" else operator)
    return {"session": session, "second session": again, "token": made[0].json()["token"], "enrolment": enrolment}


async def fail(world: World, visitor: Visitor, token: str) -> None:
    """A bug of ours, with secrets in reach of its traceback."""
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        await tx.run("drop table tokens cascade")
    body = f'{{"title": "{PRIVATE}", "scopes": ["read"]}}'.encode()
    answer = await visitor.ask("POST", "/api/v1/auth/tokens", body, token=token, key="bug")
    assert answer.status == 500


async def test_no_secret_is_anywhere_but_where_it_is_shown_once(world: World, log: io.StringIO) -> None:
    visitor = Visitor(world)
    shown = await walk(world, visitor)
    rows = await dump(world.dsn)
    await fail(world, visitor, shown["session"])
    never = {"password": PASSWORD, "wrong password": WRONG, "private key": "canary4711"}
    for name, secret in (shown | never).items():
        assert secret not in log.getvalue(), f"{name} is in the log"
        assert secret not in rows, f"{name} is in a table"
        holding = sum(secret.encode() in answer.body for answer in visitor.answers)
        assert holding == {"token": 2, **dict.fromkeys(never, 0)}.get(name, 1), f"{name} is in {holding} answers"
    assert "request.failed" in log.getvalue()


async def test_the_search_would_find_one(world: World, log: io.StringIO) -> None:
    visitor = Visitor(world)
    shown = await walk(world, visitor)
    structlog.get_logger().info("planted", note=f"hello {shown['token']}", password=PASSWORD)
    assert shown["token"] in log.getvalue()
    assert PASSWORD not in log.getvalue()
    async with world.db.write() as tx:
        await tx.run("update tokens set title = $1", shown["token"])
    assert shown["token"] in await dump(world.dsn)
