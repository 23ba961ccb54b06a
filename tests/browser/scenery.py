"""A project in which people work: what pictures show and what every page needs to be looked at."""

import os

from tests.browser.people import Person


async def furnish(person: Person) -> dict[str, str]:
    """One of everything; the ids that addresses are made of."""
    project = await person.project_id()
    volume = await person.post(f"/projects/{project}/volumes", {"name": "datasets", "size_gib": 20})
    await person.until(f"/projects/{project}/volumes/{volume['id']}", status="available")
    attached = [{"volume_id": volume["id"], "mount_path": "/data"}] if os.geteuid() == 0 else []
    machine = await person.machine("fine-tune", gpu_count=2, storage_attachments=attached)
    await person.post(f"/volumes/{volume['id']}/snapshots", {"name": "before-cleaning"})
    bundle = next(each for each in (await person.get("/runtime-bundles"))["items"] if each["slug"] == "python-data")
    me = await person.get("/me")
    return {
        "project": project,
        "tenant": me["projects"][0]["tenant_id"],
        "machine": machine["id"],
        "volume": volume["id"],
        "node": machine["node"]["id"],
        "bundle": bundle["id"],
        "user": me["user"]["id"],
        "operation": machine["operation_id"],
    }
