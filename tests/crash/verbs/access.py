"""Who may enter a machine changes."""

import asyncssh

from tests.crash import guests
from tests.crash.stages import Broken, Stage
from tests.crash.verbs import machines, sessions
from tests.crash.verbs.cases import Case

UNTOUCHED = "cat ~/kept; pgrep -fxc 'sleep 1000000'"


async def visited(stage: Stage, case: Case) -> None:
    """A machine, and a member of its project who would like to enter it."""
    await machines.furnished(stage, case)
    case.notes |= await guests.welcome(stage, case.allocation_id, case.key.lower())


async def grant(stage: Stage, case: Case) -> None:
    wish: dict[str, object] = {"user_id": case.notes["user"], "ssh_key_id": case.notes["key_id"]}
    made = await stage.post(f"/allocations/{case.allocation_id}/access-grants", wish, key=case.key)
    case.notes["grant"] = str(made["id"])


async def not_let_in(stage: Stage, case: Case) -> str:
    let_in = await guests.is_let_in(stage, case.allocation_id, case.notes["key"])
    return "" if let_in else "the guest is not let in"


async def shared(stage: Stage, case: Case) -> None:
    """A machine that a guest was let into."""
    await visited(stage, case)
    key, case.key = case.key, f"{case.key}-grant"
    await grant(stage, case)
    case.key = key
    await stage.reach(lambda: not_let_in(stage, case))


async def revoke(stage: Stage, case: Case) -> None:
    place = f"/allocations/{case.allocation_id}/access-grants/{case.notes['grant']}"
    await stage.post(place, {}, key=case.key, method="DELETE")


async def not_shut_out(stage: Stage, case: Case) -> str:
    """Until the guest is out, and the person is still in."""
    if await guests.is_let_in(stage, case.allocation_id, case.notes["key"]):
        return "the guest is still let in"
    return await machines.not_admitting(stage, case)


async def invited(stage: Stage, case: Case) -> None:
    """A machine, and a stranger who was invited into its project."""
    await machines.furnished(stage, case)
    case.notes |= await guests.arrive(stage, case.key.lower())
    case.notes |= await guests.invite(stage, case.allocation_id, case.notes["email"], f"{case.key}-invited")


async def join(stage: Stage, case: Case) -> None:
    await guests.accept(stage, case.notes, case.key)


async def not_joined(stage: Stage, case: Case) -> str:
    """Until they are in the project, once, and no machine lets them in for that."""
    if (count := await guests.memberships(stage, case.notes)) != 1:
        return f"the guest is {count} times a member"
    if await guests.is_let_in(stage, case.allocation_id, case.notes["key"]):
        raise Broken("the guest is let in by being a member")
    return ""


async def remove_member(stage: Stage, case: Case) -> None:
    place = f"/projects/{case.notes['project']}/members/{case.notes['user']}"
    await stage.post(place, {}, key=case.key, method="DELETE")


async def not_removed(stage: Stage, case: Case) -> str:
    """Until they are neither in the project nor in its machine."""
    if await guests.memberships(stage, case.notes):
        return "the guest is still a member"
    (grant,) = await stage.query("select status from access_grants where id = $1", case.notes["grant"])
    if grant["status"] != "revoked":
        raise Broken(f"the guest is no member, and their grant is {grant['status']}")
    return await not_shut_out(stage, case)


async def hesitant(stage: Stage, case: Case) -> None:
    """A machine whose holder is in it, and a member to whom it will go."""
    await visited(stage, case)
    await sessions.sit_down(stage, case)


async def hand_over(stage: Stage, case: Case) -> None:
    wish: dict[str, object] = {"user_id": case.notes["user"], "ssh_key_ids": [case.notes["key_id"]]}
    await stage.change(case.allocation_id, "handover", wish, case.key)


async def not_handed_over(stage: Stage, case: Case) -> str:
    if (holder := (await stage.row(case.allocation_id))["holder_id"]) != case.notes["user"]:
        raise Broken(f"the machine was handed over and is held by {holder}")
    return await not_exchanged(stage, case)


async def not_exchanged(stage: Stage, case: Case) -> str:
    """Until the new key opens the machine and the old one does not; what is inside goes on untouched."""
    said = await stage.says(case.allocation_id, UNTOUCHED, asyncssh.import_private_key(case.notes["key"]))
    if said.split() != ["kept", "1"] or str((await stage.row(case.allocation_id))["boot"]) != case.notes["boot"]:
        raise Broken(f"inside it says {said!r}")
    if not case.is_cut:
        return "the session of the old key goes on"
    try:
        await stage.says(case.allocation_id, "true")
    except asyncssh.PermissionDenied:
        return ""
    return "the old key still opens it"


async def with_two_keys(stage: Stage, case: Case) -> None:
    """A machine whose holder is in it, and another key of theirs."""
    await sessions.seated(stage, case)
    await add_key(stage, case)


async def add_key(stage: Stage, case: Case) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    public: dict[str, object] = {"title": "another laptop", "public_key": key.export_public_key().decode()}
    added = await stage.post("/ssh-keys", public, key=f"{case.key}-added")
    case.notes |= {"key_id": added["id"], "key": key.export_private_key().decode()}


async def change_keys(stage: Stage, case: Case) -> None:
    wish: dict[str, object] = {"ssh_key_ids": [case.notes["key_id"]]}
    await stage.post(f"/allocations/{case.allocation_id}/ssh-keys", wish, key=case.key, method="PUT")


async def drop_key(stage: Stage, case: Case) -> None:
    await sessions.leave(stage, case)
    await stage.post(f"/ssh-keys/{case.notes['key_id']}", {}, key=f"{case.key}-removed", method="DELETE")
