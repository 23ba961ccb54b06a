"""`gpuaas admin nodes`."""

import shlex
from typing import Annotated

import typer
from msgspec.structs import asdict

from gpuaas.cli.apps import new_app
from gpuaas.cli.config import effective
from gpuaas.cli.connections import connected
from gpuaas.cli.names import choose, is_id
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm, note, say
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age, clock, memory
from gpuaas.sdk import Client
from gpuaas.wire.capacity import Node
from gpuaas.wire.environments import VIEWS
from gpuaas.wire.images import CurrentImage
from gpuaas.wire.spares import SpareReport

command = new_app("Machines of the fleet.")

NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="Exact name or id.")]


def columns(around: Surroundings) -> list[Column[Node]]:
    return [
        Column("Name", lambda node: node.name, may_shrink=True),
        Column("Region", lambda node: node.region),
        Column("Intent", lambda node: node.intent, is_state=True),
        Column("Link", lambda node: "offline" if node.offline_since else "ok", is_state=True),
        Column("Seen", lambda node: node.last_seen_at, lambda seen: age(seen, around.now()), align="right"),
        Column("Engine", lambda node: f"{node.engine}{' (sim)' if node.simulated else ''}"),
        Column("Free", lambda node: node.slots_free, align="right"),
        Column("Claimed", lambda node: node.slots_claimed, align="right"),
        Column("Blocked", lambda node: node.slots_blocked, align="right"),
    ]


def details(around: Surroundings) -> list[Column[Node]]:
    return [
        *columns(around),
        Column("Id", lambda node: node.id),
        Column("Intent reason", lambda node: node.intent_reason),
        Column("Agent", lambda node: node.agent_version),
        Column("Missing", missing),
        Column("vCPUs", lambda node: node.facts.vcpus if node.facts else None),
        Column("Memory", lambda node: node.facts.memory_mib if node.facts else None, memory),
        Column("Disk", disk),
        Column("Engine offers", offers),
        Column("SSH host", lambda node: node.facts.ssh_host if node.facts else None),
        Column("Base image", base_image),
        Column("Owners on shared storage", lambda node: fact(node, "storage_shared_owners")),
        Column("GPUs", lambda node: ", ".join(gpu.family for gpu in node.facts.gpus) if node.facts else None),
        Column("GPU reset", resets),
        Column("Resource views", lambda node: fact(node, VIEWS)),
        Column("Spares", lambda node: _spares(node.spares)),
        Column("Unknown environments", lambda node: ", ".join(node.unknown_environments) or None),
    ]


def _spares(found: SpareReport | None) -> str | None:
    if found is None:
        return None
    discarded = f", {found.discarded} discarded: {found.detail}" if found.discarded else ""
    return f"{len(found.ready)} ready, {found.used} used{discarded}"


def missing(node: Node) -> str | None:
    """What it lacks to make environments, and what that means."""
    lacks = node.facts.missing if node.facts else ()
    return f"{', '.join(lacks)}; it offers no capacity" if lacks else None


def base_image(node: Node) -> str | None:
    """Its version, what is in it, and whether it is kept up to date."""
    found = node.image
    if found is None:
        return None
    checked = f"; up to date at {clock(found.checked_at)}" if found.checked_at else ""
    lines = [
        f"{found.version} ({found.distribution}, Python {found.python})",
        f"built at {clock(found.built_at)}{checked}",
        outdated(found),
    ]
    return "\n".join(line for line in lines if line)


def outdated(image: CurrentImage) -> str:
    failure = f"The last rebuild failed: {image.failure}" if image.failure else ""
    if image.outdated_since is None:
        return failure
    due = f"outdated: not rebuilt or compared with the package sources in {image.max_age_days} d."
    return f"{due} {failure or 'The agent rebuilds it within six hours.'}"


def resets(node: Node) -> str | None:
    """How its GPUs are reset after use, or why they are not; each answer once."""
    gpus = node.facts.gpus if node.facts else ()
    found = ("not reported" if not gpu.reset else gpu.reset.method or f"none: {gpu.reset.detail}" for gpu in gpus)
    return ", ".join(dict.fromkeys(found)) or None


def fact(node: Node, name: str) -> str | None:
    """As the node's probe found it; none where it did not look."""
    found = node.facts.facts.get(name) if node.facts else None
    return found.value if found else None


def disk(node: Node) -> str | None:
    found = node.disk
    if found is None or found.size_gib is None:
        return None
    low = "; almost full, so nothing is sold" if found.is_low else ""
    return (
        f"{found.size_gib} GiB, {found.free_gib} GiB free; {found.sold_gib} of {found.for_sale_gib} GiB sold"
        f" (overcommit {found.overcommit:g}){low}"
    )


def offers(node: Node) -> str | None:
    """What its engine declares: names of what it can, and how disk is limited."""
    if node.facts is None:
        return None
    declared = asdict(node.facts.capabilities)
    method = declared.pop("disk_limit")
    names = [name.replace("_", " ") for name, has in declared.items() if has]
    return ", ".join([*names, *([f"disk limit: {method}"] if method else [])]) or None


def chosen_node(client: Client, word: str) -> Node:
    if is_id(word, "node"):
        return client.admin.nodes.get(word)
    return choose(word, client.admin.nodes.list(), lambda node: (node.name, node.id), "node")


@command.command("list")
def list_nodes(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List the fleet."""
    with connected(ctx) as client:
        empty = "No nodes yet: gpuaas admin nodes enrol-token NAME"
        show_rows(client.admin.nodes.list(), columns(surroundings_of(ctx)), output, empty=empty)


@command.command("get")
def get_node(ctx: typer.Context, node: NodeArgument, output: OutputOption = Output.TABLE) -> None:
    """Show one node and what its agent found on it."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_one(client.admin.nodes.get(found.id), details(surroundings_of(ctx)), output)


@command.command("drain")
def drain(
    ctx: typer.Context,
    node: NodeArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take no new allocations; those it has live on."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Drain {found.name}?",
            lost=f"{found.slots_free} free slots are no longer sold.",
            survives=f"{found.slots_claimed} claimed slots and what runs on them.",
            yes=yes,
        )
        show_one(client.admin.nodes.drain(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("undrain")
def undrain(
    ctx: typer.Context, node: NodeArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Sell its slots again."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_one(client.admin.nodes.undrain(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("quarantine")
def quarantine(
    ctx: typer.Context,
    node: NodeArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Distrust a node: nothing new goes there until it is cleared."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Quarantine {found.name}?",
            lost=f"{found.slots_free} free slots are no longer sold.",
            survives=f"{found.slots_claimed} claimed slots, for as long as the node is able.",
            yes=yes,
        )
        show_one(client.admin.nodes.quarantine(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("unquarantine")
def unquarantine(
    ctx: typer.Context, node: NodeArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Trust it again."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_one(client.admin.nodes.unquarantine(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("retire")
def retire(
    ctx: typer.Context,
    node: NodeArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take an empty node out of the fleet for good."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Retire {found.name}?",
            lost=f"{found.name} and its slots leave the fleet; to come back it must enrol anew.",
            survives="its history.",
            yes=yes,
        )
        show_one(client.admin.nodes.retire(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("lost")
def lost(
    ctx: typer.Context,
    node: NodeArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Declare that a machine is gone and can prove nothing any more."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Declare {found.name} lost?",
            lost=f"whatever ran in its {found.slots_claimed} claimed slots: those allocations end as failed.",
            survives="their timelines, and the slots' cleanup marks until the machine is seen again.",
            yes=yes,
        )
        show_one(client.admin.nodes.lost(found.id, reason=reason), columns(surroundings_of(ctx)), output)


@command.command("rotate-key")
def rotate_key(
    ctx: typer.Context, node: NodeArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Make a token with which a node changes its key; the old key is refused from then on.

    \b
    Example:
      gpuaas admin nodes rotate-key gpu-07 --reason "the old key was copied"
    """
    with connected(ctx) as client:
        made = client.admin.nodes.rotate_key(chosen_node(client, node).id, reason=reason)
    if output is Output.JSON:
        show_json(made)
        return
    say(made.token)
    note("Shown this once. On the node, with the token in place of T; its agent may go on running:")
    note("  gpuaas agent rotate-key --token T")


@command.command("disk-overcommit")
def disk_overcommit(
    ctx: typer.Context,
    node: NodeArgument,
    factor: Annotated[float, typer.Argument(min=1, max=10, help="GiB that are sold for each GiB of the disk.")],
    reason: ReasonOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Set how much disk a node sells for each GiB it has; 1 sells no more than it has.

    \b
    Above 1 the node sells nothing while less than a tenth of its disk is free.
    Example:
      gpuaas admin nodes disk-overcommit gpu-07 1.5 --reason "disks are a third full"
    """
    with connected(ctx) as client:
        found = chosen_node(client, node)
        changed = client.admin.nodes.set_disk_overcommit(found.id, factor, reason=reason)
        show_one(changed, details(surroundings_of(ctx)), output)


@command.command("enrol-token")
def enrol_token(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What the node will be called.")],
    region: Annotated[str, typer.Option("--region", help="Where it stands.")] = "local",
    seconds: Annotated[int, typer.Option("--seconds", min=10, max=300, help="How long the token is good.")] = 300,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a token that enrols one node, once, within minutes.

    \b
    Example:
      gpuaas admin nodes enrol-token gpu-07 --region eu-1
    """
    with connected(ctx) as client:
        made = client.admin.nodes.create_enrolment_token(name, region=region, ttl_seconds=seconds)
    if output is Output.JSON:
        show_json(made)
        return
    say(made.token)
    url = effective(surroundings_of(ctx)).url
    note("Shown this once. On the node, with the token in place of T:")
    note(f"  gpuaas agent enrol --server {shlex.quote(url)} --token T")
