"""Who may enter a machine changes."""

from tests.crash import guests
from tests.crash.stages import Broken, Stage
from tests.crash.verbs import machines
from tests.crash.verbs.cases import Case


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
