"""Somebody else on the stage: a member of the person's project, with a key of their own."""

import asyncssh

from tests.crash.stages import Stage

PASSWORD = "correct horse battery"
MEMBER = "insert into tenant_members select tenant_id, $2, 'member' from projects where id = $1"
WORKS = "insert into project_members select id, tenant_id, $2, 'member' from projects where id = $1"


async def welcome(stage: Stage, allocation_id: str, name: str) -> dict[str, str]:
    """Signs up, adds a key, and is a member of the project of this machine."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    credentials = {"email": f"{name}@example.com", "password": PASSWORD}
    signed = (await stage.http.post("/api/v1/auth/personal/signup", json=credentials)).raise_for_status().json()
    bearer = {"Authorization": f"Bearer {signed['access_token']}"}
    public = {"title": "guest", "public_key": key.export_public_key().decode()}
    added = (await stage.http.post("/api/v1/ssh-keys", json=public, headers=bearer)).raise_for_status().json()
    project_id = (await stage.row(allocation_id))["project_id"]
    for sql in (MEMBER, WORKS):
        await stage.query(sql, project_id, signed["user"]["id"])
    return {"user": signed["user"]["id"], "key_id": added["id"], "key": key.export_private_key().decode()}


async def is_let_in(stage: Stage, allocation_id: str, key: str) -> bool:
    try:
        await stage.says(allocation_id, "true", asyncssh.import_private_key(key))
    except (OSError, TimeoutError, asyncssh.Error):
        return False
    return True
