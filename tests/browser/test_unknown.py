"""Environments that the database does not know: an operator sees their records, and adopts or removes them."""

from typing import Any

from playwright.async_api import Route, expect

from tests.browser.conftest import Arrive

STRANGER = "alloc_01m7stranger00000000000000"
RECORD = {
    "created_at": "2026-01-01T00:00:00Z",
    "currency": "USD",
    "gpu_count": 1,
    "holder_id": "user_ada",
    "memory_mib": 1024,
    "name": "night",
    "price_id": "price_1",
    "price_minor_per_hour": 450,
    "project_id": "proj_vision",
    "requested_by": "user_ada",
    "shape": "gpu_slice",
    "simulated": True,
    "size": "standard",
    "sku": "sim-h200-slice",
    "tenant_id": "ten_1",
    "username": "gpu",
    "vcpus": 1,
}


def environment(node: dict[str, Any]) -> dict[str, Any]:
    return {
        "environment_id": STRANGER,
        "node_id": node["id"],
        "node_name": node["name"],
        "state": "running",
        "boot": 1,
        "port": 20001,
        "host_key": "ssh-ed25519 AAAA",
        "devices": ["GPU-0"],
        "slots": [0],
        "ownership": RECORD,
        "first_seen_at": "2026-01-01T00:00:00Z",
        "last_seen_at": "2026-01-01T00:00:00Z",
    }


async def test_an_operator_adopts_an_unknown_environment_and_removes_one_only_by_its_id(arrive: Arrive) -> None:
    operator = await arrive("operator", role="admin")
    await operator.sign_in()
    page, node = operator.page, (await operator.get("/admin/nodes"))["items"][0]
    sent: list[Any] = []

    async def as_after_a_restore(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "unknown_environments": [STRANGER]})

    async def record(route: Route) -> None:
        sent.append((route.request.url.rpartition("/")[2], route.request.post_data_json))
        await route.fulfill(json=environment(node))

    at = f"**/api/v1/admin/nodes/{node['id']}"
    await page.route(at, as_after_a_restore)
    await page.route(f"{at}/unknown-environments", lambda route: route.fulfill(json={"items": [environment(node)]}))
    await page.route(f"{at}/unknown-environments/*/*", record)
    await page.goto(f"/platform/nodes/{node['id']}")
    await expect(page.get_by_text("night, sim-h200-slice")).to_be_visible()

    await page.get_by_role("button", name=f"Adopt {STRANGER}").click()
    dialog = page.get_by_role("dialog", name="Adopt night")
    await dialog.get_by_label("Reason").fill("the backup is older than it")
    await dialog.get_by_role("button", name="Adopt", exact=True).click()
    await expect(page.get_by_text("night is adopted")).to_be_visible()

    await page.get_by_role("button", name=f"Remove {STRANGER}").click()
    dialog = page.get_by_role("dialog", name="Remove the unknown environment")
    await dialog.get_by_label("Reason").fill("nobody claims it")
    await expect(dialog.get_by_role("button", name="Remove", exact=True)).to_be_disabled()
    await dialog.get_by_label(f"Type {STRANGER} to confirm").fill(STRANGER)
    await dialog.get_by_role("button", name="Remove", exact=True).click()
    await expect(page.get_by_text("The removal is requested")).to_be_visible()
    assert sent == [
        ("adopt", {"reason": "the backup is older than it"}),
        ("remove", {"reason": "nobody claims it", "confirm": STRANGER}),
    ]


VOLUME = "vol_01m7stranger00000000000000"
VOLUME_RECORD = {
    "backend": "shared",
    "created_at": "2026-01-01T00:00:00Z",
    "created_by": "user_ada",
    "name": "weights",
    "project_id": "proj_vision",
    "protected": False,
    "size_gib": 7,
    "snapshot_id": None,
    "tenant_id": "ten_1",
    "write_policy": "single_writer",
}


def volume(node: dict[str, Any]) -> dict[str, Any]:
    return {
        "volume_id": VOLUME,
        "backend": "shared",
        "sightings": [{"node_id": node["id"], "node_name": node["name"], "mounted_in": [STRANGER]}],
        "ownership": VOLUME_RECORD,
        "detail": "",
        "first_seen_at": "2026-01-01T00:00:00Z",
        "last_seen_at": "2026-01-01T00:00:00Z",
    }


async def test_an_operator_adopts_an_unknown_volume_and_removes_one_only_by_its_id(arrive: Arrive) -> None:
    operator = await arrive("operator", role="admin")
    await operator.sign_in()
    page, node = operator.page, (await operator.get("/admin/nodes"))["items"][0]
    sent: list[Any] = []

    async def record(route: Route) -> None:
        sent.append((route.request.url.rpartition("/")[2], route.request.post_data_json))
        await route.fulfill(json=volume(node))

    at = f"**/api/v1/admin/nodes/{node['id']}/unknown-volumes"
    await page.route(at, lambda route: route.fulfill(json={"items": [volume(node)]}))
    await page.route(f"{at}/*/*", record)
    await page.goto(f"/platform/nodes/{node['id']}")
    await expect(page.get_by_text("weights, 7 GiB")).to_be_visible()
    await expect(page.get_by_text(STRANGER)).to_be_visible()

    await page.get_by_role("button", name=f"Adopt {VOLUME}").click()
    dialog = page.get_by_role("dialog", name="Adopt weights")
    await dialog.get_by_label("Reason").fill("the backup is older than it")
    await dialog.get_by_label("Another name").fill("weights-2")
    await dialog.get_by_role("button", name="Adopt", exact=True).click()
    await expect(page.get_by_text("weights-2 is adopted")).to_be_visible()

    await page.get_by_role("button", name=f"Remove {VOLUME}").click()
    dialog = page.get_by_role("dialog", name="Remove the unknown volume")
    await dialog.get_by_label("Reason").fill("nobody claims it")
    await expect(dialog.get_by_role("button", name="Remove", exact=True)).to_be_disabled()
    await dialog.get_by_label(f"Type {VOLUME} to confirm").fill(VOLUME)
    await dialog.get_by_role("button", name="Remove", exact=True).click()
    await expect(page.get_by_text("The removal is requested")).to_be_visible()
    assert sent == [
        ("adopt", {"reason": "the backup is older than it", "name": "weights-2"}),
        ("remove", {"reason": "nobody claims it", "confirm": VOLUME}),
    ]
