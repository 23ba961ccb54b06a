"""`gpuaas runtimes`."""

from collections.abc import Callable
from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.changing import Change, NoWaitOption, Question, make
from gpuaas.cli.connections import connected
from gpuaas.cli.names import NameArgument, ProjectOption, chosen_allocation
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, note
from gpuaas.cli.words import clock
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.runtimes import AllocationRuntime, ChosenBundle, RuntimeBundle

command = new_app(
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


@command.command("list")
def list_bundles(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Also say what fits this allocation.")] = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List the bundles on offer.

    \b
    Examples:
      gpuaas runtimes list
      gpuaas runtimes list train-a
    """
    with connected(ctx) as client:
        allocation_id = chosen_allocation(ctx, client, name, project).id if name else None
        show_rows(client.runtimes.list(allocation_id=allocation_id), BUNDLES, output, empty="None are published yet.")


@command.command("get")
def get_runtime(
    ctx: typer.Context, name: NameArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show what an allocation runs with."""
    with connected(ctx) as client:
        show_one(client.runtimes.get(chosen_allocation(ctx, client, name, project).id), RUNTIME, output)


@command.command("apply")
def apply_bundle(
    ctx: typer.Context,
    name: NameArgument,
    bundle: BundleArgument,
    *,
    reason: ReasonOption = "",
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Lay a bundle over a live machine; without a restart, and nothing of yours is changed.

    \b
    Examples:
      gpuaas runtimes apply train-a pytorch
      gpuaas runtimes apply train-a jupyter@2026.11
    """
    change(ctx, name, applying(bundle, reason), project=project, no_wait=no_wait, output=output)


@command.command("switch")
def switch_bundle(
    ctx: typer.Context,
    name: NameArgument,
    bundle: BundleArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Put another bundle, or another version, in place of the one in force.

    \b
    Example:
      gpuaas runtimes switch train-a pytorch@2.13.0-cpu
    """
    ask, act = f"Switch {name} to {bundle}?", applying(bundle, reason)
    change(ctx, name, act, ask=ask, yes=yes, project=project, no_wait=no_wait, output=output)


@command.command("upgrade")
def upgrade_bundle(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Move to the newest supported version of the bundle in force."""

    def act(client: Client, found: Allocation) -> AllocationRuntime:
        return client.runtimes.upgrade(found.id, reason=reason)

    change(ctx, name, act, ask=f"Upgrade {name}?", yes=yes, project=project, no_wait=no_wait, output=output)


@command.command("rollback")
def roll_back(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Go back to the bundle that was in force before."""

    def act(client: Client, found: Allocation) -> AllocationRuntime:
        return client.runtimes.roll_back(found.id, reason=reason)

    change(ctx, name, act, ask=f"Roll {name} back?", yes=yes, project=project, no_wait=no_wait, output=output)


@command.command("repair")
def repair(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare every file of the bundle with its checksum, and put right what changed."""

    def act(client: Client, found: Allocation) -> AllocationRuntime:
        return client.runtimes.repair(found.id, reason=reason)

    change(ctx, name, act, project=project, no_wait=no_wait, output=output)


@command.command("clear")
def clear(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Back to raw compute."""

    def act(client: Client, found: Allocation) -> AllocationRuntime:
        return client.runtimes.clear(found.id, reason=reason)

    change(
        ctx, name, act, ask=f"Clear the runtime of {name}?", yes=yes, project=project, no_wait=no_wait, output=output
    )


def applying(bundle: str, reason: str) -> Callable[[Client, Allocation], AllocationRuntime]:
    slug, _, version = bundle.partition("@")
    return lambda client, found: client.runtimes.apply(found.id, slug, version=version or None, reason=reason)


def switching(words: str) -> Question:
    return Question(
        words=words,
        lost="`current` of the bundle in force: what starts from now on finds the other.",
        survives="what is running, with the version it began with; your files, your own environments, the machine.",
    )


def change(
    ctx: typer.Context,
    name: str,
    act: Callable[[Client, Allocation], AllocationRuntime],
    *,
    ask: str = "",
    yes: bool = False,
    project: str,
    no_wait: bool,
    output: Output,
) -> None:
    """Show the phases until it is so, and say what to type inside."""
    wanted = Change(
        act=act,
        look=lambda client, found: client.runtimes.get(found.id),
        question=(lambda _client, _found: switching(ask)) if ask else None,
        failure=lambda found, _runtime, why: f"{found.name} is as it was, without that bundle: {why}",
        ways_out=lambda found: f"gpuaas allocations timeline {found.name}",
        come_back=lambda found: f"gpuaas runtimes get {found.name}",
    )
    runtime = make(ctx, name, project, wanted, yes=yes, no_wait=no_wait)
    show_one(runtime, RUNTIME, output)
    if output is Output.TABLE and runtime.observed_bundle and not no_wait:
        slug = runtime.observed_bundle.slug
        note(f"Inside: gpuaas-runtime use {slug}, or gpuaas-runtime run {slug} -- COMMAND")
