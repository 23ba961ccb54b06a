"""`gpuaas admin tenants`, `gpuaas admin projects` and `gpuaas admin users`."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import typer

from gpuaas.cli.commands import Action, Call, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.speech import ReasonOption
from gpuaas.wire.accounts import AccountKind, AdminProject, AdminTenant, AdminUser, Suspension

tenants = new_group("Tenants: list, suspend, resume.")
projects = new_group("Projects of all tenants: list, suspend, resume.")
users = new_group("People with an account: list, suspend, resume.")

Account: TypeAlias = AdminTenant | AdminProject | AdminUser
SearchOption = Annotated[str, typer.Option("--search", "-s", help="An id, or part of a name.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The whole id.")]
WhyOption = Annotated[str, typer.Option("--reason", help="Why; the suspended people see it.")]


def why_suspended(row: Account) -> str | None:
    return row.suspension_reason if row.suspended_at else None


TENANTS: list[Column[AdminTenant]] = [
    Column("Slug", lambda row: row.slug, may_shrink=True),
    Column("Members", lambda row: row.members, align="right"),
    Column("Projects", lambda row: row.projects, align="right"),
    Column("Allocations", lambda row: row.allocations, align="right"),
    Column("Suspended", why_suspended, may_shrink=True),
    Column("Id", lambda row: row.id),
]
PROJECTS: list[Column[AdminProject]] = [
    Column("Project", lambda row: f"{row.tenant_slug}/{row.slug}", may_shrink=True),
    Column("Allocations", lambda row: row.allocations, align="right"),
    Column("Suspended", why_suspended, may_shrink=True),
    Column("Id", lambda row: row.id),
]
USERS: list[Column[AdminUser]] = [
    Column("Email", lambda row: row.email, may_shrink=True),
    Column("Role", lambda row: row.platform_role),
    Column("Suspended", why_suspended, may_shrink=True),
    Column("Id", lambda row: row.id),
]
SUSPENSION: list[Column[Suspension]] = [
    Column("Id", lambda one: one.id),
    Column("Suspended", lambda one: "yes" if one.suspended_at else "no"),
    Column("Reason", lambda one: one.reason),
]


@list_command(tenants, "list", TENANTS, empty="No such tenant.")
def list_tenants(call: Call, search: SearchOption = "") -> Iterable[AdminTenant]:
    """List tenants, newest first."""
    return call.client.admin.tenants.list(search=search or None)


@list_command(projects, "list", PROJECTS, empty="No such project.")
def list_projects(
    call: Call,
    search: SearchOption = "",
    tenant: Annotated[str, typer.Option("--tenant", help="Only those of this tenant, by id.")] = "",
) -> Iterable[AdminProject]:
    """List projects of all tenants, newest first."""
    return call.client.admin.projects.list(search=search or None, tenant_id=tenant or None)


@list_command(users, "list", USERS, empty="No such person.")
def list_users(call: Call, search: SearchOption = "") -> Iterable[AdminUser]:
    """List people, newest first."""
    return call.client.admin.users.list(search=search or None)


def add_suspension(app: typer.Typer, kind: AccountKind, about: str) -> None:
    """`suspend` and `resume` for one kind of account."""

    def suspend(call: Call, id: IdArgument, reason: WhyOption) -> Action[Suspension]:
        return Action(
            ask=Question(
                words=f"Suspend the {kind} {id}?",
                lost="open SSH connections, terminals and event streams; new work is refused.",
                survives=f"allocations run on, volumes and keys stay. Resume with: gpuaas admin {kind}s resume {id}",
            ),
            run=lambda: call.client.admin.accounts.suspend(kind, id, reason),
        )

    def resume(call: Call, id: IdArgument, reason: ReasonOption = "") -> Suspension:
        """End a suspension: everything is as it was."""
        return call.client.admin.accounts.resume(kind, id, reason=reason)

    suspend.__doc__ = f"{about} until it is resumed; nothing is deleted."
    action_command(app, "suspend", SUSPENSION)(suspend)
    show_command(app, "resume", SUSPENSION)(resume)


add_suspension(tenants, AccountKind.TENANT, "Let nobody work in a tenant")
add_suspension(projects, AccountKind.PROJECT, "Let nobody work in a project")
add_suspension(users, AccountKind.USER, "Refuse a person's sessions, tokens and keys")
