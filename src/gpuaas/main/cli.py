"""The `gpuaas` command: a table of commands, each imported only when it is used."""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as build

from gpuaas.cli.complaints import Complaint, ExitCode, tell
from gpuaas.cli.extras import require
from gpuaas.cli.groups import HELP_NAMES
from gpuaas.cli.process_context import ProcessContext
from gpuaas.core.clock import SystemClock

# httpx has a command line, which would load click and pygments into every command. Marked as missing, it is left out,
# which saves a tenth of a second of processor time per command.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Lazy:
    """Where a command is defined: a module with a Typer app or a function named `command`."""

    section: str
    module: str
    help: str
    extra: str = ""  # the extra that it needs; cli/extras.py

    def signpost(self, name: str) -> TyperCommand:
        """The part of a command that help and completion need before it is loaded."""
        return TyperCommand(name, help=self.help, rich_markup_mode=None)

    def load(self, name: str) -> Any:
        if self.extra:
            require(self.extra)
        if self.module in DAEMONS:
            load_logs_without_rich()
        found: typer.Typer | Callable[..., None] = import_module(self.module).command
        if not isinstance(found, typer.Typer):
            function, found = (
                found,
                typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP_NAMES),
            )
            found.command(name)(function)
        loaded = build(found)
        loaded.name = name
        return loaded


COMMANDS = {
    "login": Lazy("Account", "gpuaas.cli.login", "Sign in and remember it on this machine."),
    "logout": Lazy("Account", "gpuaas.cli.logout", "Sign out and forget the token."),
    "whoami": Lazy("Account", "gpuaas.cli.whoami", "Show who you are and what you can reach."),
    "ssh-keys": Lazy("Account", "gpuaas.cli.ssh_keys", "Your SSH public keys."),
    "tokens": Lazy("Account", "gpuaas.cli.tokens", "Personal tokens for programs."),
    "sessions": Lazy("Account", "gpuaas.cli.sessions", "Where you are signed in."),
    "members": Lazy("Account", "gpuaas.cli.members", "Who works in a project, and as what."),
    "audit": Lazy("Account", "gpuaas.cli.audit", "Audit log of a tenant that you lead."),
    "invitations": Lazy("Account", "gpuaas.cli.invitations", "Invitations to projects."),
    "projects": Lazy("Account", "gpuaas.cli.projects", "Projects, and which one is yours by default."),
    "quotas": Lazy("Account", "gpuaas.cli.quotas", "Show what a project and you may still add."),
    "skus": Lazy("Compute", "gpuaas.cli.skus", "Show what can be had, its price and what is free."),
    "placement": Lazy("Compute", "gpuaas.cli.placement", "Ask where a request would go, or why not."),
    "allocations": Lazy("Compute", "gpuaas.cli.allocations", "Environments: create, follow, release."),
    "runtimes": Lazy("Compute", "gpuaas.cli.runtimes", "Managed runtime bundles: apply, switch, roll back, repair."),
    "volumes": Lazy("Compute", "gpuaas.cli.volumes", "Data that outlives allocations: create, attach, snapshot."),
    "grants": Lazy("Compute", "gpuaas.cli.grants", "Share a machine: who else may enter it."),
    "ssh": Lazy("Compute", "gpuaas.cli.ssh", "Log in to an allocation with plain OpenSSH."),
    "operations": Lazy("Compute", "gpuaas.cli.operations", "Long work, running and past, phase by phase."),
    "logs": Lazy("Compute", "gpuaas.cli.logs", "Show what a node said while it worked; -f stays."),
    "metrics": Lazy("Compute", "gpuaas.cli.metrics", "Show what an allocation uses, and how it is."),
    "terminal": Lazy("Compute", "gpuaas.cli.terminal", "Open a terminal on an allocation without SSH."),
    "ssh-config": Lazy("Compute", "gpuaas.cli.ssh_config", "Print Host blocks for ssh, scp, rsync and editors."),
    "admin": Lazy("Platform", "gpuaas.cli.admin", "For operators: nodes, slots, allocations, workers."),
    "up": Lazy("Platform", "gpuaas.main.up", "Run a whole GPUaaS on this machine.", "up"),
    "server": Lazy("Platform", "gpuaas.main.server", "Run the control plane.", "server"),
    "agent": Lazy("Platform", "gpuaas.main.agent", "Enrol and run a node's agent.", "node"),
    "ssh-gateway": Lazy("Platform", "gpuaas.main.ssh_gateway", "Run a node's SSH gateway.", "node"),
    "node": Lazy("Platform", "gpuaas.main.node", "Base images of a node: build, list, remove.", "node"),
}

HELP = """GPU machines as self-service compute.

\b
First steps:
  gpuaas login
  gpuaas ssh-keys add
  gpuaas skus
  gpuaas allocations create --sku sim-h200-slice --name train-a
  gpuaas ssh train-a

\b
Exit codes: 0 ok, 1 client, 2 server or network, 3 auth, 4 not found, 5 conflict
Environment: GPUAAS_URL, GPUAAS_TOKEN, GPUAAS_PROJECT, GPUAAS_CONFIG, NO_COLOR
"""


DAEMONS = {COMMANDS[name].module for name in ("server", "agent")}


def load_logs_without_rich() -> None:
    """structlog loads rich to draw tracebacks, which the daemons do not use; it takes a tenth of a server's start."""
    if "rich" not in sys.modules:
        sys.modules["rich"] = None  # type: ignore[assignment]
        try:
            import_module("structlog")
        finally:
            del sys.modules["rich"]


class LazyGroup(TyperGroup):
    """Lists commands without loading them; loads only the command that is run or completed."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: lazy.signpost(name) for name, lazy in COMMANDS.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, signpost, rest = super().resolve_command(ctx, args)
        return name, signpost if name is None else COMMANDS[name].load(name), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - so it is called
        for section in dict.fromkeys(lazy.section for lazy in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, lazy.help) for name, lazy in COMMANDS.items() if lazy.section == section])


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None, context_settings=HELP_NAMES)


@app.callback(help=HELP)
def root() -> None:
    """Typer needs a callback to make this a group."""


def run(args: Sequence[str], process: ProcessContext) -> int:
    """Run one command line; returns the exit code."""
    try:
        code = build(app).main(args=[*args], prog_name="gpuaas", standalone_mode=False, obj=process)
    except typer.TyperException as error:
        return explain(error, process)
    except typer.Abort:
        typer.echo("Stopped; nothing was changed.", err=True)
        return ExitCode.CLIENT
    return code if isinstance(code, int) else 0


def explain(error: typer.TyperException, process: ProcessContext) -> int:
    ctx: typer.Context | None = getattr(error, "ctx", None)  # of the command that failed
    path = ctx.command_path if ctx else "gpuaas"
    color = sys.stderr.isatty() and not process.environ.get("NO_COLOR")
    if isinstance(error, Complaint):
        tell(error, what=path, color=color)
        return error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
        return ExitCode.CLIENT
    tell(Complaint(error.format_message(), next_step=f"{path} --help"), what=path, color=color)
    return ExitCode.CLIENT


def become(words: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(words[0], [*words])  # noqa: S606 - this is what `gpuaas ssh` is for; no shell is involved


def main() -> None:
    process = ProcessContext(environ=os.environ, now=SystemClock().now, hostname=platform.node, become=become)
    sys.exit(run(sys.argv[1:], process))
