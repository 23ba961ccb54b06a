"""`gpuaas ssh-config`."""

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_project
from gpuaas.cli.openssh import host_block, remember_host_keys
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import note, say
from gpuaas.wire.allocations import Status


def command(ctx: typer.Context, project: ProjectOption = "") -> None:
    """Print Host blocks for all your active allocations.

    With them ssh, scp, sftp, rsync and editors know every allocation by its name.

    \b
    Examples:
      gpuaas ssh-config > ~/.ssh/gpuaas.conf
      scp -F ~/.ssh/gpuaas.conf data.tar train-a:
      echo "Include gpuaas.conf" >> ~/.ssh/config    # then -F is not needed
    """
    process = process_context(ctx)
    with connected(ctx) as client:
        found = client.allocations.list(chosen_project(ctx, client, project), status=Status.ACTIVE)
        active = [one for one in found if one.connection]
    remember_host_keys(process, active)
    for one in active:
        say(f"{host_block(process, one)}\n")
    if not active:
        note("No active allocations: gpuaas allocations create --sku SKU --name train-a")
