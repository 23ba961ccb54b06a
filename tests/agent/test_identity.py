"""Enrolment: a key made here, a token used once, and a folder that is whole or asks to be repeated."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gpuaas.agent import identity, journal
from gpuaas.agent.identity import IdentityError
from gpuaas.agent.journal import Journal, Pinned
from gpuaas.core.points import NoPoints, Points
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import Enrol, Enrolled, link_proof, origin_of
from tests.agent.link_server import NOON
from tests.agent.world import NODE_ID, SIGNER

FACTS = NodeFacts(engine="stand-in", simulated=True, vcpus=8, memory_mib=1024, ssh_host="127.0.0.1")


class EnrolServer:
    """As much HTTP as one POST needs. The token is used once, but the same key may ask again."""

    def __init__(self) -> None:
        self.asked: list[Enrol] = []
        self.url = ""
        self.answer: bytes | None = None

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("POST /internal/v1/nodes/enrol HTTP/1.1")
        length = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
        request = msgspec.json.decode(await reader.readexactly(int(length.split(":")[1])), type=Enrol)
        self.asked.append(request)
        if request.token != "once" or request.public_key != self.asked[0].public_key:
            status, body = "401 Unauthorized", b'{"detail": "This token is not valid."}'
        else:
            status, body = (
                "201 Created",
                self.answer or msgspec.json.encode(Enrolled(node_id=NODE_ID, verifiers=[SIGNER.verifier])),
            )
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def server() -> AsyncIterator[EnrolServer]:
    async with enrol_server() as server:
        yield server


@asynccontextmanager
async def enrol_server() -> AsyncIterator[EnrolServer]:
    server = EnrolServer()
    async with await asyncio.start_server(server.talk, "127.0.0.1", 0) as listening:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server


async def enrol(server: EnrolServer, folder: Path, *, is_known: bool = True, points: Points | None = None) -> None:
    token = "once" if is_known else "used"
    await identity.enrol(server.url, token, folder, FACTS, agent_version="1.2.3", points=points or NoPoints())


async def test_enrolment_leaves_a_key_a_journal_and_an_identity(server: EnrolServer, tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    await enrol(server, folder)
    loaded = identity.load(folder)
    assert (loaded.node_id, loaded.node.server_url) == (NODE_ID, server.url)
    assert loaded.link_url == f"ws{server.url[4:]}/internal/v1/nodes/{NODE_ID}/link"
    assert (server.asked[0].facts, server.asked[0].agent_version) == (FACTS, "1.2.3")
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(server.asked[0].public_key))
    public.verify(loaded.prove(b"nonce"), link_proof(b"nonce", NODE_ID, server.url))
    opened = Journal.open(folder / journal.FILE, NoPoints())
    assert opened.pinned == Pinned(NODE_ID, (SIGNER.verifier,))
    opened.close()
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == dict.fromkeys(["node.key", "node.json", "journal.db"], 0o600)
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_the_private_key_never_leaves_and_the_token_is_not_kept(server: EnrolServer, tmp_path: Path) -> None:
    await enrol(server, tmp_path)
    private = (tmp_path / "node.key").read_bytes()
    assert private not in msgspec.json.encode(server.asked)
    assert b"once" not in (tmp_path / "node.json").read_bytes()


class KilledError(BaseException):
    pass


class DieAt:
    def __init__(self, name: str) -> None:
        self._name = name

    def reach(self, name: str) -> None:
        if name == self._name:
            raise KilledError


@pytest.mark.parametrize(
    "point", ["enrol:key:before", "enrol:key:after", "enrol:ask:before", "enrol:ask:after", "enrol:journal:after"]
)
async def test_an_enrolment_cut_short_is_repeated_with_the_same_key(
    server: EnrolServer, tmp_path: Path, point: str
) -> None:
    with pytest.raises(KilledError):
        await enrol(server, tmp_path, points=DieAt(point))
    assert not identity.is_enrolled(tmp_path)
    with pytest.raises(IdentityError, match="is not enrolled"):
        identity.load(tmp_path)
    await enrol(server, tmp_path)
    assert identity.load(tmp_path).node_id == NODE_ID
    assert len({one.public_key for one in server.asked}) == 1


async def test_an_enrolled_folder_is_not_enrolled_twice(server: EnrolServer, tmp_path: Path) -> None:
    await enrol(server, tmp_path)
    with pytest.raises(IdentityError, match="already enrolled"):
        await enrol(server, tmp_path)
    assert len(server.asked) == 1


async def test_a_journal_that_was_worked_from_is_never_replaced(server: EnrolServer, tmp_path: Path) -> None:
    await enrol(server, tmp_path)
    opened = Journal.open(tmp_path / journal.FILE, NoPoints())
    opened.drop_anchor(journal.Anchor(NOON, "boot", 1.0))
    opened.close()
    (tmp_path / "node.json").unlink()
    with pytest.raises(IdentityError, match="belongs to node"):
        await enrol(server, tmp_path)


async def test_a_refusal_says_why_and_what_to_do(server: EnrolServer, tmp_path: Path) -> None:
    with pytest.raises(IdentityError, match=r"\(401\): This token is not valid.*Ask an operator for a new one"):
        await enrol(server, tmp_path, is_known=False)
    assert not identity.is_enrolled(tmp_path)


async def test_an_answer_that_is_not_ours_and_no_answer_at_all_are_told_apart(tmp_path: Path) -> None:
    async with enrol_server() as server:
        server.answer = b"<html>hello</html>"
        with pytest.raises(IdentityError, match="does not answer like a GPUaaS server"):
            await enrol(server, tmp_path)
    with pytest.raises(IdentityError, match="did not answer"):
        await enrol(server, tmp_path)


@pytest.mark.parametrize(
    ("url", "is_fine"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost:8080/", True),
        ("http://[::1]:8080", True),
        ("https://gpuaas.example.org", True),
        ("http://gpuaas.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://10.0.0.1:8080", False),
        ("ftp://gpuaas.example.org", False),
        ("gpuaas.example.org", False),
        ("", False),
    ],
)
async def test_plain_http_beyond_this_machine_is_refused_unless_told(url: str, is_fine: bool) -> None:
    if is_fine:
        assert identity.checked_url(url, allow_plain_http=False) == url.rstrip("/")
    else:
        with pytest.raises(IdentityError):
            identity.checked_url(url, allow_plain_http=False)
    assert identity.checked_url("http://10.0.0.1:8080", allow_plain_http=True)


async def test_an_identity_edited_to_dial_in_the_clear_is_refused(server: EnrolServer, tmp_path: Path) -> None:
    await enrol(server, tmp_path)
    path = tmp_path / "node.json"
    path.write_text(path.read_text().replace("127.0.0.1", "10.0.0.1"))
    with pytest.raises(IdentityError, match="plain http"):
        identity.load(tmp_path)


async def test_the_server_may_move_and_the_node_stays_who_it_is(server: EnrolServer, tmp_path: Path) -> None:
    await enrol(server, tmp_path)
    before = identity.load(tmp_path)
    identity.change_server(tmp_path, "https://elsewhere.example.org/")
    after = identity.load(tmp_path)
    assert after.origin == "https://elsewhere.example.org:443"
    assert (after.node_id, after.key.private_bytes_raw()) == (before.node_id, before.key.private_bytes_raw())


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.example", "https://a.example:443"),
        ("http://localhost", "http://localhost:80"),
        ("https://A.Example:8443/gpuaas", "https://a.example:8443"),
        ("http://[::1]:81", "http://[::1]:81"),
    ],
)
def test_an_origin_always_names_its_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin
