"""`gpuaas placement`."""

from typing import Annotated

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import ProjectOption, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_one
from gpuaas.wire.capacity import Fit, Placement
from gpuaas.wire.quotas import QuotaLine

command = new_group("Ask where a request would go, without making it.")

COLUMNS: list[Column[Placement]] = [
    Column("Fits", lambda answer: "yes" if answer.fits else "no"),
    Column("Regions", lambda answer: ", ".join(answer.regions)),
    Column("Kind", lambda answer: answer.kind, lambda kind: str(kind).replace("_", " ")),
    Column("Why", lambda answer: answer.detail),
    Column("Kept out", lambda answer: ", ".join(f"{count} {reason}" for reason, count in answer.blocked.items())),
    Column("Quota left", lambda answer: ", ".join(map(quota_in_words, answer.quota))),
    Column("Would fit", lambda answer: "; ".join(fit_in_words(fit) for fit in answer.would_fit)),
]


@command.command("explain")
def explain(
    ctx: typer.Context,
    *,
    sku: Annotated[str, typer.Option("--sku", help="One of `gpuaas skus`.")],
    gpus: Annotated[int, typer.Option("--gpus", "-g", min=1, help="GPUs of each.")] = 1,
    size: Annotated[str, typer.Option("--size", help="A size of the SKU.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many, all or none.")] = 1,
    region: Annotated[str, typer.Option("--region", help="Only there.")] = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Say where a request would go, or why not and what would fit.

    \b
    Example:
      gpuaas placement explain --sku sim-h200-slice --gpus 8
    """
    with connected(ctx) as client:
        answer = client.placement.explain(
            sku,
            gpu_count=gpus,
            size=size or None,
            count=count,
            region=region or None,
            project_id=chosen_project(ctx, client, project),
        )
    show_one(answer, COLUMNS, output)


def quota_in_words(line: QuotaLine) -> str:
    left = "no limit" if line.remaining is None else line.remaining
    return f"{left} {line.dimension}".replace("_", " ")


def fit_in_words(fit: Fit) -> str:
    return f"{fit.count} of {fit.gpu_count} GPU in {fit.region}"
