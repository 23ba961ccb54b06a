"""How a command says that it could not do what it was asked: what, why, what to do next, and an exit code."""

from enum import IntEnum

import typer


class ExitCode(IntEnum):
    CLIENT = 1
    SERVER = 2  # or the network on the way to it
    AUTH = 3
    NOT_FOUND = 4
    CONFLICT = 5


class Complaint(typer.TyperException):
    """Raised anywhere in a command; main/cli.py tells it on stderr and exits with its code."""

    def __init__(
        self,
        why: str,
        *,
        next_step: str = "",
        code: ExitCode = ExitCode.CLIENT,
        details: tuple[str, ...] = (),
        correlation_id: str = "",
    ) -> None:
        super().__init__(why)
        self.why, self.next_step, self.details = why, next_step, details
        self.exit_code, self.correlation_id = code, correlation_id
        self.ctx: typer.Context | None = None  # the command that complains, once it is known


def tell(complaint: Complaint, *, what: str, color: bool) -> None:
    """On stderr, a line each: what failed and why, the details, the next step, the id that operators ask for."""
    lines = [paint(f"{what}: ", "red", color=color) + complaint.why]
    lines += [f"  {detail}" for detail in complaint.details]
    if complaint.next_step:
        lines.append(paint("  next: ", "green", color=color) + complaint.next_step)
    if complaint.correlation_id:
        lines.append(paint(f"  correlation id: {complaint.correlation_id}", "bright_black", color=color))
    typer.echo("\n".join(lines), err=True, color=color)


def paint(text: str, foreground: str, *, color: bool) -> str:
    return typer.style(text, fg=foreground) if color else text
