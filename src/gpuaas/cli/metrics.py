"""`gpuaas metrics`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import NameArgument, ProjectOption, chosen_allocation
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_rows
from gpuaas.cli.speech import note, say
from gpuaas.cli.words import clock
from gpuaas.wire.metrics import HealthReason, Series

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40  # bars in a row; more points than that are thinned out
KIBI = 1024.0
PREFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")


def command(
    ctx: typer.Context,
    name: NameArgument,
    *,
    range: Annotated[str, typer.Option("--range", "-r", help="How far back: 15m, 6h, 1d at most.")] = "1h",
    step: Annotated[str, typer.Option("--step", help="Between two points: 10s, 5m. Otherwise what fits.")] = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Show what an allocation uses: now, and as a line over time; each with its source and age.

    What cannot be measured says why. Below stands how the allocation is, and what to do about it.

    \b
    Examples:
      gpuaas metrics train-a
      gpuaas metrics train-a --range 1d --step 30m
      gpuaas metrics train-a -o csv > metrics.csv
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        shown = client.allocations.metrics(found.id, range=range, step=step or None)
        state = client.allocations.health(found.id) if output is Output.TABLE else None
    if output is Output.JSON:
        show_json(shown)
        return
    show_rows(shown.series, COLUMNS, output, empty=f"Nothing to show: {shown.unavailable or 'nothing was measured'}.")
    if state is not None:
        note(f"{found.name} is {found.status}, health {state.health}.")
        say_reasons(state.reasons)


def say_reasons(reasons: Sequence[HealthReason]) -> None:
    for reason in reasons:
        say(f"  {reason.code} since {clock(reason.since)}: {reason.words} {reason.next_step}")


def title(series: Series) -> str:
    words = series.metric.replace("_", " ").replace("gpu", "GPU")
    return f"{words} {series.device}".strip()


def latest(series: Series) -> str:
    return "unavailable" if series.latest is None else amount(series.latest, series.unit)


def amount(value: float, unit: str) -> str:
    if unit.startswith("bytes"):
        place = 0
        while abs(value) >= KIBI and place < len(PREFIXES) - 1:
            value, place = value / KIBI, place + 1
        return f"{value:.{0 if place == 0 else 1}f} {PREFIXES[place]}B{unit.removeprefix('bytes')}"
    if unit == "cores":
        return f"{value:.2f} cores"
    return f"{value:.0f} {unit}"


def sparkline(series: Series) -> str:
    """From nothing to the highest point; a step without a sample is left out, not drawn as nothing used."""
    values = thinned([point.value for point in series.points], WIDTH)
    highest = max(values, default=0.0)
    if highest <= 0:
        return BARS[0] * len(values)
    return "".join(BARS[min(int(value / highest * len(BARS)), len(BARS) - 1)] for value in values)


def thinned(values: Sequence[float], most: int) -> list[float]:
    """The highest of each group of neighbours: a short peak stays visible."""
    size = -(-len(values) // most) or 1
    return [max(values[start : start + size]) for start in range(0, len(values), size)]


def told_age(series: Series) -> str | None:
    return None if series.age_seconds is None else f"{series.age_seconds:.0f} s"


COLUMNS: list[Column[Series]] = [
    Column("Metric", title),
    Column("Now", latest, is_state=True, align="right"),
    Column("Over time", sparkline),
    Column("Age", told_age, align="right"),
    Column("Source", lambda series: series.unavailable or series.source, may_shrink=True),
]
