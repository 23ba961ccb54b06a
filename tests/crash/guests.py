"""Somebody else on the stage, with a key of their own: a stranger, who may be invited into the person's project."""

import itertools
from typing import Any

import asyncssh
import httpx

from tests.crash.mortals import UNREACHED
from tests.crash.stages import Stage

PASSWORD = "correct horse battery"
_arrivals = itertools.count()
MEMBERSHIPS = "select from project_members where project_id = $1 and user_id = $2"


async def arrive(stage: Stage, name: str) -> dict[str, str]:
    """Signs up, and adds a key."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    signed = await signed_up(stage, {"email": f"{name}@example.com", "password": PASSWORD})
    public: dict[str, object] = {"title": "guest", "public_key": key.export_public_key().decode()}
    added = await stage.post("/ssh-keys", public, key=f"{name}-key", token=signed["access_token"])
    return {
        "email": signed["user"]["email"],
        "user": signed["user"]["id"],
        "token": signed["access_token"],
        "key_id": added["id"],
        "key": key.export_private_key().decode(),
    }


async def signed_up(stage: Stage, credentials: dict[str, str]) -> dict[str, Any]:
    """What was not answered is tried again; who turns out to be signed up logs in. Each comes from an address of their
    own, for of one address only so many a minute are let in."""
    signed: dict[str, Any] = {}
    number = next(_arrivals)
    doorstep = httpx.AsyncHTTPTransport(local_address=f"127.1.{number // 250}.{number % 250 + 1}")

    async with httpx.AsyncClient(base_url=stage.url, timeout=10, transport=doorstep) as http:

        async def is_stranger() -> str:
            try:
                answer = await http.post("/api/v1/auth/personal/signup", json=credentials)
                if answer.status_code == httpx.codes.CONFLICT:
                    answer = await http.post("/api/v1/auth/personal/login", json=credentials)
            except httpx.TransportError as error:
                return repr(error)
            signed.update(answer.json())
            return "" if answer.is_success else answer.text

        await stage.reach(is_stranger)
    return signed


async def invite(stage: Stage, allocation_id: str, email: str, key: str) -> dict[str, str]:
    """Into the project of this machine."""
    project_id = str((await stage.row(allocation_id))["project_id"])
    sent = await stage.post(f"/projects/{project_id}/members", {"email": email}, key=key)
    return {"project": project_id, "invitation": sent["link"].rpartition("#")[2]}


async def accept(stage: Stage, notes: dict[str, str], key: str) -> None:
    await stage.post("/invitations/accept", {"secret": notes["invitation"]}, key=key, token=notes["token"])


async def welcome(stage: Stage, allocation_id: str, name: str) -> dict[str, str]:
    """One who is in the project already."""
    notes = await arrive(stage, name)
    notes |= await invite(stage, allocation_id, notes["email"], f"{name}-invited")
    await accept(stage, notes, f"{name}-accepted")
    return notes


async def memberships(stage: Stage, notes: dict[str, str]) -> int:
    return len(await stage.query(MEMBERSHIPS, notes["project"], notes["user"]))


async def is_let_in(stage: Stage, allocation_id: str, key: str) -> bool:
    try:
        await stage.says(allocation_id, "true", asyncssh.import_private_key(key))
    except UNREACHED:
        return False
    return True
