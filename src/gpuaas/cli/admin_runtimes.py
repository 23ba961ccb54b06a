"""`gpuaas admin runtimes`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command, show_command
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose, is_id
from gpuaas.cli.output import Column, Output, show_json, show_one
from gpuaas.cli.runtimes import BUNDLES
from gpuaas.cli.speech import ReasonOption, say
from gpuaas.cli.words import clock
from gpuaas.sdk import Client, recipes
from gpuaas.wire.runtimes import PublishRuntimeBundle, RuntimeBundle, Staging, StagingDetail

command = new_group("The catalog of runtime bundles, and where each is staged.")

BUNDLE = typer.Argument(metavar="BUNDLE", help="Id, or SLUG@VERSION.")
FoundBundle = Annotated[RuntimeBundle, Find(BUNDLE, lambda call, word: chosen(call.client, word))]
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


CATALOG = BUNDLES[:-1]


@list_command(command, "list", CATALOG, empty="gpuaas admin runtimes publish NAME")
def list_bundles(call: Call) -> Iterable[RuntimeBundle]:
    """List the whole catalog, retired bundles too."""
    return call.client.admin.runtimes.list()


@show_command(command, "publish", CATALOG)
def publish(
    call: Call,
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="One that ships with this release, or a JSON file.")],
) -> RuntimeBundle:
    """Offer a bundle; a published version never changes.

    \b
    Examples:
      gpuaas admin runtimes publish pytorch
      gpuaas admin runtimes publish ./our-bundle.json
    """
    return call.client.admin.runtimes.publish(read(recipe))


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


@list_command(command, "stage", STAGINGS, empty="It fits no node.")
def stage(
    call: Call,
    bundle: FoundBundle,
    node: Annotated[list[str] | None, typer.Option("--node", help="Node by name or id; otherwise all it fits.")] = None,
) -> Iterable[Staging]:
    """Make a bundle ready on nodes, beside what is there.

    \b
    Examples:
      gpuaas admin runtimes stage pytorch@2.13.0-cpu
      gpuaas admin runtimes stage jupyter@2026.11 --node node-1
    """
    fleet = list(call.client.admin.nodes.list()) if node else []
    ids = [choose(word, fleet, lambda one: (one.name, one.id), "node").id for word in node or []]
    return call.client.admin.runtimes.stage(bundle.id, *ids).stagings


@list_command(command, "nodes", STAGINGS, empty="Nowhere yet.")
def show_nodes(call: Call, bundle: FoundBundle) -> Iterable[Staging]:
    """Show where a bundle is staged, with the evidence of its check."""
    return call.client.admin.runtimes.nodes(bundle.id)


def show_phases(call: Call, detail: StagingDetail) -> None:
    if call.output is Output.JSON:
        show_json(detail)
        return
    show_one(detail.staging, STAGINGS, call.output)
    for phase in detail.phases:
        took = f" ({phase.seconds:.1f} s)" if phase.seconds else ""
        say(f"{clock(phase.started_at)}  {phase.phase}{took} {phase.note}")
    for line in detail.logs:
        say(f"  {line.line}")


@show_command(command, "staging", show=show_phases)
def show_staging(call: Call, bundle: FoundBundle, node: NodeArgument) -> StagingDetail:
    """Show one staging phase by phase, with what the node said."""
    return call.client.admin.runtimes.staging(bundle.id, staged_on(call.client, bundle, node).node_id)


@action_command(command, "unstage", STAGINGS)
def unstage(call: Call, bundle: FoundBundle, node: NodeArgument, reason: ReasonOption = "") -> Action[Staging]:
    """Take a bundle off a node, which frees its disk. Refused while a machine there runs with it.

    \b
    Example:
      gpuaas admin runtimes unstage pytorch@2.13.0-cpu node-1
    """
    there = staged_on(call.client, bundle, node)
    return Action(
        ask=Question(
            words=f"Remove {bundle.slug} {bundle.version} from {there.node_name}?",
            lost=f"its {there.files} files there; whoever asks for it there next waits until it is staged anew.",
            survives="the offer in the catalog, every machine, and what is staged elsewhere.",
        ),
        run=lambda: call.client.admin.runtimes.unstage(bundle.id, there.node_id, reason=reason or None),
    )


@show_command(command, "deprecate", CATALOG)
def deprecate(call: Call, bundle: FoundBundle, reason: ReasonOption = "") -> RuntimeBundle:
    """Let no slug lead to it any more; who names it exactly still gets it."""
    return call.client.admin.runtimes.deprecate(bundle.id, reason=reason)


@show_command(command, "republish", CATALOG)
def republish(call: Call, bundle: FoundBundle, reason: ReasonOption = "") -> RuntimeBundle:
    """Take a deprecation back."""
    return call.client.admin.runtimes.republish(bundle.id, reason=reason)


@action_command(command, "retire", CATALOG)
def retire(call: Call, bundle: FoundBundle, reason: ReasonOption = "") -> Action[RuntimeBundle]:
    """Offer it to nobody new, for good."""
    return Action(
        ask=Question(
            words=f"Retire {bundle.slug} {bundle.version}?",
            lost="the offer: nobody can apply it any more, and it cannot be taken back.",
            survives="every machine that runs with it, and what is staged on nodes.",
        ),
        run=lambda: call.client.admin.runtimes.retire(bundle.id, reason=reason),
    )


def staged_on(client: Client, bundle: RuntimeBundle, node: str) -> Staging:
    return choose(node, client.admin.runtimes.nodes(bundle.id), lambda one: (one.node_name, one.node_id), "node")


def chosen(client: Client, word: str) -> RuntimeBundle:
    if is_id(word, "rtb"):
        return client.admin.runtimes.get(word).bundle
    catalog = client.admin.runtimes.list()
    return choose(word, catalog, lambda one: (f"{one.slug}@{one.version}", one.id), "bundle")
