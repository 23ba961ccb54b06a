"""One launch makes what was chosen, once: the selection is pinned, and three clicks make one allocation."""

import asyncio
import re

from playwright.async_api import Request, Route, expect

from tests.browser.conftest import Arrive


async def take_the_cheap_ones(route: Route) -> None:
    """What the catalog says once others have taken every part of a node."""
    answer = await route.fetch()
    listed = await answer.json()
    for sku in listed["items"]:
        for place in sku["availability"] if sku["shape"] == "gpu_slice" else []:
            place["free"] = 0
    await route.fulfill(response=answer, json=listed)


async def test_the_review_keeps_what_was_chosen_and_three_clicks_launch_it_once(arrive: Arrive) -> None:
    ada = await arrive("ada", own=True)
    await ada.sign_up()
    await ada.add_key()
    page, project = ada.page, await ada.project_id()
    submits: list[Request] = []
    page.on(
        "request",
        lambda one: submits.append(one) if one.url.endswith("/allocations") and one.method == "POST" else None,
    )
    await page.goto(f"/projects/{project}/launch")
    await page.get_by_role("button", name="Skip to review").click()
    price = page.get_by_text(re.compile(r"^\D*[\d.]+ / h$"))
    before = await price.inner_text()
    await page.route("**/api/v1/skus", take_the_cheap_ones)
    async with page.expect_response("**/api/v1/skus"):
        pass
    await page.get_by_role("button", name="Change compute").click()
    await expect(page.get_by_text(re.compile(r"^0 . 1 GPU$")).first).to_be_visible()
    await page.get_by_role("button", name="Skip to review").click()
    await expect(price).to_have_text(before)
    await page.unroute("**/api/v1/skus")

    may_leave = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_leave.wait()
        await route.continue_()

    await page.route("**/assets/DetailPage*.js", hold)  # a slow network: the next page takes its time
    launch = page.get_by_role("button", name="Launch", exact=True)
    async with page.expect_response(lambda one: one.request in submits):
        await launch.click()
        await launch.dispatch_event("click")
    await launch.dispatch_event("click")
    may_leave.set()
    await expect(page.get_by_role("tab", name="Overview")).to_be_visible()
    assert len(submits) == 1
    (made,) = (await ada.get(f"/projects/{project}/allocations"))["items"]
    assert made["price_per_hour"]["amount_minor"] == round(100 * float(before.split()[0].strip("US$")))
