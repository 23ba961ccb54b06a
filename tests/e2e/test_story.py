"""One story of two people and one machine, from the launch to what is left of it, on the real stack."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import to_builtins

from gpuaas.wire.members import secret_in
from tests.e2e.stack import Stack, run
from tests.patience import PATIENCE_SECONDS
from tests.runtimes.wheels import publication

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="volumes are attached live only where the agent is root")

SKU = "sim-h200-slice"
BOB = {"email": "bob@example.com", "password": "bob has a horse and a battery"}
RESTART = {"reason": "to see it come back"}
BUNDLE_SAYS = "gpuaas-runtime run tiny -- tiny"
LEAVE, FIND = "echo precious > /data/result && echo fleeting > ~/scratch", "cat /data/result ~/scratch"
SETTLE_SECONDS = PATIENCE_SECONDS


class Person:
    """Somebody with a token, an SSH key of their own, and plain OpenSSH."""

    def __init__(self, http: httpx.AsyncClient, folder: Path, name: str) -> None:
        self.http, self.key, self._known = http, folder / f"{name}-key", folder / f"{name}-known"
        self.key_id = self.id = ""

    async def arrive(self) -> None:
        await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key))
        public = Path(f"{self.key}.pub").read_text()
        self.key_id = (await self.post("/ssh-keys", {"title": "laptop", "public_key": public}))["id"]
        self.id = (await self.get("/me"))["user"]["id"]

    async def get(self, path: str) -> Any:
        return self._said(await self.http.get(f"/api/v1{path}"))

    async def post(self, path: str, body: dict[str, Any], key: str = "") -> Any:
        headers = {"X-Idempotency-Key": key} if key else {}
        return self._said(await self.http.post(f"/api/v1{path}", json=body, headers=headers))

    async def delete(self, path: str) -> Any:
        return self._said(await self.http.request("DELETE", f"/api/v1{path}"))

    @staticmethod
    def _said(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.method} {answer.request.url} → {answer.status_code}: {answer.text}"
        return answer.json()

    def command(self, machine: dict[str, Any], *words: str) -> list[str]:
        """The same for the whole story: whoever has to change it has lost the machine."""
        door = machine["connection"]
        self._known.write_text(door["known_hosts"] + "\n")
        options = ("BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", f"HostKeyAlias={machine['id']}")
        known = f"UserKnownHostsFile={self._known}"
        flags = [word for option in (*options, known, "ConnectTimeout=10") for word in ("-o", option)]
        there = f"{door['username']}@{door['host']}"
        return ["ssh", "-F", "none", "-i", str(self.key), "-p", str(door["port"]), *flags, there, *words]

    async def inside(self, machine: dict[str, Any], command: str) -> str:
        ran = await run(*self.command(machine, command))
        assert ran.code == 0, f"{command} → {ran.code}: {ran.out} {ran.err}"
        return ran.out.strip()

    async def connect(self, machine: dict[str, Any]) -> asyncio.subprocess.Process:
        """Inside and staying there."""
        process = await asyncio.create_subprocess_exec(
            *self.command(machine, "echo in; exec sleep 1000"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS) == b"in\n"
        return process

    async def until(self, path: str, wanted: dict[str, Any]) -> Any:
        """Until what is shown there is as wanted; a failure on the way is the end of the story."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            seen = await self.get(path)
            if all(seen[field] == value for field, value in wanted.items()):
                return seen
            assert "failed" not in str(seen.get("status", seen.get("state", ""))), str(seen)
            assert time.monotonic() < deadline, f"{path} is {seen}, not {wanted}"
            await asyncio.sleep(0.2)


@asynccontextmanager
async def signed_in(up: Stack, name: str, path: str, credentials: dict[str, str]) -> AsyncIterator[Person]:
    async with httpx.AsyncClient(base_url=up.file.url, trust_env=False, timeout=30) as http:
        token = (await http.post(f"/api/v1/auth/personal/{path}", json=credentials)).raise_for_status().json()
        http.headers["Authorization"] = f"Bearer {token['access_token']}"
        yield Person(http, up.folder, name)


async def ended(process: asyncio.subprocess.Process) -> str:
    """What a session that was cut was told."""
    _, err = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
    assert process.returncode != 0
    return err.decode()


async def publish(operator: Person, up: Stack, version: str) -> str:
    """A bundle that an operator made, of a package that is on this machine."""
    made = to_builtins(publication(up.wheels, version, slug="tiny"))
    return str((await operator.post("/admin/runtime-bundles", made))["id"])


async def test_two_people_share_a_machine_through_everything_that_happens_to_it(platform: Stack) -> None:
    up, user, admin = platform, platform.user("user"), platform.user("admin")
    async with (
        signed_in(up, "ada", "login", {"email": user.email, "password": user.password}) as ada,
        signed_in(up, "operator", "login", {"email": admin.email, "password": admin.password}) as operator,
        signed_in(up, "bob", "signup", BOB) as bob,
    ):
        await ada.arrive()
        await bob.arrive()
        await tell(up, ada, bob, operator)


async def tell(up: Stack, ada: Person, bob: Person, operator: Person) -> None:
    project = up.file.project_id
    await join(ada, bob, project or "")
    await publish(operator, up, "1.0")
    volume = {"name": "results", "size_gib": 1}
    launch = {
        "sku": SKU,
        "name": "shared",
        "project_id": project,
        "ssh_key_ids": [ada.key_id],
        "runtime_bundle_slug": "tiny",
        "storage_attachments": [{"new_volume": volume, "mount_path": "/data"}],
    }
    made = (await ada.post("/allocations", launch, key="story"))["allocations"][0]
    here = f"/allocations/{made['id']}"
    machine = await ada.until(here, {"status": "active"})
    await mounted(ada, here)
    await ada.until(f"{here}/runtime-bundles", {"state": "applied"})
    await ada.inside(machine, LEAVE)
    assert await ada.inside(machine, BUNDLE_SAYS) == "tiny 1.0"

    grant = await ada.post(f"{here}/access-grants", {"user_id": bob.id, "ssh_key_id": bob.key_id})
    await ada.until(f"{here}/access-grants/{grant['id']}", {"status": "active", "installed": True})
    both = [await ada.connect(machine), await bob.connect(machine)]

    await ada.post(f"{here}/restart", RESTART)
    for session in both:
        assert "restarts" in await ended(session)
    back = await ada.until(here, {"status": "active", "boot": 2})
    assert back["connection"] == machine["connection"]
    await mounted(ada, here)
    await ada.until(f"{here}/runtime-bundles", {"state": "applied", "observed_boot": 2})
    assert back["slots"] == machine["slots"]
    for person in (ada, bob):
        assert await person.inside(machine, FIND) == "precious\nfleeting"
    assert await ada.inside(machine, BUNDLE_SAYS) == "tiny 1.0"

    await ada.post(f"{here}/resize", {"gpu_count": 2})
    await ada.until(here, {"status": "active", "boot": 3, "gpu_count": 2})
    await mounted(ada, here)
    result, scratch, slots = (await bob.inside(machine, f"{FIND}; echo $GPUAAS_SLOTS")).split()
    assert (result, scratch, len(slots.split(","))) == ("precious", "fleeting", 2)

    await ada.post(f"{here}/runtime-bundles", {"runtime_bundle_id": await publish(operator, up, "1.1")})
    await ada.until(f"{here}/runtime-bundles", {"state": "applied"})
    assert await ada.inside(machine, BUNDLE_SAYS) == "tiny 1.1"

    await revoke(ada, bob, machine, grant["id"])
    await release(ada, here, machine)
    await remains(ada, bob, project or "")


async def join(ada: Person, bob: Person, project: str) -> None:
    invited = await ada.post(f"/projects/{project}/members", {"email": BOB["email"], "role": "member"})
    await bob.post("/invitations/accept", {"secret": secret_in(invited["link"])})


async def mounted(person: Person, here: str) -> None:
    attached = (await person.get(f"{here}/storage-attachments"))["items"]
    boot = (await person.get(here))["boot"]
    await person.until(f"{here}/storage-attachments/{attached[0]['id']}", {"status": "attached", "observed_boot": boot})


async def revoke(ada: Person, bob: Person, machine: dict[str, Any], grant_id: str) -> None:
    """While he is inside: cut, told why, not let in again; she is not disturbed."""
    here = f"/allocations/{machine['id']}"
    hers, his = await ada.connect(machine), await bob.connect(machine)
    await ada.delete(f"{here}/access-grants/{grant_id}")
    assert await ended(his)
    refused = await run(*bob.command(machine, "true"))
    assert refused.code != 0
    assert "Permission denied" in refused.err
    assert hers.returncode is None
    hers.terminate()
    await hers.wait()
    audit = (await ada.get(f"/projects/{machine['project_id']}/audit"))["items"]
    told = next(row for row in audit if row["action"] == "access_grant.revoked")
    assert told["actor"] == ada.id


async def release(ada: Person, here: str, machine: dict[str, Any]) -> None:
    said = await ada.get(f"{here}/consequences?of=release")
    assert "local disk" in [each["what"] for each in said["lost"]]
    assert any("results" in each["what"] for each in said["survives"])
    await ada.post(f"{here}/release", {})
    await ada.until(here, {"status": "released", "cleanup_proven": True})
    assert (await run(*ada.command(machine, "true"))).code != 0


async def remains(ada: Person, bob: Person, project: str) -> None:
    """The volume in a machine of his; nothing else of hers."""
    volumes = (await bob.get(f"/projects/{project}/volumes"))["items"]
    launch = {
        "sku": SKU,
        "name": "next",
        "project_id": project,
        "ssh_key_ids": [bob.key_id],
        "storage_attachments": [{"volume_id": volumes[0]["id"], "mount_path": "/data"}],
    }
    made = (await bob.post("/allocations", launch, key="next"))["allocations"][0]
    machine = await bob.until(f"/allocations/{made['id']}", {"status": "active"})
    await mounted(bob, f"/allocations/{made['id']}")
    assert await bob.inside(machine, "cat /data/result; ls ~/scratch 2>/dev/null | wc -l") == "precious\n0"
    await bob.post(f"/allocations/{made['id']}/release", {})
    await bob.until(f"/allocations/{made['id']}", {"status": "released", "cleanup_proven": True})
