"""`gpuaas admin`."""

from gpuaas.cli import (
    admin_accounts,
    admin_allocations,
    admin_audit,
    admin_invariants,
    admin_nodes,
    admin_operations,
    admin_overview,
    admin_quotas,
    admin_runtimes,
    admin_slots,
    admin_storage,
    admin_task_keys,
    admin_unknown,
    admin_unknown_volumes,
    admin_workers,
)
from gpuaas.cli.commands import show_command
from gpuaas.cli.groups import new_group

command = new_group("For operators: the fleet, all allocations, the work loop.")
command.add_typer(admin_nodes.command, name="nodes")
command.add_typer(admin_slots.command, name="slots")
command.add_typer(admin_allocations.command, name="allocations")
command.add_typer(admin_accounts.tenants, name="tenants")
command.add_typer(admin_accounts.projects, name="projects")
command.add_typer(admin_accounts.users, name="users")
command.add_typer(admin_audit.command, name="audit")
command.add_typer(admin_quotas.command, name="quotas")
command.add_typer(admin_unknown.command, name="unknown-environments")
command.add_typer(admin_unknown_volumes.command, name="unknown-volumes")
command.add_typer(admin_runtimes.command, name="runtimes")
command.add_typer(admin_workers.command, name="workers")
command.add_typer(admin_task_keys.command, name="task-keys")
command.add_typer(admin_storage.command, name="storage")
command.add_typer(admin_operations.command, name="operations")
command.command("invariants")(admin_invariants.invariants)
show_command(command, "overview", show=admin_overview.show_overview)(admin_overview.overview)
