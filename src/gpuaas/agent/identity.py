"""The identity of this node: a key that is created here and never leaves, and what the server sent at enrolment."""

import base64
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.agent import journal
from gpuaas.core.owners import sync_folder
from gpuaas.core.points import Points
from gpuaas.wire.addresses import is_loopback
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import (
    DEFAULT_PORTS,
    Enrol,
    Enrolled,
    RotatedKey,
    RotateKey,
    link_proof,
    origin_of,
    rotation_proof,
)
from gpuaas.wire.task_keys import Verifier

KEY_FILE = "node.key"
NODE_FILE = "node.json"
ENROL_PATH = "/internal/v1/nodes/enrol"
ROTATE_PATH = "/internal/v1/nodes/rotate-key"
NEXT_KEY_FILE = "node.key.next"
VERIFIERS_FILE = "verifiers.json"  # task keys from `rotate-key`, until the agent has taken them
ENROL_SECONDS = 30.0
T = TypeVar("T")


class IdentityError(Exception):
    """This node cannot enrol or start in its current state; the message says why and what to do."""


class NodeFile(msgspec.Struct, frozen=True, kw_only=True):
    """`node.json`: written last at enrolment, so its presence means that the node is enrolled."""

    node_id: str
    server_url: str
    allow_plain_http: bool
    verifiers: tuple[Verifier, ...]


@dataclass(frozen=True)
class Identity:
    node: NodeFile
    folder: Path

    @property
    def key(self) -> Ed25519PrivateKey:
        """Read each time, because it may be rotated while the agent runs."""
        return read_key(self.folder / KEY_FILE)

    @property
    def node_id(self) -> str:
        return self.node.node_id

    @property
    def origin(self) -> str:
        return origin_of(self.node.server_url)

    @property
    def link_url(self) -> str:
        return f"ws{self.node.server_url.removeprefix('http')}/internal/v1/nodes/{self.node_id}/link"

    def prove(self, nonce: bytes) -> bytes:
        """Valid only for this nonce and this origin, so a proof for one server is useless at another."""
        return self.key.sign(link_proof(nonce, self.node_id, self.origin))


async def enrol(
    server_url: str,
    token: str,
    folder: Path,
    facts: NodeFacts,
    *,
    agent_version: str,
    points: Points,
    allow_plain_http: bool = False,
) -> Identity:
    """Make this folder a node of that server. After an interruption it may be repeated: it uses the key of the first
    attempt again.
    """
    if is_enrolled(folder):
        raise IdentityError(f"{folder} is already enrolled. Start the agent, or enrol with another folder.")
    server_url = checked_url(server_url, allow_plain_http=allow_plain_http)
    _prepare(folder, points)
    key = _key_of(folder, points)
    points.reach("enrol:ask:before")
    enrolled = await _ask(
        server_url,
        Enrol(
            token=token,
            public_key=base64.b64encode(key.public_key().public_bytes_raw()).decode(),
            agent_version=agent_version,
            facts=facts,
        ),
    )
    points.reach("enrol:ask:after")
    verifiers = tuple(enrolled.verifiers)
    journal.create(folder / journal.FILE, journal.Pinned(enrolled.node_id, verifiers))
    points.reach("enrol:journal:after")
    node = NodeFile(
        node_id=enrolled.node_id, server_url=server_url, allow_plain_http=allow_plain_http, verifiers=verifiers
    )
    _write(folder / NODE_FILE, msgspec.json.format(msgspec.json.encode(node)))
    points.reach("enrol:node:after")
    return Identity(node, folder)


def is_enrolled(folder: Path) -> bool:
    return (folder / NODE_FILE).exists()


def load(folder: Path) -> Identity:
    """The identity in this folder. Its address is checked again, so that an edited file permits no more than
    enrolment.
    """
    try:
        node = msgspec.json.decode((folder / NODE_FILE).read_bytes(), type=NodeFile)
        read_key(folder / KEY_FILE)
    except FileNotFoundError as error:
        missing = f"{folder} is not enrolled: {error.filename} is missing."
        raise IdentityError(f"{missing} Run `gpuaas agent enrol --server URL --token TOKEN` first.") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise IdentityError(f"The identity in {folder} is damaged ({error}). Restore them, or enrol again.") from error
    checked_url(node.server_url, allow_plain_http=node.allow_plain_http)
    return Identity(node, folder)


def read_key(path: Path) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_bytes(), validate=True))


async def rotate_key(folder: Path, token: str) -> None:
    """Rotate the node's key. After an interruption it may be repeated with the same token: it uses the new key of the
    first attempt again, and deletes the old one only after the server has the new one.
    """
    identity, path = load(folder), folder / NEXT_KEY_FILE
    if not path.exists():
        _write(path, base64.b64encode(Ed25519PrivateKey.generate().private_bytes_raw()))
    new = read_key(path)
    public = new.public_key().public_bytes_raw()
    signed = rotation_proof(token, public)
    request = RotateKey(
        token=token,
        public_key=base64.b64encode(public).decode(),
        old_proof=base64.b64encode(identity.key.sign(signed)).decode(),
        new_proof=base64.b64encode(new.sign(signed)).decode(),
    )
    rotated = await _post(identity.node.server_url, ROTATE_PATH, request, RotatedKey, "the change of the key")
    if rotated.verifiers:
        _write(folder / VERIFIERS_FILE, msgspec.json.encode(rotated.verifiers))
    path.replace(folder / KEY_FILE)
    sync_folder(folder)


def brought_verifiers(folder: Path) -> list[Verifier]:
    """Task keys from `rotate-key` that the agent has not taken yet."""
    path = folder / VERIFIERS_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Verifier])
    except FileNotFoundError:
        return []
    except msgspec.DecodeError as error:
        raise IdentityError(
            f"{path} is damaged ({error}). Delete it and run `gpuaas agent rotate-key` again."
        ) from error


def drop_brought_verifiers(folder: Path) -> None:
    (folder / VERIFIERS_FILE).unlink(missing_ok=True)
    sync_folder(folder)


def change_server(folder: Path, server_url: str) -> None:
    """Store a new address of the same server; the identity of the node stays."""
    node = load(folder).node
    checked = checked_url(server_url, allow_plain_http=node.allow_plain_http)
    moved = msgspec.structs.replace(node, server_url=checked)
    _write(folder / NODE_FILE, msgspec.json.format(msgspec.json.encode(moved)))


def checked_url(url: str, *, allow_plain_http: bool) -> str:
    """An address to which the node may connect. Over plain http, anybody on the network path could read tokens or act
    as the server.
    """
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise IdentityError(f"{url!r} is not a server address. It looks like https://gpuaas.example.org.")
    if parts.scheme == "http" and not allow_plain_http and not is_loopback(parts.hostname):
        raise IdentityError(f"{url} is plain http to another computer. Use https, or allow plain http explicitly.")
    return url.rstrip("/")


async def _ask(server_url: str, request: Enrol) -> Enrolled:
    return await _post(server_url, ENROL_PATH, request, Enrolled, "the enrolment")


async def _post(server_url: str, path: str, request: Enrol | RotateKey, answers: type[T], what: str) -> T:
    headers = {"content-type": "application/json"}
    try:
        async with httpx.AsyncClient(timeout=ENROL_SECONDS, trust_env=False) as http:
            answer = await http.post(server_url + path, content=msgspec.json.encode(request), headers=headers)
    except httpx.HTTPError as error:
        raise IdentityError(f"{server_url} did not answer ({error}). Check the address and try again.") from error
    if not answer.is_success:
        raise IdentityError(
            f"{server_url} refused {what} ({answer.status_code}): {_detail(answer.content)}"
            " A token works once and only for minutes. Ask an operator for a new one."
        )
    try:
        return msgspec.json.decode(answer.content, type=answers)
    except msgspec.DecodeError as error:
        raise IdentityError(f"{server_url} does not answer like a GPUaaS server ({error}).") from error


class _Refusal(msgspec.Struct):
    detail: str = "no reason given."


def _detail(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Refusal).detail
    except msgspec.DecodeError:
        return _Refusal().detail


def _key_of(folder: Path, points: Points) -> Ed25519PrivateKey:
    """Created before the server is contacted, so that an answer can never be lost because its key is missing."""
    path = folder / KEY_FILE
    if path.exists():
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_bytes()))
    key = Ed25519PrivateKey.generate()
    points.reach("enrol:key:before")
    _write(path, base64.b64encode(key.private_bytes_raw()))
    points.reach("enrol:key:after")
    return key


def _prepare(folder: Path, points: Points) -> None:
    """A journal without `node.json` is from an interrupted enrolment, unless an agent has already worked with it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / journal.FILE
    if not path.exists():
        return
    found = journal.Journal.open(path, points)
    try:
        if not found.is_unused:
            raise IdentityError(f"{path} belongs to node {found.pinned.node_id}. Enrol with another folder.")
    finally:
        found.close()


def _write(path: Path, content: bytes) -> None:
    """Write the complete file with mode 0600, or nothing, even on a power failure."""
    draft = path.with_name(path.name + ".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(path)
    sync_folder(path.parent)
