"""`gpuaas audit`: the audit log of a tenant."""

import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.speech import note
from gpuaas.cli.words import clock
from gpuaas.sdk import Client
from gpuaas.wire.timeline import AuditResult, AuditRow

command = new_group("The audit log of a tenant that you lead. Operators: `gpuaas admin audit`.")
ActorOption = Annotated[str | None, typer.Option("--actor", help="Id of who acted.")]
ActionOption = Annotated[str | None, typer.Option("--action", help="Action or its beginning, such as `token`.")]
TargetOption = Annotated[str | None, typer.Option("--target", help="Id of what was acted on.")]
ResultOption = Annotated[AuditResult | None, typer.Option("--result", help="done or denied.")]
SinceOption = Annotated[datetime | None, typer.Option("--since", help="From this time (UTC) on.")]
UntilOption = Annotated[datetime | None, typer.Option("--until", help="Before this time (UTC).")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")]
ToOption = Annotated[Path | None, typer.Option("--to", help="File to write. Otherwise standard output.")]
TenantOption = Annotated[str, typer.Option("--tenant", help="Slug or id; needed if you are in several.")]
COLUMNS: list[Column[AuditRow]] = [
    Column("At", lambda row: row.at, clock),
    Column("By", lambda row: row.actor_name, may_shrink=True),
    Column("Action", lambda row: row.action),
    Column("Result", lambda row: row.result),
    Column("Times", lambda row: row.repeats, align="right"),
    Column("Target", lambda row: row.target_id),
]


@command.command("list")
def list_audit(
    ctx: typer.Context,
    *,
    tenant: TenantOption = "",
    actor: ActorOption = None,
    action: ActionOption = None,
    target: TargetOption = None,
    result: ResultOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 50,
    output: OutputOption = Output.TABLE,
) -> None:
    """List who did what in a tenant, newest first."""
    with connected(ctx) as client:
        rows = client.tenant_audit.list(
            chosen_tenant(client, tenant),
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=in_utc(since),
            until=in_utc(until),
        )
        show_rows(list(islice(rows, limit)), COLUMNS, output, empty="No action matches.")


@command.command("export")
def export_audit(ctx: typer.Context, *, tenant: TenantOption = "", to: ToOption = None) -> None:
    """Export the audit log of a tenant as JSON lines. The export itself is audited."""
    with connected(ctx) as client:
        write(client.tenant_audit.export(chosen_tenant(client, tenant)), to)


def chosen_tenant(client: Client, word: str) -> str:
    tenants = client.auth.me().tenants
    if not word and len(tenants) == 1:
        return tenants[0].id
    if not word:
        raise Complaint("You are in several tenants. Name one with --tenant.")
    return choose(word, tenants, lambda one: (one.slug, one.id), "tenant").id


def in_utc(at: datetime | None) -> datetime | None:
    return None if at is None else at.astimezone() if at.tzinfo else at.replace(tzinfo=UTC)


def write(exported: bytes, to: Path | None) -> None:
    if to is None:
        sys.stdout.buffer.write(exported)
        return
    to.write_bytes(exported)
    note(f"Wrote {len(exported.splitlines()):,} lines to {to}.")
