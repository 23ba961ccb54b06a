"""Options for the end of an allocation or a grant. Zero is never a limit: a flag of its own lifts one."""

from typing import Annotated

import typer

MOST_HOURS = 87_600  # ten years; the API checks the exact date
FEWEST_IDLE_MINUTES, MOST_IDLE_MINUTES = 5, 43_200


def positive_hours(hours: float | None) -> float | None:
    """Also refuses `nan` and `inf`, which `float` reads."""
    if hours is not None and not 0 < hours <= MOST_HOURS:
        raise typer.BadParameter(f"must be greater than 0 and at most {MOST_HOURS}")
    return hours


LifetimeOption = Annotated[
    float | None,
    typer.Option("--hours", callback=positive_hours, help="Release it after so many hours; without it, never."),
]
MoreHoursOption = Annotated[
    float | None, typer.Option("--hours", callback=positive_hours, help="So many more, from its end or from now.")
]
GrantHoursOption = Annotated[
    float | None, typer.Option("--hours", callback=positive_hours, help="Ends by itself after so many hours.")
]
IdleOption = Annotated[
    int | None,
    typer.Option(
        "--idle",
        min=FEWEST_IDLE_MINUTES,
        max=MOST_IDLE_MINUTES,
        help="Release it after so many minutes without work.",
    ),
]
