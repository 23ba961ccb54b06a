"""Tenants are kept apart on every route, by the service's checks, by the database's fence, and by either alone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from litestar import get

from gpuaas.api.app import create_litestar
from gpuaas.api.services import Services
from gpuaas.api.unit import UnitMiddleware
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.views import view
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.allocations import Allocation
from tests import described
from tests.isolation.matrix import ALL_PARTS, OTHER_OWNER, Matrix
from tests.isolation.probes import Probe, Uncovered, probes
from tests.isolation.town import Town, checks_off, founded, policies_off

# `make test` asks every route, as the owner of another tenant and as some of the nine others; `make soak` as all ten.
SAMPLE, SAMPLE_BEHIND_ONE_FENCE = 4, 2
WHOLE = pytest.param(ALL_PARTS, marks=pytest.mark.soak, id="whole")
# With both fences down these still name the caller in their own WHERE clause.
THIRD_FENCE = {
    "DELETE /api/v1/auth/sessions/{id} path id",
    "DELETE /api/v1/auth/tokens/{id} path id",
    "POST /api/v1/allocations body ssh_key_ids",
    "GET /api/v1/operations query subject_id",
    # What stands in something else is looked for there alone.
    *(
        f"{method} /api/v1/projects/{{project_id}}/volumes/{{volume_id}} path {name}"
        for method in ("GET", "PATCH", "DELETE")
        for name in ("project_id", "volume_id")
    ),
    "GET /api/v1/allocations/{allocation_id}/storage-attachments/{attachment_id} path attachment_id",
    "DELETE /api/v1/allocations/{allocation_id}/storage-attachments/{attachment_id} path attachment_id",
    "DELETE /api/v1/volumes/{volume_id}/snapshots/{snapshot_id} path snapshot_id",
    "POST /api/v1/allocations/{allocation_id}/storage-attachments body volume_id",
    "POST /api/v1/projects/{project_id}/volumes body allocation_id",
    "POST /api/v1/projects/{project_id}/volumes body snapshot_id",
    "POST /api/v1/allocations/{id}/terminal-token body session_id",
    # Members and sessions are looked for where they are.
    "GET /api/v1/projects/{project_id}/members/{user_id} path user_id",
    "PUT /api/v1/projects/{project_id}/members/{user_id} path user_id",
    "DELETE /api/v1/projects/{project_id}/members/{user_id} path user_id",
    "DELETE /api/v1/allocations/{id}/sessions/{session_id} path session_id",
    # A grant is looked for by its machine too.
    "GET /api/v1/allocations/{id}/access-grants/{grant_id} path grant_id",
    "PATCH /api/v1/allocations/{id}/access-grants/{grant_id} path grant_id",
    "DELETE /api/v1/allocations/{id}/access-grants/{grant_id} path grant_id",
    # Whose key it is, and who works in the project, is asked of the rows of that person.
    "PUT /api/v1/allocations/{id}/ssh-keys body ssh_key_ids",
    "POST /api/v1/allocations/{id}/handover body ssh_key_ids",
    "POST /api/v1/allocations/{id}/handover body user_id",
    "POST /api/v1/admin/nodes/{id}/unknown-environments/{environment_id}/adopt body holder_id",
    "POST /api/v1/allocations/{id}/access-grants body ssh_key_id",
    "POST /api/v1/allocations/{id}/access-grants body user_id",
    "POST /api/v1/allocations/{id}/access-requests body ssh_key_id",
    "PATCH /api/v1/allocations/{id}/access-grants/{grant_id} body ssh_key_id",
    "GET /api/v1/allocations/{id}/terminals/{terminal_id}/recording path terminal_id",
}


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    return described.document()


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """For tests that leave it as they found it."""
    async with founded(tmp_path_factory.mktemp("town")) as made:
        yield made


@pytest.fixture
async def spare_town(tmp_path: Path) -> AsyncIterator[Town]:
    async with founded(tmp_path) as made:
        yield made


@pytest.mark.parametrize("parts", [pytest.param(SAMPLE, id="sample"), WHOLE])
async def test_what_is_anothers_looks_like_what_there_is_not(town: Town, published: dict[str, Any], parts: int) -> None:
    sweep = await Matrix(town, town.app, probes(town.world._routes, published), parts_per_probe=parts).foreign()
    assert (sweep.findings, sweep.changed) == ([], []), str(sweep)
    assert sweep.asked > 1000


async def test_each_role_does_with_its_own_what_it_may(spare_town: Town, published: dict[str, Any]) -> None:
    sweep = await Matrix(spare_town, spare_town.app, probes(spare_town.world._routes, published)).own()
    assert sweep.findings == [], str(sweep)
    assert sweep.asked > 400


@pytest.mark.parametrize("parts", [pytest.param(SAMPLE_BEHIND_ONE_FENCE, id="sample"), WHOLE])
async def test_the_row_fence_holds_alone(town: Town, published: dict[str, Any], parts: int) -> None:
    asked = probes(town.world._routes, published)
    with checks_off(town) as app:
        sweep = await Matrix(town, app, asked, by_fence=True, parts_per_probe=parts).foreign()
    assert (sweep.findings, sweep.changed) == ([], []), str(sweep)


@pytest.mark.parametrize("parts", [pytest.param(SAMPLE_BEHIND_ONE_FENCE, id="sample"), WHOLE])
async def test_the_services_checks_hold_alone(town: Town, published: dict[str, Any], parts: int) -> None:
    async with policies_off(town):
        sweep = await Matrix(town, town.app, probes(town.world._routes, published), parts_per_probe=parts).foreign()
    assert (sweep.findings, sweep.changed) == ([], []), str(sweep)


async def test_with_both_fences_down_the_matrix_sees_a_leak_in_every_route(
    spare_town: Town, published: dict[str, Any]
) -> None:
    town, all_probes = only_the_other_owner(spare_town), probes(spare_town.world._routes, published)
    async with policies_off(town):
        with checks_off(town) as app:
            sweep = await Matrix(town, app, all_probes, by_fence=True).foreign()
    foreign = {str(probe) for probe in all_probes if probe.noun not in ("", "worker")}
    assert foreign - {str(probe) for probe in sweep.leaking} == THIRD_FENCE
    assert "allocations" in sweep.changed


async def test_one_policy_taken_away_is_seen(spare_town: Town, published: dict[str, Any]) -> None:
    town = only_the_other_owner(spare_town)
    connection = await asyncpg.connect(town.world.dsn)
    try:
        await connection.execute("alter policy tenant on allocations using (true)")
    finally:
        await connection.close()
    with checks_off(town) as app:
        sweep = await Matrix(town, app, probes(town.world._routes, published), by_fence=True).foreign()
    paths = {probe.path for probe in sweep.leaking}
    assert "/api/v1/allocations/{id}" in paths
    assert all(path.startswith(("/api/v1/allocation", "/api/v1/runtime-bundles")) for path in paths)


def only_the_other_owner(town: Town) -> Town:
    town.parts = [part for part in town.parts if part.name == OTHER_OWNER]
    return town


NOBODY = Caller(id="user_nobody", name="", credential_id="")


@get("/api/v1/allocations/{id:str}/glimpse")
async def glimpse(id: str, services: Services) -> Allocation:
    """A route as somebody in a hurry would write it."""
    async with services.worker_db.read() as tx:
        return view(await store.get(tx, id), NOBODY)


async def test_a_route_that_asks_nobody_is_seen(town: Town, published: dict[str, Any]) -> None:
    app = create_litestar(town.world.services)
    app.register(glimpse)
    with pytest.raises(Uncovered, match="glimpse"):
        probes(app, published)
    planted = [Probe("GET", "/api/v1/allocations/{id}/glimpse", "path", "id", "allocation")]
    sweep = await Matrix(town, UnitMiddleware(app, town.world.services), planted).foreign()
    assert {finding.part for finding in sweep.findings} == {part.name for part in town.parts}
