"""Resolve what a person types to one object: an exact name or an exact id.

A prefix never resolves, in any command: once `night` is released, `release nigh` would find the next one.
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated, TypeVar

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import effective
from gpuaas.cli.process_context import process_context
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation, Status
from gpuaas.wire.emails import key
from gpuaas.wire.identity import Me, ProjectMembership
from gpuaas.wire.members import Member

T = TypeVar("T")
ID_LENGTH = 26
ENDED = frozenset({Status.RELEASED, Status.FAILED})
SHOWN = 5  # candidates listed in one error message
LISTED = {
    "allocation": "gpuaas allocations list",
    "bundle": "gpuaas admin runtimes list",
    "grant": "gpuaas grants list",
    "invitation": "gpuaas invitations list",
    "key": "gpuaas ssh-keys list",
    "member": "gpuaas members list",
    "node": "gpuaas admin nodes list",
    "project": "gpuaas projects list",
    "token": "gpuaas tokens list",
    "volume": "gpuaas volumes list",
}

ProjectOption = Annotated[
    str,
    typer.Option(
        "--project", "-p", help="Project, by slug, tenant/slug or id; otherwise GPUAAS_PROJECT or your default."
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Exact name or id.")]
MachineArgument = Annotated[str, typer.Argument(metavar="ALLOCATION", help="Exact name or id.")]


def is_id(word: str, prefix: str) -> bool:
    return word.startswith(f"{prefix}_") and len(word) == len(prefix) + 1 + ID_LENGTH


def choose(
    word: str, candidates: Iterable[T], names: Callable[[T], Sequence[str]], noun: str, *, listed: str = ""
) -> T:
    """The only candidate with exactly this name or id. `names` ends with the id; `listed` is the list command."""
    found = list(candidates)
    matches = [one for one in found if word in names(one)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        full = {names(one)[0] for one in matches}
        some = [names(one)[0 if len(full) == len(matches) else -1] for one in matches[:SHOWN]]
        raise Complaint(f"{len(matches)} {noun}s are called {word!r}.", next_step=f"use one of: {', '.join(some)}")
    close = similar(word, (names(one)[0] for one in found))
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise Complaint(f"There is no {noun} {word!r}.{hint}", next_step=listed or LISTED[noun], code=ExitCode.NOT_FOUND)


def similar(word: str, names: Iterable[str]) -> list[str]:
    """What the person may have meant: names that begin with the word, otherwise names that differ by a typo."""
    known = list(dict.fromkeys(names))
    begins = [name for name in known if name.casefold().startswith(word.casefold())]
    return (begins or get_close_matches(word, known))[:SHOWN]


def chosen_project(ctx: typer.Context, client: Client, word: str) -> str:
    """The id of the project meant by --project, the environment, the config; or the only one there is."""
    wanted = word or effective(process_context(ctx)).project
    if is_id(wanted, "proj"):
        return wanted
    me = client.auth.me()
    projects = me.projects
    if wanted:
        return chosen_of(me, wanted).id
    if len(projects) == 1:
        return projects[0].id
    if not projects:
        raise Complaint("You are a member of no project yet.", next_step="gpuaas projects create SLUG")
    slugs = ", ".join(full_names(me).values())
    raise Complaint(f"Which project? You are in {slugs}.", next_step="--project SLUG, or: gpuaas projects use SLUG")


def full_names(me: Me) -> dict[str, str]:
    """Project ids to `tenant/project`: everybody's first project is called `default`."""
    tenants = {tenant.id: tenant.slug for tenant in me.tenants}
    return {one.id: f"{tenants.get(one.tenant_id, one.tenant_id)}/{one.slug}" for one in me.projects}


def chosen_of(me: Me, word: str) -> ProjectMembership:
    names = full_names(me)
    return choose(word, me.projects, lambda one: (names[one.id], one.slug, one.id), "project")


def chosen_member(client: Client, project_id: str, word: str) -> Member:
    wanted = key(word) if "@" in word else word
    return choose(wanted, client.members.list(project_id), lambda one: (one.email, one.user_id), "member")


def chosen_allocation(ctx: typer.Context, client: Client, word: str, project: str) -> Allocation:
    """The live allocation of exactly this name; otherwise the newest ended one of this name."""
    if is_id(word, "alloc"):
        return client.allocations.get(word)
    found = list(client.allocations.list(chosen_project(ctx, client, project)))
    exact = next((one for one in found if one.status in ENDED and one.name == word), None)
    alive = [one for one in found if one.status not in ENDED]
    if exact is not None and not any(word in {one.name, one.id} for one in alive):
        return exact
    return choose(word, alive, lambda one: (one.name, one.id), "allocation")
