"""`gpuaas projects`."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Annotated

import typer

from gpuaas.cli.commands import Call, ProjectId, list_command, show_command
from gpuaas.cli.config import effective, save, saved
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import chosen_of, full_names
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.process_context import ProcessContext, process_context
from gpuaas.cli.speech import note
from gpuaas.cli.words import age, clock
from gpuaas.wire.access import OwnKeyFile
from gpuaas.wire.identity import Me, Project
from gpuaas.wire.timeline import AuditRow

command = new_group("Projects: what allocations belong to.")


def columns(process: ProcessContext, me: Me | None = None) -> list[Column[Project]]:
    default = effective(process).project
    tenants = {one.id: one.slug for one in me.tenants} if me else {}
    return [
        Column(" ", lambda project: "*" if default in {project.id, project.slug} else ""),
        Column("Tenant", lambda project: tenants.get(project.tenant_id), may_shrink=True),
        Column("Slug", lambda project: project.slug, may_shrink=True),
        Column("Age", lambda project: project.created_at, lambda created: age(created, process.now()), align="right"),
        Column("Terminals", lambda project: "recorded" if project.record_terminals else ""),
        Column("Id", lambda project: project.id),
    ]


AUDIT: list[Column[AuditRow]] = [
    Column("At", lambda row: row.at, clock),
    Column("By", lambda row: row.actor_name, may_shrink=True),
    Column("Action", lambda row: row.action),
    Column("Result", lambda row: row.result),
    Column("Target", lambda row: row.target_id),
]


def own_key_columns(process: ProcessContext) -> list[Column[OwnKeyFile]]:
    return [
        Column("Allocation", lambda one: one.allocation_name),
        Column("Allowed by", lambda one: one.allowed_by_email or one.allowed_by, may_shrink=True),
        Column("Since", lambda one: one.allowed_at, lambda at: age(at, process.now()), align="right"),
        Column("Observed", lambda one: "admitted" if one.installed else "pending"),
        Column("Keys found", lambda one: ", ".join(one.fingerprints) or "none", may_shrink=True),
        Column("Refused", lambda one: ", ".join(one.refused_fingerprints), may_shrink=True),
    ]


@command.command("list")
def list_projects(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List your projects; a star marks your default."""
    with connected(ctx) as client:
        empty = "You are in no project yet: gpuaas projects create SLUG"
        me = None if output is Output.JSON else client.auth.me()
        show_rows(client.projects.list(), columns(process_context(ctx), me), output, empty=empty)


@show_command(command, "create", columns)
def create_project(
    call: Call,
    slug: Annotated[str, typer.Argument(help="Lower case, digits and dashes.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant id, when you are in several.")] = "",
) -> Project:
    """Create a project.

    \b
    Example:
      gpuaas projects create vision && gpuaas projects use vision
    """
    return call.client.projects.create(slug, tenant_id=tenant or None)


@show_command(command, "record-terminals", columns)
def record_terminals(
    call: Call,
    project_id: ProjectId,
    *,
    off: Annotated[bool, typer.Option("--off", help="Only those whose people ask for it.")] = False,
) -> Project:
    """Record what every browser terminal in a project shows; whoever opens one is told first.

    \b
    Examples:
      gpuaas projects record-terminals
      gpuaas projects record-terminals --off
    """
    return call.client.projects.change(project_id, record_terminals=not off)


@list_command(command, "audit", AUDIT, empty="Nothing was done here yet.")
def show_audit(
    call: Call,
    project_id: ProjectId,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")] = 50,
) -> Iterable[AuditRow]:
    """Show who did what in a project, newest first. Tenant admins export everything with `gpuaas audit export`.

    \b
    Example:
      gpuaas projects audit --limit 20
    """
    return islice(call.client.projects.audit(project_id), limit)


@list_command(
    command, "own-keys", own_key_columns, empty="No allocation admits keys of its own ~/.ssh/authorized_keys."
)
def list_own_keys(call: Call, project_id: ProjectId) -> Iterable[OwnKeyFile]:
    """List the allocations that admit keys of their own ~/.ssh/authorized_keys: who allowed it, and the keys found.

    \b
    Examples:
      gpuaas projects own-keys
      gpuaas allocations own-keys train-a --refuse
    """
    return call.client.projects.own_keys(project_id)


@command.command("use")
def use_project(ctx: typer.Context, project: Annotated[str, typer.Argument(help="Slug, tenant/slug or id.")]) -> None:
    """Make a project your default on this machine."""
    process = process_context(ctx)
    with connected(ctx) as client:
        me = client.auth.me()
    found = chosen_of(me, project)
    save(process, replace(saved(process), project=found.id))
    note(f"{full_names(me)[found.id]} is your default project.")
    if process.environ.get("GPUAAS_PROJECT"):
        note("GPUAAS_PROJECT is set and goes before what was saved.")
