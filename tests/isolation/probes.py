"""What can be asked, read from the application's route table: every route, and every place in it where an id goes.

A route, a reference or a body that this file does not know fails the build, so nothing is added unseen.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from litestar import Litestar
from litestar.routes import HTTPRoute, WebSocketRoute

from tests.isolation.asgi import Ask
from tests.isolation.town import PERSONAL, PLATFORM, PREFIXES, Part, Town, publication
from tests.world import SLICE

ADMIN = "/api/v1/admin/"
METHODS = ("GET", "PUT", "POST", "PATCH", "DELETE")
COLLECTIONS = {
    "allocations": "allocation",
    "access-grants": "grant",
    "members": "mate",
    "invitations": "invitation",
    "allocation-groups": "group",
    "projects": "project",
    "ssh-keys": "ssh_key",
    "sessions": "session",
    "tokens": "token",
    "operations": "operation",
    "nodes": "node",
    "workers": "worker",
    "task-keys": "task_key",
    "runtime-bundles": "bundle",
    "slots": "slot",
    "unknown-environments": "unknown_environment",
    "unknown-volumes": "unknown_volume",
    "skus": "sku",
    "volumes": "volume",
    "snapshots": "snapshot",
    "storage-attachments": "storage_attachment",
    "storage-backends": "backend",
    "terminals": "terminal",
    "tenants": "tenant",
    "users": "mate",
}
REFERENCES = {
    "project_id": "project",
    "X-Project-ID": "project",
    "subject_id": "allocation",
    "node_id": "node",
    "tenant_id": "tenant",
    "ssh_key_ids": "ssh_key",
    "allocation_id": "allocation",
    "runtime_bundle_id": "bundle",
    "node_ids": "node",
    "volume_id": "volume",
    "snapshot_id": "snapshot",
    "session_id": "terminal",
    "ssh_key_id": "ssh_key",
    "user_id": "mate",
    "holder_id": "mate",
    "confirm": "unknown_environment",
}
NOT_VARIED = ("slot", "sku", "backend", "task_key")  # named by everybody in the same way
CATALOG = {"runtime_bundle_id"}  # what is on offer is everybody's to name
NO_REFERENCES = {"Last-Event-ID"}
LOOKS_LIKE_ONE = re.compile(r"(^|[_-])ids?$", re.IGNORECASE)
BODIES: dict[str, dict[str, Any]] = {
    "CreateAllocation": {"sku": SLICE, "ssh_key_ids": ["ssh_key"], "project_id": "project"},
    "CreateProject": {"slug": "probe", "tenant_id": "tenant"},
    "ChangeProject": {"record_terminals": True},
    "CreateToken": {"title": "probe", "scopes": ["read"]},
    "CreateEnrolmentToken": {"node_name": "probe"},
    "AddSshKey": {
        "title": "probe",
        "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEy",
    },
    "AskPlacement": {"sku": SLICE, "project_id": "project"},
    "OpenBreakGlass": {"reason": "probe"},
    "ForceCleanup": {"runtime_verified_absent": False, "reason": "probe"},
    "ReleaseAllocation": {},
    "RestartAllocation": {},
    "ResizeAllocation": {"gpu_count": 2},
    "ExtendAllocation": {"hours": 1},
    "MintTerminalToken": {"session_id": "terminal"},
    "InviteMember": {"email": "probe@example.com"},
    "AcceptInvitation": {"secret": "probe"},
    "ChangeMember": {"role": "member"},
    "SetSshKeys": {"ssh_key_ids": ["mate_key"]},
    "AllowOwnKeys": {"allowed": False},  # to allow is the holder's alone
    "CreateAccessGrant": {"user_id": "mate", "ssh_key_id": "mate_key"},
    "AskAccess": {"ssh_key_id": "ssh_key"},
    "ChangeAccessGrant": {"expires_at": None, "ssh_key_id": "ssh_key"},
    "HandOver": {"user_id": "mate", "ssh_key_ids": ["mate_key"]},
    "ChangeNode": {},
    "ChangeSlot": {},
    "SetOvercommit": {"overcommit": 1},
    "AdoptEnvironment": {"reason": "probe", "holder_id": "mate"},
    "AdoptVolume": {"reason": "probe"},
    "RemoveVolume": {"reason": "probe", "confirm": "unknown_volume"},
    "RemoveUnknownEnvironment": {"reason": "probe", "confirm": "unknown_environment"},
    "SwitchWorker": {},
    "RotateTaskKey": {},
    "RetireTaskKey": {"reason": "probe", "force": True},
    "ApplyRuntimeBundle": {"runtime_bundle_slug": "offered"},
    "PublishRuntimeBundle": publication("probe"),
    "StageRuntimeBundle": {"node_ids": ["node"]},
    "ChangeRuntimeBundle": {},
    "CreateVolume": {"name": "probe", "size_gib": 1, "allocation_id": "allocation", "snapshot_id": "snapshot"},
    "ChangeVolume": {},
    "CreateSnapshot": {"name": "probe"},
    "AttachVolume": {"volume_id": "volume", "mount_path": "/mnt/probe"},
    "RunConformance": {"node_id": "node"},
    "Suspend": {"reason": "probe"},
    "Unsuspend": {},
    "SetQuotas": {"limits": {"gpus": 1000}},
}
LED_ENDS = (
    *("/access-grants/", "/members/", "/invitations/", "/allocations/{id}/sessions/"),
    "/v1/allocations/{id}/break-glass",
)
LED = {
    *("InviteMember", "ChangeMember", "ChangeProject"),
    *("SetSshKeys", "AllowOwnKeys", "CreateAccessGrant", "ChangeAccessGrant", "HandOver"),
}
# Nobody is signed in here, or it ends the session that asks: each has tests of its own.
ALONE = {
    "GET /api/v1/auth/sign-up",
    "POST /api/v1/auth/personal/signup",
    "POST /api/v1/auth/personal/login",
    "POST /api/v1/auth/logout",
}
BY_SECRET = {"POST /api/v1/invitations/accept"}  # the secret decides, whoever asks: tests/attacks/test_invitations.py
UNPUBLISHED = {
    "GET /api/v1/openapi.json",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "POST /internal/v1/nodes/enrol",
    "POST /internal/v1/nodes/rotate-key",
}
SOCKETS = {"/api/v1/terminal/{allocation_id}"}  # test_terminal.py, as are the streams that agents dial
IGNORES_KEY = {
    ("POST", "/api/v1/allocations/{id}/terminal-token"),
    ("POST", "/api/v1/admin/allocations/{id}/break-glass"),
}


class Uncovered(AssertionError):
    """There is a way in that nobody looks after."""


@dataclass(frozen=True, order=True)
class Probe:
    """One route, and the one id in it that is varied; none for a route that takes none."""

    method: str
    path: str
    place: str = ""
    name: str = ""
    noun: str = ""
    body: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.place} {self.name}".strip()

    @property
    def is_admin(self) -> bool:
        return self.path.startswith(ADMIN)

    @property
    def is_change(self) -> bool:
        return self.method != "GET" and self.body != "AskPlacement"

    @property
    def is_led(self) -> bool:
        """For the holder and who leads the project, which no part of the town but its owner is."""
        return self.body in LED or (self.method == "DELETE" and any(word in self.path for word in LED_ENDS))

    @property
    def nouns(self) -> set[str]:
        """Everything the request names."""
        named = {noun_of(self.body, field) for field in BODIES.get(self.body, {})}
        return {noun for _, noun in path_parameters(self.path)} | (named | {self.noun}) - {""}

    @property
    def is_personal(self) -> bool:
        return bool(self.nouns) and self.nouns <= PERSONAL

    def ask(self, town: Town, part: Part, id: str = "") -> Ask:
        """The request with `id` where it is varied, and the part's own things (or Ada's) everywhere else."""
        path, query, headers = self.path, "", {}
        for parameter, noun in path_parameters(self.path):
            value = id if (self.place, self.name) == ("path", parameter) else town.own(part, noun)
            path = path.replace(f"{{{parameter}}}", value)
        content = {
            field: filled(
                field,
                value,
                id if (self.place, self.name) == ("body", field) else town.own(part, noun_of(self.body, field)),
            )
            for field, value in BODIES.get(self.body, {}).items()
        }
        if self.place == "query":
            query = "?" + urlencode({self.name: id})
        if self.place == "header":
            headers[self.name] = id
            content.pop("project_id", None)
        if self.body == "SetQuotas" and "/users/" in self.path:
            content["limits"] = {"tokens": 1000}
        if self.body == "CreateAllocation":
            headers["X-Idempotency-Key"] = town.world.services.ids.new("idem")
        body = json.dumps(content).encode() if self.body else b""
        return Ask(method=self.method, target=path + query, token=part.token, headers=headers, body=body)


def noun_of(body: str, field: str) -> str:
    """What a field of a body names: as its example says, or as the field is called."""
    example = BODIES.get(body, {}).get(field)
    word = example[0] if isinstance(example, list) and example else example
    return word if isinstance(word, str) and word in PREFIXES else REFERENCES.get(field, "")


def filled(field: str, value: Any, id: str) -> Any:
    if field not in REFERENCES:
        return value
    return [id] if isinstance(value, list) else id


def path_parameters(path: str) -> list[tuple[str, str]]:
    """Each with the noun of the collection it stands in."""
    words = path.split("/")
    nouns = COLLECTIONS | ({"sessions": "live_session"} if "allocations" in words else {})
    return [(word[1:-1], nouns[words[at - 1]]) for at, word in enumerate(words) if word.startswith("{")]


def probes(app: Litestar, contract: dict[str, Any]) -> list[Probe]:
    """All there are. Reads first, then changes, then removals, so that one does not take away what the next needs."""
    found = [probe for name in published(app) for probe in of_operation(name, contract)]
    return sorted(found, key=lambda probe: (METHODS.index(probe.method), probe))


def published(app: Litestar) -> Iterator[str]:
    """The routes of the table, but for those that are looked after one by one."""
    for route in app.routes:
        if isinstance(route, WebSocketRoute):
            if route.path_format not in SOCKETS:
                raise Uncovered(f"the WebSocket {route.path_format} is in no test; test_link.py has the nodes' own")
            continue
        if not isinstance(route, HTTPRoute):
            raise Uncovered(f"{route.path_format} is no route we know the kind of")
        else:
            names = {f"{method} {route.path_format}" for method in route.methods if method != "OPTIONS"}
            yield from sorted(names - ALONE - BY_SECRET - UNPUBLISHED)


def of_operation(name: str, contract: dict[str, Any]) -> Iterator[Probe]:
    method, _, path = name.partition(" ")
    operation = contract["paths"].get(path, {}).get(method.lower())
    if operation is None:
        raise Uncovered(f"{name} is not in the contract, and in no list of this file")
    schema = schema_of(operation)
    if schema and schema not in BODIES:
        raise Uncovered(f"{name} takes a {schema}, of which there is no example")
    references = [*references_of(operation), *references_in(contract, schema)]
    try:
        places = [("path", name, noun) for name, noun in path_parameters(path) if noun not in NOT_VARIED]
        places += [(place, name, known_noun(schema, place, name)) for place, name in references if name not in CATALOG]
    except KeyError as error:
        raise Uncovered(f"{name} takes {error}, and nobody knows what that names") from error
    plain = Probe(method, path, body=schema)
    yield from [Probe(method, path, *place, body=schema) for place in places] or [plain]


def known_noun(schema: str, place: str, name: str) -> str:
    found = noun_of(schema, name) if place == "body" else REFERENCES[name]
    if not found:
        raise KeyError(name)
    return found


def schema_of(operation: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]


def references_of(operation: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (parameter["in"], parameter["name"])
        for parameter in operation.get("parameters", [])
        if parameter["in"] != "path"
        and LOOKS_LIKE_ONE.search(parameter["name"])
        and parameter["name"] not in NO_REFERENCES
    ]


def references_in(contract: dict[str, Any], schema: str) -> list[tuple[str, str]]:
    properties = contract["components"]["schemas"].get(schema, {}).get("properties", {})
    return [("body", name) for name in properties if LOOKS_LIKE_ONE.search(name)]


def is_everybodys(probe: Probe) -> bool:
    """A node is no tenant's; who may know of it is decided by the route, which is an operator's."""
    return probe.noun in PLATFORM or probe.is_admin
