"""`gpuaas admin runtimes`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.names import choose, is_id
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.runtimes import BUNDLES
from gpuaas.cli.speech import ReasonOption, YesOption, confirm, say
from gpuaas.cli.words import clock
from gpuaas.sdk import Client, recipes
from gpuaas.wire.runtimes import PublishRuntimeBundle, RuntimeBundle, Staging

command = new_app("The catalog of runtime bundles, and where each is staged.")

BundleArgument = Annotated[str, typer.Argument(metavar="BUNDLE", help="Id, or SLUG@VERSION.")]
NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="Name or id.")]
STAGINGS: list[Column[Staging]] = [
    Column("Node", lambda one: one.node_name),
    Column("Status", lambda one: one.status, is_state=True),
    Column("Since", lambda one: one.status_since, clock),
    Column("Built for", lambda one: one.distribution or None),
    Column("Check", lambda one: one.health, may_shrink=True),
    Column("MB", lambda one: one.bytes // 1_000_000, align="right"),
    Column("In use", lambda one: one.in_use, align="right"),
    Column("Compared", lambda one: one.checked_at, clock),
    Column("Reason", lambda one: one.reason or ", ".join(one.drift), may_shrink=True),
]


@command.command("list")
def list_bundles(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List the whole catalog, retired bundles too."""
    with connected(ctx) as client:
        show_rows(client.admin.runtimes.list(), BUNDLES[:-1], output, empty="gpuaas admin runtimes publish NAME")


@command.command("publish")
def publish(
    ctx: typer.Context,
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="One that ships with this release, or a JSON file.")],
    output: OutputOption = Output.TABLE,
) -> None:
    """Offer a bundle; a published version never changes.

    \b
    Examples:
      gpuaas admin runtimes publish pytorch
      gpuaas admin runtimes publish ./our-bundle.json
    """
    with connected(ctx) as client:
        show_one(client.admin.runtimes.publish(read(recipe)), BUNDLES[:-1], output)


def read(recipe: str) -> PublishRuntimeBundle:
    if recipe in recipes.names():
        return recipes.read(recipe)
    try:
        return recipes.parse(Path(recipe).read_bytes())
    except OSError as error:
        shipped = ", ".join(recipes.names())
        raise Complaint(f"{recipe} is no file, and no recipe of ours: {shipped}.", next_step="name one") from error
    except msgspec.DecodeError as error:
        raise Complaint(f"{recipe} is no recipe: {error}", next_step="see docs/howto/runtimes.md") from error


@command.command("stage")
def stage(
    ctx: typer.Context,
    bundle: BundleArgument,
    node: Annotated[list[str] | None, typer.Option("--node", help="Node by name or id; otherwise all it fits.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a bundle ready on nodes, beside what is there.

    \b
    Examples:
      gpuaas admin runtimes stage pytorch@2.13.0-cpu
      gpuaas admin runtimes stage jupyter@2026.11 --node node-1
    """
    with connected(ctx) as client:
        found = chosen(client, bundle)
        fleet = list(client.admin.nodes.list()) if node else []
        ids = [choose(word, fleet, lambda one: (one.name, one.id), "node").id for word in node or []]
        show_rows(client.admin.runtimes.stage(found.id, *ids).stagings, STAGINGS, output, empty="It fits no node.")


@command.command("nodes")
def show_nodes(ctx: typer.Context, bundle: BundleArgument, output: OutputOption = Output.TABLE) -> None:
    """Show where a bundle is staged, with the evidence of its check."""
    with connected(ctx) as client:
        show_rows(client.admin.runtimes.nodes(chosen(client, bundle).id), STAGINGS, output, empty="Nowhere yet.")


@command.command("staging")
def show_staging(
    ctx: typer.Context,
    bundle: BundleArgument,
    node: NodeArgument,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show one staging phase by phase, with what the node said."""
    with connected(ctx) as client:
        found = chosen(client, bundle)
        detail = client.admin.runtimes.staging(found.id, staged_on(client, found, node).node_id)
    if output is Output.JSON:
        show_json(detail)
        return
    show_one(detail.staging, STAGINGS, output)
    for phase in detail.phases:
        took = f" ({phase.seconds:.1f} s)" if phase.seconds else ""
        say(f"{clock(phase.started_at)}  {phase.phase}{took} {phase.note}")
    for line in detail.logs:
        say(f"  {line.line}")


@command.command("unstage")
def unstage(
    ctx: typer.Context,
    bundle: BundleArgument,
    node: NodeArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take a bundle off a node, which frees its disk. Refused while a machine there runs with it.

    \b
    Example:
      gpuaas admin runtimes unstage pytorch@2.13.0-cpu node-1
    """
    with connected(ctx) as client:
        found = chosen(client, bundle)
        there = staged_on(client, found, node)
        confirm(
            f"Remove {found.slug} {found.version} from {there.node_name}?",
            lost=f"its {there.files} files there; whoever asks for it there next waits until it is staged anew.",
            survives="the offer in the catalog, every machine, and what is staged elsewhere.",
            yes=yes,
        )
        show_one(client.admin.runtimes.unstage(found.id, there.node_id, reason=reason or None), STAGINGS, output)


@command.command("deprecate")
def deprecate(
    ctx: typer.Context, bundle: BundleArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Let no slug lead to it any more; who names it exactly still gets it."""
    with connected(ctx) as client:
        found = chosen(client, bundle)
        show_one(client.admin.runtimes.deprecate(found.id, reason=reason), BUNDLES[:-1], output)


@command.command("republish")
def republish(
    ctx: typer.Context, bundle: BundleArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Take a deprecation back."""
    with connected(ctx) as client:
        found = chosen(client, bundle)
        show_one(client.admin.runtimes.republish(found.id, reason=reason), BUNDLES[:-1], output)


@command.command("retire")
def retire(
    ctx: typer.Context,
    bundle: BundleArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Offer it to nobody new, for good."""
    with connected(ctx) as client:
        found = chosen(client, bundle)
        confirm(
            f"Retire {found.slug} {found.version}?",
            lost="the offer: nobody can apply it any more, and it cannot be taken back.",
            survives="every machine that runs with it, and what is staged on nodes.",
            yes=yes,
        )
        show_one(client.admin.runtimes.retire(found.id, reason=reason), BUNDLES[:-1], output)


def staged_on(client: Client, bundle: RuntimeBundle, node: str) -> Staging:
    return choose(node, client.admin.runtimes.nodes(bundle.id), lambda one: (one.node_name, one.node_id), "node")


def chosen(client: Client, word: str) -> RuntimeBundle:
    if is_id(word, "rtb"):
        return client.admin.runtimes.get(word).bundle
    catalog = client.admin.runtimes.list()
    return choose(word, catalog, lambda one: (f"{one.slug}@{one.version}", one.id), "bundle")
