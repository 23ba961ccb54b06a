"""Which resource of the SDK an operation belongs to, and what its method is called.

A rule names every new route. The tables below hold the names that scripts used before the rule existed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from tools.sdk.document import Operation

PREFIX = "admin"
PARAMETER = re.compile(r"\{(\w+)\}")

SEGMENTS = {"runtime-bundles": "runtimes"}
"""Path segments that the SDK calls otherwise."""

METHODS = {
    "POST /admin/allocations/{id}/break-glass": "admin.allocations.break_glass",
    "GET /admin/audit": "admin.audit.list",
    "POST /admin/enrolment-tokens": "admin.nodes.create_enrolment_token",
    "GET /admin/invariants": "admin.invariants",
    "POST /admin/nodes/{id}/lost": "admin.nodes.lost",
    "GET /admin/quotas": "admin.quotas.list",
    "PUT /admin/quotas": "admin.quotas.set_defaults",
    "POST /admin/runtime-bundles": "admin.runtimes.publish_recipe",
    "GET /admin/runtime-bundles/{id}/nodes": "admin.runtimes.nodes",
    "DELETE /admin/runtime-bundles/{id}/nodes/{node_id}": "admin.runtimes.unstage",
    "GET /admin/runtime-bundles/{id}/nodes/{node_id}": "admin.runtimes.staging",
    "POST /admin/runtime-bundles/{id}/stage": "admin.runtimes.stage_on",
    "POST /admin/storage-backends/{backend}/conformance": "storage_backends.run_conformance",
    "GET /allocations/{allocation_id}/storage-attachments": "volumes.attachments",
    "POST /allocations/{allocation_id}/storage-attachments": "volumes.attach",
    "DELETE /allocations/{allocation_id}/storage-attachments/{attachment_id}": "volumes.detach",
    "GET /allocations/{allocation_id}/storage-attachments/{attachment_id}": "volumes.attachment",
    "POST /allocations/{id}/access-requests": "access_grants.ask",
    "DELETE /allocations/{id}/break-glass": "allocations.end_break_glass",
    "GET /allocations/{id}/break-glass": "allocations.break_glass",
    "DELETE /allocations/{id}/runtime-bundles": "runtimes.clear",
    "GET /allocations/{id}/runtime-bundles": "runtimes.get",
    "POST /allocations/{id}/runtime-bundles": "runtimes.change",
    "GET /allocations/{id}/sessions": "allocations.sessions",
    "DELETE /allocations/{id}/sessions/{session_id}": "allocations.end_session",
    "GET /allocations/{id}/ssh-keys": "allocations.ssh_keys",
    "PUT /allocations/{id}/ssh-keys": "allocations.set_ssh_keys",
    "GET /allocations/{id}/terminals": "allocations.terminals",
    "GET /allocations/{id}/terminals/{terminal_id}/recording": "allocations.recording",
    "POST /invitations/accept": "invitations.accept_secret",
    "GET /me": "auth.me",
    "GET /me/quota": "quotas.mine",
    "GET /me/reach": "members.reach",
    "GET /projects/{project_id}/access-grants": "access_grants.list_live",
    "GET /projects/{project_id}/own-keys": "projects.own_keys",
    "GET /projects/{project_id}/quota": "quotas.of_project",
    "GET /tenants/{tenant_id}/audit": "tenant_audit.list",
    "GET /tenants/{tenant_id}/audit/export": "tenant_audit.export",
    "GET /tenants/{tenant_id}/quota": "quotas.of_tenant",
    "GET /volumes/{volume_id}/snapshots": "volumes.snapshots",
    "POST /volumes/{volume_id}/snapshots": "volumes.snapshot",
    "DELETE /volumes/{volume_id}/snapshots/{snapshot_id}": "volumes.delete_snapshot",
}
"""Methods whose name the rule does not find. An entry without an operation is an error."""

PARAMETERS = {
    ("access_grants", "grant_id"): "id",
    ("volumes", "attachment_id"): "id",
}
"""Path parameters that a resource calls otherwise."""

ONLY_READ = {"POST /placement/explain"}
"""Changes nothing, so it is sent again freely and without a key."""


@dataclass(frozen=True, order=True)
class Name:
    resource: str  # "admin.nodes", "allocations", or "admin" for what belongs to no collection
    method: str


def singular(noun: str) -> str:
    return noun.removesuffix("s")


class Naming:
    """Knows all paths: a segment is a collection if some path continues with a parameter after it."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        all_operations = list(operations)
        self._collections: set[str] = set()
        for one in all_operations:
            parts = pairwise(one.path.split("/"))
            self._collections |= {part for part, after in parts if PARAMETER.fullmatch(after)}
        if stale := (METHODS.keys() | ONLY_READ) - {one.key for one in all_operations}:
            raise LookupError(f"tools/sdk/names.py names operations that do not exist: {', '.join(sorted(stale))}")

    def name(self, operation: Operation) -> Name:
        if given := METHODS.get(operation.key):
            resource, _, method = given.rpartition(".")
            return Name(resource, method)
        segments = [part for part in operation.path.split("/") if part and not PARAMETER.fullmatch(part)]
        is_admin = segments[0] == PREFIX
        segments = segments[is_admin:]
        nested = [part for part in segments[1:] if part in self._collections]
        segment = nested[-1] if nested else segments[0]
        if is_admin and segment not in self._collections and len(segments) == 1:
            return Name(PREFIX, operation.handler)  # a page of the platform, such as its overview
        noun = SEGMENTS.get(segment, segment).replace("-", "_")
        method = method_of(operation.handler, (segment.replace("-", "_"), noun), is_admin=is_admin)
        return Name(f"{PREFIX}.{noun}" if is_admin else noun, method)

    def parameter(self, name: Name, operation: Operation, parameter: str) -> str:
        """`id` for the resource's own id; otherwise what it identifies, such as `node_id`."""
        if given := PARAMETERS.get((name.resource, parameter)):
            return given
        parts = operation.path.split("/")
        segment = parts[parts.index(f"{{{parameter}}}") - 1]
        full = f"{singular(SEGMENTS.get(segment, segment)).replace('-', '_')}_id"
        if parameter not in {"id", full}:
            return parameter
        is_own = SEGMENTS.get(segment, segment).replace("-", "_") == name.resource.rpartition(".")[2]
        return "id" if is_own else full


def method_of(handler: str, nouns: Iterable[str], *, is_admin: bool) -> str:
    """`drain` from `drain_node`: the handler's name without the resource, and without what says "for operators"."""
    words = f"_{handler}_"
    for noun in nouns:
        last = noun.rpartition("_")[2]
        for form in (noun, singular(noun), last, singular(last)):
            if f"_{form}_" in words:
                words = words.replace(f"_{form}_", "_", 1)
                break
    if is_admin:
        words = words.replace("_all_", "_").replace("_fleet_", "_")
    return words.strip("_") or "get"
