"""`gpuaas runtimes`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated

import typer

from gpuaas.cli.commands import (
    Action,
    Call,
    Find,
    FoundAllocation,
    Question,
    Wait,
    action_command,
    found_allocation,
    list_command,
    show_command,
)
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column, Output, show_one
from gpuaas.cli.speech import ReasonOption, note
from gpuaas.cli.words import clock
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.runtimes import AllocationRuntime, ChosenBundle, RuntimeBundle

command = new_group(
    "Managed runtime bundles. They are supported and observable; environments installed by hand over SSH are allowed"
    " but not platform-managed."
)

BundleArgument = Annotated[str, typer.Argument(metavar="BUNDLE", help="SLUG, or SLUG@VERSION for that very one.")]


def fits(bundle: RuntimeBundle) -> str | None:
    """Why not, when an allocation was named."""
    judged = bundle.compatibility
    if judged is None:
        return None
    return judged.reason or ("ready" if judged.staged else "yes")


def named(bundle: ChosenBundle | None) -> str | None:
    return f"{bundle.slug} {bundle.version}" if bundle else None


BUNDLES: list[Column[RuntimeBundle]] = [
    Column("Bundle", lambda one: one.slug),
    Column("Version", lambda one: one.version),
    Column("Product", lambda one: one.product_name, may_shrink=True),
    Column("Family", lambda one: one.runtime_family),
    Column("Support", lambda one: one.support_level),
    Column("State", lambda one: one.state, is_state=True),
    Column("Fits", fits, may_shrink=True),
]
RUNTIME: list[Column[AllocationRuntime]] = [
    Column("State", lambda one: one.state, is_state=True),
    Column("Wanted", lambda one: named(one.bundle)),
    Column("In force", lambda one: named(one.observed_bundle)),
    Column("Before", lambda one: named(one.previous_bundle)),
    Column("Applied", lambda one: one.last_applied_at, clock),
    Column("At boot", lambda one: one.observed_boot or None),
    Column("On the node", lambda one: one.staging, is_state=True),
    Column("Its check said", lambda one: one.health or None, may_shrink=True),
    Column("Reason", lambda one: one.reason),
    Column("Inside", lambda one: one.activate),
]


FITTING = typer.Argument(metavar="[NAME]", help="Also say what fits this allocation.")


@list_command(command, "list", BUNDLES, empty="None are published yet.")
def list_bundles(
    call: Call, name: Annotated[Allocation | None, Find(FITTING, found_allocation, in_project=True)] = None
) -> Iterable[RuntimeBundle]:
    """List the bundles on offer.

    \b
    Examples:
      gpuaas runtimes list
      gpuaas runtimes list train-a
    """
    return call.client.runtimes.list(allocation_id=name.id if name else None)


@show_command(command, "get", RUNTIME)
def get_runtime(call: Call, name: FoundAllocation) -> AllocationRuntime:
    """Show what an allocation runs with."""
    return call.client.runtimes.get(name.id)


def changing(
    call: Call, allocation: Allocation, run: Callable[[], AllocationRuntime], *, ask: str = ""
) -> Action[AllocationRuntime]:
    """One change of an allocation's runtime. It asks first if it replaces the bundle in force."""
    question = Question(
        words=ask,
        lost="`current` of the bundle in force: what starts from now on finds the other.",
        survives="what is running, with the version it began with; your files, your own environments, the machine.",
    )
    return Action(
        ask=question if ask else None,
        run=run,
        wait=Wait(
            look=lambda _: call.client.runtimes.get(allocation.id),
            again=f"gpuaas runtimes get {allocation.name}",
            failure=lambda why: f"{allocation.name} is as it was, without that bundle: {why}",
            next_step=f"gpuaas allocations timeline {allocation.name}",
            allocation_id=allocation.id,
        ),
    )


def applying(call: Call, allocation: Allocation, bundle: str, reason: str) -> Callable[[], AllocationRuntime]:
    slug, _, version = bundle.partition("@")
    return lambda: call.client.runtimes.apply(allocation.id, slug, version=version or None, reason=reason)


def show_runtime(call: Call, runtime: AllocationRuntime) -> None:
    """With what to type inside."""
    show_one(runtime, RUNTIME, call.output)
    if call.output is Output.TABLE and runtime.observed_bundle and not call.no_wait:
        slug = runtime.observed_bundle.slug
        note(f"Inside: gpuaas-runtime use {slug}, or gpuaas-runtime run {slug} -- COMMAND")


@action_command(command, "apply", show=show_runtime, asks=False, no_wait=True)
def apply_bundle(
    call: Call, name: FoundAllocation, bundle: BundleArgument, reason: ReasonOption = ""
) -> Action[AllocationRuntime]:
    """Lay a bundle over a live machine; without a restart, and nothing of yours is changed.

    \b
    Examples:
      gpuaas runtimes apply train-a pytorch
      gpuaas runtimes apply train-a jupyter@2026.11
    """
    return changing(call, name, applying(call, name, bundle, reason))


@action_command(command, "switch", show=show_runtime, no_wait=True)
def switch_bundle(
    call: Call, name: FoundAllocation, bundle: BundleArgument, reason: ReasonOption = ""
) -> Action[AllocationRuntime]:
    """Put another bundle, or another version, in place of the one in force.

    \b
    Example:
      gpuaas runtimes switch train-a pytorch@2.13.0-cpu
    """
    return changing(call, name, applying(call, name, bundle, reason), ask=f"Switch {name.name} to {bundle}?")


@action_command(command, "upgrade", show=show_runtime, no_wait=True)
def upgrade_bundle(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[AllocationRuntime]:
    """Move to the newest supported version of the bundle in force."""
    run = partial(call.client.runtimes.upgrade, name.id, reason=reason)
    return changing(call, name, run, ask=f"Upgrade {name.name}?")


@action_command(command, "rollback", show=show_runtime, no_wait=True)
def roll_back(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[AllocationRuntime]:
    """Go back to the bundle that was in force before."""
    run = partial(call.client.runtimes.roll_back, name.id, reason=reason)
    return changing(call, name, run, ask=f"Roll {name.name} back?")


@action_command(command, "repair", show=show_runtime, asks=False, no_wait=True)
def repair(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[AllocationRuntime]:
    """Compare every file of the bundle with its checksum, and put right what changed."""
    return changing(call, name, partial(call.client.runtimes.repair, name.id, reason=reason))


@action_command(command, "clear", show=show_runtime, no_wait=True)
def clear(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[AllocationRuntime]:
    """Back to raw compute."""
    run = partial(call.client.runtimes.clear, name.id, reason=reason)
    return changing(call, name, run, ask=f"Clear the runtime of {name.name}?")
