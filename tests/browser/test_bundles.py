"""A bundle on a machine: applied, upgraded, rolled back, removed; and taken out of the catalog by an operator."""

from uuid import uuid4

from msgspec import to_builtins
from msgspec.structs import replace
from playwright.async_api import Page, expect

from tests.browser import deeds
from tests.browser.conftest import Arrive
from tests.browser.people import Person
from tests.e2e.stack import Stack
from tests.runtimes.wheels import publication

NAME = "Python for planets"  # other tests of the same platform publish bundles too


async def test_a_bundle_is_applied_upgraded_rolled_back_removed_and_retired(arrive: Arrive, up: Stack) -> None:
    operator, ada = await arrive("operator", role="admin"), await arrive("ada")
    await operator.sign_in()
    await ada.sign_up()
    slug = f"tiny-{uuid4().hex[:6]}"
    old, new = [await publish(operator, up, slug, version) for version in ("1.0", "1.1")]
    machine = await ada.machine("bench")
    await deeds.trust(ada, machine["connection"]["known_hosts"])
    says = f"{machine['connection']['command']} 'gpuaas-runtime run {slug} -- tiny'"
    await ada.page.goto(f"/projects/{machine['project_id']}/allocations/{machine['id']}/runtime")
    await change(ada.page, f"Apply {NAME} 1.0", f"Apply {NAME} 1.0 to bench?", "Apply")
    await expect_in_force(ada.page, "1.0")
    assert (await ada.shell(says)).out.strip() == "tiny 1.0"
    await change(ada.page, "Upgrade to 1.1", f"Upgrade bench to {NAME} 1.1?", "Upgrade")
    await expect_in_force(ada.page, "1.1")
    assert (await ada.shell(says)).out.strip() == "tiny 1.1"
    await change(ada.page, "Roll back", f"Roll bench back to {NAME} 1.0?", "Roll back")
    await expect_in_force(ada.page, "1.0")
    assert (await ada.shell(says)).out.strip() == "tiny 1.0"
    await change(ada.page, "Remove", f"Remove {NAME} 1.0 from bench?", "Remove")
    await expect(ada.page.get_by_text("None: raw compute")).to_be_visible()
    await ada.until(f"/allocations/{machine['id']}/runtime-bundles", state="cleared")
    assert (await ada.shell(says)).code != 0
    await change(ada.page, "Roll back", f"Roll bench back to {NAME} 1.0?", "Roll back")
    await expect_in_force(ada.page, "1.0")
    await deprecate(operator, new)
    await retire(operator, old)
    await ada.page.reload()
    await expect_in_force(ada.page, "1.0")  # who has it keeps it
    await expect(ada.page.get_by_text("Deprecated", exact=True)).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Upgrade to 1.1")).to_have_count(0)
    assert (await ada.shell(says)).out.strip() == "tiny 1.0"


async def publish(operator: Person, up: Stack, slug: str, version: str) -> str:
    body = to_builtins(replace(publication(up.wheels, version, slug=slug), product_name=NAME))
    return str((await operator.post("/admin/runtime-bundles", body))["id"])


async def change(page: Page, button: str, question: str, verb: str) -> None:
    await page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog", name=question)
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_be_hidden()


async def expect_in_force(page: Page, version: str) -> None:
    """Wanted, and seen on the machine."""
    await expect(page.get_by_role("definition").get_by_text(f"{NAME} {version}")).to_have_count(2)
    await expect(page.get_by_role("definition").get_by_text("Applied", exact=True)).to_be_visible()


async def deprecate(operator: Person, bundle: str) -> None:
    await operator.page.goto(f"/platform/runtime-bundles/{bundle}")
    await act(operator.page, "Deprecate")
    assert (await operator.get(f"/admin/runtime-bundles/{bundle}"))["bundle"]["state"] == "deprecated"


async def retire(operator: Person, bundle: str) -> None:
    await operator.page.goto(f"/platform/runtime-bundles/{bundle}")
    await act(operator.page, "Retire")
    assert (await operator.get(f"/admin/runtime-bundles/{bundle}"))["bundle"]["state"] == "retired"
    await expect(operator.page.get_by_role("button", name="Stage on nodes")).to_have_count(0)


async def act(page: Page, verb: str) -> None:
    await page.get_by_role("button", name="Change", exact=True).click()
    await page.get_by_role("menuitem", name=verb).click()
    dialog = page.get_by_role("dialog", name=verb)
    await dialog.get_by_label("Reason").fill("it forgets planets")
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text(f"is {verb.lower().rstrip('e')}ed now")).to_be_visible()
