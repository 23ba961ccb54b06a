"""`gpuaas ssh`."""

import shlex
from typing import Annotated

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_allocation
from gpuaas.cli.openssh import remember_host_keys, ssh_command
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import say


def command(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Exact name or id.")],
    remote: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND]...", help="Run this and return.")] = None,
    *,
    forward: Annotated[
        list[str] | None, typer.Option("-L", metavar="PORT:HOST:PORT", help="Forward a local port; as in ssh.")
    ] = None,
    identity: Annotated[str, typer.Option("-i", metavar="FILE", help="Private key to use; as in ssh.")] = "",
    print_only: Annotated[bool, typer.Option("--print", help="Print the ssh command instead of running it.")] = False,
    project: ProjectOption = "",
) -> None:
    """Log in to an allocation with plain OpenSSH.

    The host key comes from the API, so there is nothing to confirm, and nothing to be fooled by.

    Works right after `gpuaas allocations create --no-wait` if a spare was ready: the login then waits until the
    allocation admits your key. If it is refused, try again once the allocation is active.

    \b
    Examples:
      gpuaas ssh train-a
      gpuaas ssh train-a -- nvidia-smi -L
      gpuaas ssh train-a -L 8888:localhost:8888
      gpuaas ssh train-a --print
    """
    process = process_context(ctx)
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
    remember_host_keys(process, [found])
    words = ssh_command(process, found, command=remote or (), forwards=forward or (), identity=identity)
    if print_only:
        say(shlex.join(words))
    else:
        process.become(words)
