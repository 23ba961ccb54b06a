"""`gpuaas admin quotas`."""

import re
from typing import Annotated

import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.quotas import COLUMNS
from gpuaas.cli.speech import ReasonOption, note
from gpuaas.wire.quotas import Dimension, QuotaLimit, QuotaScope

command = new_group("Quotas: the platform's defaults, and limits of tenants, projects and people.")

NO_LIMIT = "none"
AMOUNT = re.compile(r"[0-9]{1,13}")
TenantOption = Annotated[str, typer.Option("--tenant", help="Id of a tenant.")]
ProjectIdOption = Annotated[str, typer.Option("--project", help="Id of a project.")]
UserOption = Annotated[str, typer.Option("--user", help="Id of a person.")]
LIMITS: list[Column[QuotaLimit]] = [
    Column("Scope", lambda row: row.scope),
    Column("Of", lambda row: "" if row.scope is QuotaScope.PLATFORM else row.scope_id),
    Column("Quota", lambda row: row.dimension, lambda dimension: dimension.replace("_", "-")),
    Column("Limit", lambda row: NO_LIMIT if row.amount is None else row.amount, align="right"),
    Column("Reason", lambda row: row.reason, may_shrink=True),
]


def meant(tenant: str, project: str, user: str) -> tuple[QuotaScope, str] | None:
    """Whose limits: at most one of the three; none of them: the platform's defaults."""
    given = [
        (scope, id)
        for scope, id in ((QuotaScope.TENANT, tenant), (QuotaScope.PROJECT, project), (QuotaScope.USER, user))
        if id
    ]
    if len(given) > 1:
        raise Complaint("Give one of --tenant, --project and --user.", next_step="one command for each")
    return given[0] if given else None


def parsed(words: list[str]) -> dict[Dimension, int | None]:
    """`gpus=8 volumes=none`."""
    limits: dict[Dimension, int | None] = {}
    for word in words:
        name, _, amount = word.partition("=")
        name = name.replace("-", "_")
        if name not in set(Dimension) or not (amount == NO_LIMIT or AMOUNT.fullmatch(amount)):
            known = ", ".join(Dimension)
            raise Complaint(f"{word[:80]!r} is not a limit.", next_step=f"NAME=NUMBER or NAME=none; names: {known}")
        if name in limits:
            raise Complaint(f"The limit {name} is given twice.", next_step="give each limit once")
        limits[Dimension(name)] = None if amount == NO_LIMIT else int(amount)
    return limits


@command.command("list")
def list_quotas(
    ctx: typer.Context,
    tenant: TenantOption = "",
    project: ProjectIdOption = "",
    user: UserOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List every limit that is set; of one tenant, project or person, also what is used."""
    whose = meant(tenant, project, user)
    with connected(ctx) as client:
        if whose is None:
            show_rows(client.admin.quotas.list(), LIMITS, output)
        else:
            show_rows(client.admin.quotas.get(*whose).lines, COLUMNS, output)


@command.command("set")
def set_quotas(
    ctx: typer.Context,
    limits: Annotated[list[str], typer.Argument(metavar="NAME=NUMBER…", help="Limits; NAME=none for no limit.")],
    *,
    tenant: TenantOption = "",
    project: ProjectIdOption = "",
    user: UserOption = "",
    reason: ReasonOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Set limits of a tenant, a project or a person; without any of these, the platform's defaults.

    \b
    Examples:
      gpuaas admin quotas set gpus=64 allocations=32 --tenant ten_… --reason "contract 7"
      gpuaas admin quotas set gpus=4
    """
    whose, wanted = meant(tenant, project, user), parsed(limits)
    with connected(ctx) as client:
        if whose is None:
            show_rows(client.admin.quotas.set_defaults(wanted, reason=reason).items, LIMITS, output)
        else:
            show_rows(client.admin.quotas.set(*whose, wanted, reason=reason).lines, COLUMNS, output)


@command.command("clear")
def clear_quotas(
    ctx: typer.Context,
    *,
    tenant: TenantOption = "",
    project: ProjectIdOption = "",
    user: UserOption = "",
    only: Annotated[Dimension | None, typer.Option("--only", help="One quota; otherwise all.")] = None,
) -> None:
    """Remove limits of a tenant, a project or a person: the platform's defaults apply again."""
    whose = meant(tenant, project, user)
    if whose is None:
        raise Complaint("Whose limits?", next_step="--tenant, --project or --user with an id")
    with connected(ctx) as client:
        client.admin.quotas.clear(*whose, only)
    note("Cleared.")
