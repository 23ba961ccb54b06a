"""Every method of the SDK and the route it asks for, written down once more and independently."""

import subprocess
import sys
from typing import Any, assert_type, cast

import pytest

from gpuaas.sdk import AsyncClient, Client, recipes
from gpuaas.sdk.client import Nouns
from gpuaas.sdk.requests import Request
from gpuaas.wire.allocations import Allocation, CreateAllocation, Status
from gpuaas.wire.identity import Me, Role, Scope
from gpuaas.wire.storage import Backend
from gpuaas.wire.timeline import OperationStatus


class Recorder:
    """Stands in for a runner: hands back what it was asked to run."""

    def run(self, request: Request[Any]) -> Request[Any]:
        return request

    walk = follow = watch = wait = run


nouns: Any = Nouns(cast("Any", Recorder()))

ROUTES: list[tuple[Request[Any], str]] = [
    (nouns.auth.sign_up("e", "p"), "POST /auth/personal/signup"),
    (nouns.auth.login("e", "p"), "POST /auth/personal/login"),
    (nouns.auth.logout(), "POST /auth/logout"),
    (nouns.auth.me(), "GET /me"),
    (nouns.sessions.list(), "GET /auth/sessions"),
    (nouns.sessions.revoke("s"), "DELETE /auth/sessions/s"),
    (nouns.tokens.list(), "GET /auth/tokens"),
    (nouns.tokens.create("t", [Scope.READ]), "POST /auth/tokens"),
    (nouns.tokens.revoke("t"), "DELETE /auth/tokens/t"),
    (nouns.projects.list(), "GET /projects"),
    (nouns.projects.create("p"), "POST /projects"),
    (nouns.projects.get("p"), "GET /projects/p"),
    (nouns.projects.change("p", record_terminals=True), "PATCH /projects/p"),
    (nouns.projects.events("p"), "GET /projects/p/events"),
    (nouns.projects.timeline("p"), "GET /projects/p/timeline"),
    (nouns.projects.own_keys("p"), "GET /projects/p/own-keys"),
    (nouns.projects.audit("p", action="volume"), "GET /projects/p/audit"),
    (nouns.ssh_keys.list(), "GET /ssh-keys"),
    (nouns.ssh_keys.add("t", "k"), "POST /ssh-keys"),
    (nouns.ssh_keys.get("k"), "GET /ssh-keys/k"),
    (nouns.ssh_keys.remove("k"), "DELETE /ssh-keys/k"),
    (nouns.skus.list(), "GET /skus"),
    (nouns.skus.get("s"), "GET /skus/s"),
    (nouns.placement.explain("s"), "POST /placement/explain"),
    (nouns.allocations.create("s", ["k"]), "POST /allocations"),
    (nouns.allocations.submit(CreateAllocation(sku="s", ssh_key_ids=["k"])), "POST /allocations"),
    (nouns.allocations.list("p"), "GET /projects/p/allocations"),
    (nouns.allocations.logs("a"), "GET /allocations/a/logs"),
    (nouns.allocations.follow_logs("a"), "GET /allocations/a/logs"),
    (nouns.operations.follow_logs("o"), "GET /operations/o/logs"),
    (nouns.admin.overview(), "GET /admin/overview"),
    (nouns.allocations.metrics("a"), "GET /allocations/a/metrics"),
    (nouns.allocations.health("a"), "GET /allocations/a/health"),
    (nouns.allocations.get("a"), "GET /allocations/a"),
    (nouns.allocations.release("a"), "POST /allocations/a/release"),
    (nouns.allocations.ssh_keys("a"), "GET /allocations/a/ssh-keys"),
    (nouns.allocations.set_ssh_keys("a", ["k"]), "PUT /allocations/a/ssh-keys"),
    (nouns.allocations.allow_own_keys("a", allowed=True), "PUT /allocations/a/own-keys"),
    (nouns.allocations.hand_over("a", "u"), "POST /allocations/a/handover"),
    (nouns.allocations.sessions("a"), "GET /allocations/a/sessions"),
    (nouns.allocations.recording("a", "t"), "GET /allocations/a/terminals/t/recording"),
    (nouns.allocations.end_session("a", "s"), "DELETE /allocations/a/sessions/s"),
    (nouns.members.list("p"), "GET /projects/p/members"),
    (nouns.members.get("p", "u"), "GET /projects/p/members/u"),
    (nouns.members.invite("p", "e"), "POST /projects/p/members"),
    (nouns.members.change("p", "u", Role.ADMIN), "PUT /projects/p/members/u"),
    (nouns.members.remove("p", "u"), "DELETE /projects/p/members/u"),
    (nouns.members.reach(), "GET /me/reach"),
    (nouns.tenant_audit.list("t"), "GET /tenants/t/audit"),
    (nouns.tenant_audit.export("t"), "GET /tenants/t/audit/export"),
    (nouns.admin.audit.list(), "GET /admin/audit"),
    (nouns.admin.audit.export(), "GET /admin/audit/export"),
    (nouns.invitations.list(), "GET /invitations"),
    (nouns.invitations.accept("i"), "POST /invitations/accept"),
    (nouns.invitations.withdraw("i"), "DELETE /invitations/i"),
    (nouns.access_grants.list("a"), "GET /allocations/a/access-grants"),
    (nouns.access_grants.list_live("p"), "GET /projects/p/access-grants"),
    (nouns.access_grants.get("a", "g"), "GET /allocations/a/access-grants/g"),
    (nouns.access_grants.create("a", "u"), "POST /allocations/a/access-grants"),
    (nouns.access_grants.ask("a"), "POST /allocations/a/access-requests"),
    (nouns.access_grants.change("a", "g"), "PATCH /allocations/a/access-grants/g"),
    (nouns.access_grants.revoke("a", "g"), "DELETE /allocations/a/access-grants/g"),
    (nouns.allocations.timeline("a"), "GET /allocations/a/timeline"),
    (nouns.allocations.mint_terminal_token("a"), "POST /allocations/a/terminal-token"),
    (nouns.allocations.terminals("a"), "GET /allocations/a/terminals"),
    (nouns.allocations.events("a"), "GET /allocations/a/events"),
    (nouns.allocations.watch("a").look, "GET /allocations/a"),
    (nouns.allocations.watch("a").events, "GET /allocations/a/events"),
    (nouns.allocation_groups.get("g"), "GET /allocation-groups/g"),
    (nouns.allocation_groups.release("g"), "POST /allocation-groups/g/release"),
    (nouns.runtimes.list(allocation_id="a"), "GET /runtime-bundles"),
    (nouns.runtimes.get("a"), "GET /allocations/a/runtime-bundles"),
    (nouns.runtimes.apply("a", "pytorch"), "POST /allocations/a/runtime-bundles"),
    (nouns.runtimes.upgrade("a"), "POST /allocations/a/runtime-bundles"),
    (nouns.runtimes.roll_back("a"), "POST /allocations/a/runtime-bundles"),
    (nouns.runtimes.repair("a"), "POST /allocations/a/runtime-bundles"),
    (nouns.runtimes.clear("a"), "DELETE /allocations/a/runtime-bundles"),
    (nouns.admin.runtimes.list(), "GET /admin/runtime-bundles"),
    (nouns.admin.runtimes.get("b"), "GET /admin/runtime-bundles/b"),
    (nouns.admin.runtimes.publish(recipes.read("python-data")), "POST /admin/runtime-bundles"),
    (nouns.admin.runtimes.stage("b", "n"), "POST /admin/runtime-bundles/b/stage"),
    (nouns.admin.runtimes.deprecate("b"), "POST /admin/runtime-bundles/b/deprecate"),
    (nouns.admin.runtimes.republish("b"), "POST /admin/runtime-bundles/b/republish"),
    (nouns.admin.runtimes.retire("b"), "POST /admin/runtime-bundles/b/retire"),
    (nouns.admin.runtimes.nodes("b"), "GET /admin/runtime-bundles/b/nodes"),
    (nouns.admin.runtimes.unstage("b", "n"), "DELETE /admin/runtime-bundles/b/nodes/n"),
    (nouns.admin.runtimes.staging("b", "n"), "GET /admin/runtime-bundles/b/nodes/n"),
    (nouns.operations.list(project_id="p"), "GET /operations"),
    (nouns.operations.get("o"), "GET /operations/o"),
    (nouns.operations.logs("o"), "GET /operations/o/logs"),
    (nouns.operations.watch("o", project_id="p").events, "GET /projects/p/events"),
    (nouns.volumes.create("p", "v", 1), "POST /projects/p/volumes"),
    (nouns.volumes.list("p"), "GET /projects/p/volumes"),
    (nouns.volumes.get("p", "v"), "GET /projects/p/volumes/v"),
    (nouns.volumes.change("p", "v", protected=True), "PATCH /projects/p/volumes/v"),
    (nouns.volumes.delete("p", "v"), "DELETE /projects/p/volumes/v"),
    (nouns.volumes.timeline("v"), "GET /volumes/v/timeline"),
    (nouns.volumes.snapshot("v", "s"), "POST /volumes/v/snapshots"),
    (nouns.volumes.snapshots("v"), "GET /volumes/v/snapshots"),
    (nouns.volumes.delete_snapshot("v", "s"), "DELETE /volumes/v/snapshots/s"),
    (nouns.volumes.attach("a", "v", "/data"), "POST /allocations/a/storage-attachments"),
    (nouns.volumes.attachments("a"), "GET /allocations/a/storage-attachments"),
    (nouns.volumes.attachment("a", "t"), "GET /allocations/a/storage-attachments/t"),
    (nouns.volumes.detach("a", "t"), "DELETE /allocations/a/storage-attachments/t"),
    (nouns.storage_backends.list(), "GET /storage-backends"),
    (
        nouns.storage_backends.run_conformance(Backend.SHARED, "n"),
        "POST /admin/storage-backends/shared/conformance",
    ),
    (nouns.admin.nodes.list(), "GET /admin/nodes"),
    (nouns.admin.nodes.get("n"), "GET /admin/nodes/n"),
    (nouns.admin.nodes.drain("n"), "POST /admin/nodes/n/drain"),
    (nouns.admin.nodes.undrain("n"), "POST /admin/nodes/n/undrain"),
    (nouns.admin.nodes.quarantine("n"), "POST /admin/nodes/n/quarantine"),
    (nouns.admin.nodes.unquarantine("n"), "POST /admin/nodes/n/unquarantine"),
    (nouns.admin.nodes.retire("n"), "POST /admin/nodes/n/retire"),
    (nouns.admin.nodes.lost("n"), "POST /admin/nodes/n/lost"),
    (nouns.admin.nodes.create_enrolment_token("n"), "POST /admin/enrolment-tokens"),
    (nouns.admin.nodes.rotate_key("n"), "POST /admin/nodes/n/rotate-key"),
    (nouns.admin.nodes.set_disk_overcommit("n", 1.5), "PUT /admin/nodes/n/disk-overcommit"),
    (nouns.admin.slots.list("n"), "GET /admin/nodes/n/slots"),
    (nouns.admin.slots.approve("n", 0), "POST /admin/nodes/n/slots/0/approve"),
    (nouns.admin.slots.disable("n", 0), "POST /admin/nodes/n/slots/0/disable"),
    (nouns.admin.slots.enable("n", 0), "POST /admin/nodes/n/slots/0/enable"),
    (nouns.admin.unknown_environments.list(), "GET /admin/unknown-environments"),
    (nouns.admin.unknown_environments.list_of_node("n"), "GET /admin/nodes/n/unknown-environments"),
    (
        nouns.admin.unknown_environments.adopt("n", "a", reason="r"),
        "POST /admin/nodes/n/unknown-environments/a/adopt",
    ),
    (
        nouns.admin.unknown_environments.remove("n", "a", confirm="a", reason="r"),
        "POST /admin/nodes/n/unknown-environments/a/remove",
    ),
    (nouns.admin.unknown_volumes.list(), "GET /admin/unknown-volumes"),
    (nouns.admin.unknown_volumes.list_of_node("n"), "GET /admin/nodes/n/unknown-volumes"),
    (nouns.admin.unknown_volumes.get("n", "v"), "GET /admin/nodes/n/unknown-volumes/v"),
    (nouns.admin.unknown_volumes.adopt("n", "v", reason="r"), "POST /admin/nodes/n/unknown-volumes/v/adopt"),
    (
        nouns.admin.unknown_volumes.remove("n", "v", confirm="v", reason="r"),
        "POST /admin/nodes/n/unknown-volumes/v/remove",
    ),
    (nouns.admin.allocations.list(status=Status.ACTIVE), "GET /admin/allocations"),
    (nouns.admin.allocations.inspect("a"), "GET /admin/allocations/a"),
    (nouns.admin.allocations.force_release("a"), "POST /admin/allocations/a/force-release"),
    (
        nouns.admin.allocations.force_cleanup("a", runtime_verified_absent=True, reason="r"),
        "POST /admin/allocations/a/force-cleanup",
    ),
    (nouns.admin.operations.list(status=OperationStatus.FAILED), "GET /admin/operations"),
    (nouns.admin.operations.get("o"), "GET /admin/operations/o"),
    (nouns.admin.invariants(), "GET /admin/invariants"),
    (nouns.admin.task_keys.list(), "GET /admin/task-keys"),
    (nouns.admin.task_keys.rotate(), "POST /admin/task-keys"),
    (nouns.admin.task_keys.retire(1, reason="r"), "POST /admin/task-keys/1/retire"),
    (nouns.admin.workers.list(), "GET /admin/workers"),
    (nouns.admin.workers.disable("w"), "POST /admin/workers/w/disable"),
    (nouns.admin.workers.enable("w"), "POST /admin/workers/w/enable"),
]


@pytest.mark.parametrize(("asked", "route"), ROUTES, ids=[route for _, route in ROUTES])
def test_every_method_asks_its_route(asked: Request[Any], route: str) -> None:
    assert f"{asked.method} {asked.path}" == route


def test_types_are_exact_for_both_clients() -> None:
    async def ask(client: AsyncClient) -> None:
        assert_type(await client.auth.me(), Me)
        assert_type([one async for one in client.allocations.list("p")], list[Allocation])
        assert_type(await client.allocations.wait("a"), Allocation)

    def ask_now(client: Client) -> None:
        assert_type(client.auth.me(), Me)
        assert_type(list(client.allocations.list("p")), list[Allocation])
        assert_type(client.allocations.wait("a"), Allocation)

    _ = (ask, ask_now)  # for the type checker to read, not to run


def test_the_sdk_loads_nothing_of_the_server() -> None:
    script = """
import sys, gpuaas.sdk
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"litestar", "asyncpg", "asyncssh", "uvicorn", "typer", "structlog"}))
print(sorted(name for name in sys.modules if name.startswith("gpuaas.") and name.split(".")[1] not in {"sdk", "wire"}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]
