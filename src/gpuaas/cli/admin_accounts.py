"""`gpuaas admin tenants`, `gpuaas admin projects` and `gpuaas admin users`."""

from typing import Annotated, TypeAlias

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm
from gpuaas.wire.accounts import AccountKind, AdminProject, AdminTenant, AdminUser, Suspension

tenants = new_app("Tenants: list, suspend, resume.")
projects = new_app("Projects of all tenants: list, suspend, resume.")
users = new_app("People with an account: list, suspend, resume.")

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


@tenants.command("list")
def list_tenants(ctx: typer.Context, search: SearchOption = "", output: OutputOption = Output.TABLE) -> None:
    """List tenants, newest first."""
    with connected(ctx) as client:
        show_rows(client.admin.accounts.tenants(search=search or None), TENANTS, output, empty="No such tenant.")


@projects.command("list")
def list_projects(
    ctx: typer.Context,
    search: SearchOption = "",
    tenant: Annotated[str, typer.Option("--tenant", help="Only those of this tenant, by id.")] = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List projects of all tenants, newest first."""
    with connected(ctx) as client:
        found = client.admin.accounts.projects(search=search or None, tenant_id=tenant or None)
        show_rows(found, PROJECTS, output, empty="No such project.")


@users.command("list")
def list_users(ctx: typer.Context, search: SearchOption = "", output: OutputOption = Output.TABLE) -> None:
    """List people, newest first."""
    with connected(ctx) as client:
        show_rows(client.admin.accounts.users(search=search or None), USERS, output, empty="No such person.")


def add_suspension(app: typer.Typer, kind: AccountKind, about: str) -> None:
    """`suspend` and `resume` for one kind of account."""

    @app.command("suspend", help=f"{about} until it is resumed; nothing is deleted.")
    def suspend(
        ctx: typer.Context,
        id: IdArgument,
        *,
        reason: WhyOption,
        yes: YesOption = False,
        output: OutputOption = Output.TABLE,
    ) -> None:
        confirm(
            f"Suspend the {kind} {id}?",
            lost="open SSH connections, terminals and event streams; new work is refused.",
            survives=f"allocations run on, volumes and keys stay. Resume with: gpuaas admin {kind}s resume {id}",
            yes=yes,
        )
        with connected(ctx) as client:
            show_one(client.admin.accounts.suspend(kind, id, reason), SUSPENSION, output)

    @app.command("resume", help="End a suspension: everything is as it was.")
    def resume(
        ctx: typer.Context, id: IdArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
    ) -> None:
        with connected(ctx) as client:
            show_one(client.admin.accounts.resume(kind, id, reason=reason), SUSPENSION, output)


add_suspension(tenants, AccountKind.TENANT, "Let nobody work in a tenant")
add_suspension(projects, AccountKind.PROJECT, "Let nobody work in a project")
add_suspension(users, AccountKind.USER, "Refuse a person's sessions, tokens and keys")
