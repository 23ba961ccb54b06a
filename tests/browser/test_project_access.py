"""The project's page of grants and own key files: seen by members, ended by people who control the allocation."""

from playwright.async_api import expect

from tests.browser.conftest import Arrive


async def test_grants_and_own_key_files_of_a_project_are_seen_and_ended(arrive: Arrive) -> None:
    ada, bob = await arrive("ada"), await arrive("bob")
    await ada.sign_up()
    await bob.sign_up()
    machine = await ada.machine("shared")
    project, here = machine["project_id"], f"/allocations/{machine['id']}"
    invited = await ada.post(f"/projects/{project}/members", {"email": bob.email, "role": "member"})
    await bob.post("/invitations/accept", {"secret": invited["link"].rpartition("#")[2]})
    key, who = await bob.add_key(), (await bob.get("/me"))["user"]["id"]
    await ada.post(f"{here}/access-grants", {"user_id": who, "ssh_key_id": key})
    allowed = await ada.http.put(f"/api/v1{here}/own-keys", json={"allowed": True})
    assert allowed.is_success, allowed.text
    for person in (ada, bob):
        await person.page.goto(f"/projects/{project}/access")
        await expect(person.page.get_by_role("heading", name="Grants and own keys", level=1)).to_be_visible()
    grant = ada.page.get_by_role("row", name=bob.email)
    await expect(grant.get_by_text("Admitted")).to_be_visible()
    await expect(bob.page.get_by_role("button", name="Give up: ")).to_be_visible()
    await expect(bob.page.get_by_role("button", name="Stop admitting: shared")).to_have_count(0)
    await expect(bob.page.get_by_role("row", name=ada.email).get_by_text("Admitted")).to_be_visible()
    await ada.page.get_by_role("button", name="Stop admitting: shared").click()
    dialog = ada.page.get_by_role("dialog", name="Stop admitting the own key file of shared?")
    await dialog.get_by_role("button", name="Stop admitting", exact=True).click()
    await expect(ada.page.get_by_text("Every allocation admits only keys")).to_be_visible()
    await ada.page.get_by_role("button", name=f"Revoke: {bob.email}, shared").click()
    dialog = ada.page.get_by_role("dialog", name=f"Revoke the access of {bob.email} to shared?")
    await dialog.get_by_role("button", name="Revoke", exact=True).click()
    await expect(ada.page.get_by_text("No allocation is shared.")).to_be_visible()
    await expect(bob.page.get_by_text("No allocation is shared.")).to_be_visible()
