"""Every method of the SDK and the route it asks for, written down once more and independently."""

import subprocess
import sys
from typing import Any, assert_type, cast

import pytest

from gpuaas.sdk import AsyncClient, Client, recipes
from gpuaas.sdk.requests import Request
from gpuaas.sdk.routes.all_resources import Resources
from gpuaas.wire.accounts import AccountKind
from gpuaas.wire.allocations import Allocation, CreateAllocation, Disruption, Status
from gpuaas.wire.identity import Me, Role, Scope
from gpuaas.wire.quotas import Dimension, QuotaScope
from gpuaas.wire.storage import Backend
from gpuaas.wire.timeline import OperationStatus


class Recorder:
    """Stands in for a runner: hands back what it was asked to run."""

    def run(self, request: Request[Any]) -> Request[Any]:
        return request

    walk = follow = watch = wait = run


resources: Any = Resources(cast("Any", Recorder()))

ROUTES: list[tuple[Request[Any], str]] = [
    (resources.auth.sign_up("e", "p"), "POST /auth/personal/signup"),
    (resources.auth.login("e", "p"), "POST /auth/personal/login"),
    (resources.auth.logout(), "POST /auth/logout"),
    (resources.auth.me(), "GET /me"),
    (resources.sessions.list(), "GET /auth/sessions"),
    (resources.sessions.revoke("s"), "DELETE /auth/sessions/s"),
    (resources.tokens.list(), "GET /auth/tokens"),
    (resources.tokens.create("t", [Scope.READ]), "POST /auth/tokens"),
    (resources.tokens.revoke("t"), "DELETE /auth/tokens/t"),
    (resources.projects.list(), "GET /projects"),
    (resources.projects.create("p"), "POST /projects"),
    (resources.projects.get("p"), "GET /projects/p"),
    (resources.projects.change("p", record_terminals=True), "PATCH /projects/p"),
    (resources.projects.events("p"), "GET /projects/p/events"),
    (resources.projects.timeline("p"), "GET /projects/p/timeline"),
    (resources.projects.own_keys("p"), "GET /projects/p/own-keys"),
    (resources.projects.audit("p", action="volume"), "GET /projects/p/audit"),
    (resources.ssh_keys.list(), "GET /ssh-keys"),
    (resources.ssh_keys.add("t", "k"), "POST /ssh-keys"),
    (resources.ssh_keys.get("k"), "GET /ssh-keys/k"),
    (resources.ssh_keys.remove("k"), "DELETE /ssh-keys/k"),
    (resources.skus.list(), "GET /skus"),
    (resources.skus.get("s"), "GET /skus/s"),
    (resources.placement.explain("s"), "POST /placement/explain"),
    (resources.allocations.create("s", ["k"]), "POST /allocations"),
    (resources.allocations.submit(CreateAllocation(sku="s", ssh_key_ids=["k"])), "POST /allocations"),
    (resources.allocations.list("p"), "GET /projects/p/allocations"),
    (resources.allocations.logs("a"), "GET /allocations/a/logs"),
    (resources.allocations.follow_logs("a"), "GET /allocations/a/logs"),
    (resources.operations.follow_logs("o"), "GET /operations/o/logs"),
    (resources.admin.overview(), "GET /admin/overview"),
    (resources.allocations.usage("a"), "GET /allocations/a/usage"),
    (resources.allocations.metrics("a"), "GET /allocations/a/metrics"),
    (resources.allocations.health("a"), "GET /allocations/a/health"),
    (resources.allocations.get("a"), "GET /allocations/a"),
    (resources.allocations.release("a"), "POST /allocations/a/release"),
    (resources.allocations.ssh_keys("a"), "GET /allocations/a/ssh-keys"),
    (resources.allocations.set_ssh_keys("a", ["k"]), "PUT /allocations/a/ssh-keys"),
    (resources.allocations.allow_own_keys("a", allowed=True), "PUT /allocations/a/own-keys"),
    (resources.allocations.hand_over("a", "u"), "POST /allocations/a/handover"),
    (resources.allocations.sessions("a"), "GET /allocations/a/sessions"),
    (resources.allocations.recording("a", "t"), "GET /allocations/a/terminals/t/recording"),
    (resources.allocations.end_session("a", "s"), "DELETE /allocations/a/sessions/s"),
    (resources.members.list("p"), "GET /projects/p/members"),
    (resources.members.get("p", "u"), "GET /projects/p/members/u"),
    (resources.members.invite("p", "e"), "POST /projects/p/members"),
    (resources.members.change("p", "u", Role.ADMIN), "PUT /projects/p/members/u"),
    (resources.members.remove("p", "u"), "DELETE /projects/p/members/u"),
    (resources.members.reach(), "GET /me/reach"),
    (resources.tenant_audit.list("t"), "GET /tenants/t/audit"),
    (resources.tenant_audit.export("t"), "GET /tenants/t/audit/export"),
    (resources.admin.audit.list(), "GET /admin/audit"),
    (resources.admin.audit.export(), "GET /admin/audit/export"),
    (resources.invitations.list(), "GET /invitations"),
    (resources.invitations.accept("i"), "POST /invitations/accept"),
    (resources.invitations.withdraw("i"), "DELETE /invitations/i"),
    (resources.access_grants.list("a"), "GET /allocations/a/access-grants"),
    (resources.access_grants.list_live("p"), "GET /projects/p/access-grants"),
    (resources.access_grants.get("a", "g"), "GET /allocations/a/access-grants/g"),
    (resources.access_grants.create("a", "u"), "POST /allocations/a/access-grants"),
    (resources.access_grants.ask("a"), "POST /allocations/a/access-requests"),
    (resources.access_grants.change("a", "g"), "PATCH /allocations/a/access-grants/g"),
    (resources.access_grants.revoke("a", "g"), "DELETE /allocations/a/access-grants/g"),
    (resources.allocations.timeline("a"), "GET /allocations/a/timeline"),
    (resources.allocations.mint_terminal_token("a"), "POST /allocations/a/terminal-token"),
    (resources.allocations.terminals("a"), "GET /allocations/a/terminals"),
    (resources.allocations.events("a"), "GET /allocations/a/events"),
    (resources.allocations.watch("a").look, "GET /allocations/a"),
    (resources.allocations.watch("a").events, "GET /allocations/a/events"),
    (resources.allocation_groups.get("g"), "GET /allocation-groups/g"),
    (resources.allocation_groups.release("g"), "POST /allocation-groups/g/release"),
    (resources.runtimes.list(allocation_id="a"), "GET /runtime-bundles"),
    (resources.runtimes.get("a"), "GET /allocations/a/runtime-bundles"),
    (resources.runtimes.apply("a", "pytorch"), "POST /allocations/a/runtime-bundles"),
    (resources.runtimes.upgrade("a"), "POST /allocations/a/runtime-bundles"),
    (resources.runtimes.roll_back("a"), "POST /allocations/a/runtime-bundles"),
    (resources.runtimes.repair("a"), "POST /allocations/a/runtime-bundles"),
    (resources.runtimes.clear("a"), "DELETE /allocations/a/runtime-bundles"),
    (resources.admin.runtimes.list(), "GET /admin/runtime-bundles"),
    (resources.admin.runtimes.get("b"), "GET /admin/runtime-bundles/b"),
    (resources.admin.runtimes.publish(recipes.read("python-data")), "POST /admin/runtime-bundles"),
    (resources.admin.runtimes.stage("b", "n"), "POST /admin/runtime-bundles/b/stage"),
    (resources.admin.runtimes.deprecate("b"), "POST /admin/runtime-bundles/b/deprecate"),
    (resources.admin.runtimes.republish("b"), "POST /admin/runtime-bundles/b/republish"),
    (resources.admin.runtimes.retire("b"), "POST /admin/runtime-bundles/b/retire"),
    (resources.admin.runtimes.nodes("b"), "GET /admin/runtime-bundles/b/nodes"),
    (resources.admin.runtimes.unstage("b", "n"), "DELETE /admin/runtime-bundles/b/nodes/n"),
    (resources.admin.runtimes.staging("b", "n"), "GET /admin/runtime-bundles/b/nodes/n"),
    (resources.operations.list(project_id="p"), "GET /operations"),
    (resources.operations.get("o"), "GET /operations/o"),
    (resources.operations.logs("o"), "GET /operations/o/logs"),
    (resources.operations.watch("o", project_id="p").events, "GET /projects/p/events"),
    (resources.volumes.create("p", "v", 1), "POST /projects/p/volumes"),
    (resources.volumes.list("p"), "GET /projects/p/volumes"),
    (resources.volumes.get("p", "v"), "GET /projects/p/volumes/v"),
    (resources.volumes.change("p", "v", protected=True), "PATCH /projects/p/volumes/v"),
    (resources.volumes.delete("p", "v"), "DELETE /projects/p/volumes/v"),
    (resources.volumes.timeline("v"), "GET /volumes/v/timeline"),
    (resources.volumes.snapshot("v", "s"), "POST /volumes/v/snapshots"),
    (resources.volumes.snapshots("v"), "GET /volumes/v/snapshots"),
    (resources.volumes.delete_snapshot("v", "s"), "DELETE /volumes/v/snapshots/s"),
    (resources.volumes.attach("a", "v", "/data"), "POST /allocations/a/storage-attachments"),
    (resources.volumes.attachments("a"), "GET /allocations/a/storage-attachments"),
    (resources.volumes.attachment("a", "t"), "GET /allocations/a/storage-attachments/t"),
    (resources.volumes.detach("a", "t"), "DELETE /allocations/a/storage-attachments/t"),
    (resources.storage_backends.list(), "GET /storage-backends"),
    (
        resources.storage_backends.run_conformance(Backend.SHARED, "n"),
        "POST /admin/storage-backends/shared/conformance",
    ),
    (resources.admin.nodes.list(), "GET /admin/nodes"),
    (resources.admin.nodes.get("n"), "GET /admin/nodes/n"),
    (resources.admin.nodes.drain("n"), "POST /admin/nodes/n/drain"),
    (resources.admin.nodes.undrain("n"), "POST /admin/nodes/n/undrain"),
    (resources.admin.nodes.quarantine("n"), "POST /admin/nodes/n/quarantine"),
    (resources.admin.nodes.unquarantine("n"), "POST /admin/nodes/n/unquarantine"),
    (resources.admin.nodes.retire("n"), "POST /admin/nodes/n/retire"),
    (resources.admin.nodes.lost("n"), "POST /admin/nodes/n/lost"),
    (resources.admin.nodes.create_enrolment_token("n"), "POST /admin/enrolment-tokens"),
    (resources.admin.nodes.rotate_key("n"), "POST /admin/nodes/n/rotate-key"),
    (resources.admin.nodes.set_disk_overcommit("n", 1.5), "PUT /admin/nodes/n/disk-overcommit"),
    (resources.admin.slots.list("n"), "GET /admin/nodes/n/slots"),
    (resources.admin.slots.approve("n", 0), "POST /admin/nodes/n/slots/0/approve"),
    (resources.admin.slots.disable("n", 0), "POST /admin/nodes/n/slots/0/disable"),
    (resources.admin.slots.enable("n", 0), "POST /admin/nodes/n/slots/0/enable"),
    (resources.admin.unknown_environments.list(), "GET /admin/unknown-environments"),
    (resources.admin.unknown_environments.list_of_node("n"), "GET /admin/nodes/n/unknown-environments"),
    (
        resources.admin.unknown_environments.adopt("n", "a", reason="r"),
        "POST /admin/nodes/n/unknown-environments/a/adopt",
    ),
    (
        resources.admin.unknown_environments.remove("n", "a", confirm="a", reason="r"),
        "POST /admin/nodes/n/unknown-environments/a/remove",
    ),
    (resources.admin.unknown_volumes.list(), "GET /admin/unknown-volumes"),
    (resources.admin.unknown_volumes.list_of_node("n"), "GET /admin/nodes/n/unknown-volumes"),
    (resources.admin.unknown_volumes.get("n", "v"), "GET /admin/nodes/n/unknown-volumes/v"),
    (resources.admin.unknown_volumes.adopt("n", "v", reason="r"), "POST /admin/nodes/n/unknown-volumes/v/adopt"),
    (
        resources.admin.unknown_volumes.remove("n", "v", confirm="v", reason="r"),
        "POST /admin/nodes/n/unknown-volumes/v/remove",
    ),
    (resources.admin.allocations.list(status=Status.ACTIVE), "GET /admin/allocations"),
    (resources.admin.allocations.inspect("a"), "GET /admin/allocations/a"),
    (resources.admin.allocations.force_release("a"), "POST /admin/allocations/a/force-release"),
    (
        resources.admin.allocations.force_cleanup("a", runtime_verified_absent=True, reason="r"),
        "POST /admin/allocations/a/force-cleanup",
    ),
    (resources.admin.operations.list(status=OperationStatus.FAILED), "GET /admin/operations"),
    (resources.admin.operations.get("o"), "GET /admin/operations/o"),
    (resources.admin.invariants(), "GET /admin/invariants"),
    (resources.admin.task_keys.list(), "GET /admin/task-keys"),
    (resources.admin.task_keys.rotate(), "POST /admin/task-keys"),
    (resources.admin.task_keys.retire(1, reason="r"), "POST /admin/task-keys/1/retire"),
    (resources.admin.tenants.list(search="acme"), "GET /admin/tenants"),
    (resources.admin.tenants.suspend("t", reason="r"), "POST /admin/tenants/t/suspend"),
    (resources.admin.projects.unsuspend("p"), "POST /admin/projects/p/unsuspend"),
    (resources.admin.projects.set_quotas("p", {}), "PUT /admin/projects/p/quotas"),
    (resources.admin.users.get_quotas("u"), "GET /admin/users/u/quotas"),
    (resources.admin.accounts.users(), "GET /admin/users"),
    (resources.admin.accounts.suspend(AccountKind.USER, "u", "r"), "POST /admin/users/u/suspend"),
    (resources.admin.accounts.resume(AccountKind.TENANT, "t"), "POST /admin/tenants/t/unsuspend"),
    (resources.admin.quotas.list(), "GET /admin/quotas"),
    (resources.admin.quotas.set_defaults({Dimension.GPUS: 4}), "PUT /admin/quotas"),
    (resources.admin.quotas.get(QuotaScope.USER, "u"), "GET /admin/users/u/quotas"),
    (resources.admin.quotas.set(QuotaScope.TENANT, "t", {}), "PUT /admin/tenants/t/quotas"),
    (resources.admin.quotas.clear(QuotaScope.PROJECT, "p"), "DELETE /admin/projects/p/quotas"),
    (resources.admin.audit.verify(after=3), "GET /admin/audit/verification"),
    (resources.admin.allocations.break_glass("a", reason="r"), "POST /admin/allocations/a/break-glass"),
    (resources.admin.allocations.end_break_glass("a"), "DELETE /admin/allocations/a/break-glass"),
    (resources.allocations.break_glass("a"), "GET /allocations/a/break-glass"),
    (resources.allocations.end_break_glass("a"), "DELETE /allocations/a/break-glass"),
    (resources.allocations.restart("a"), "POST /allocations/a/restart"),
    (resources.allocations.resize("a", 2), "POST /allocations/a/resize"),
    (resources.allocations.extend("a", hours=4), "POST /allocations/a/extend"),
    (resources.allocations.limits("a"), "GET /allocations/a/limits"),
    (resources.allocations.consequences("a", Disruption.RESIZE), "GET /allocations/a/consequences"),
    (resources.quotas.mine(), "GET /me/quota"),
    (resources.quotas.of_project("p"), "GET /projects/p/quota"),
    (resources.quotas.of_tenant("t"), "GET /tenants/t/quota"),
    (resources.auth.sign_up_offer(), "GET /auth/sign-up"),
    (resources.admin.workers.list(), "GET /admin/workers"),
    (resources.admin.workers.disable("w"), "POST /admin/workers/w/disable"),
    (resources.admin.workers.enable("w"), "POST /admin/workers/w/enable"),
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
