"""`gpuaas admin nodes`."""

import shlex
from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from msgspec.structs import asdict

from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command, show_command
from gpuaas.cli.config import effective
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose, is_id
from gpuaas.cli.output import Column, Output, show_json
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import ReasonOption, note, say
from gpuaas.cli.words import age, clock, memory
from gpuaas.sdk import Client
from gpuaas.wire.capacity import EnrolmentToken, Node
from gpuaas.wire.environments import VIEWS
from gpuaas.wire.images import CurrentImage
from gpuaas.wire.spares import SpareReport

command = new_group("Machines of the fleet.")

NodeArgument = typer.Argument(metavar="NODE", help="Exact name or id.")


def columns(process: ProcessContext) -> list[Column[Node]]:
    return [
        Column("Name", lambda node: node.name, may_shrink=True),
        Column("Region", lambda node: node.region),
        Column("Intent", lambda node: node.intent, is_state=True),
        Column("Link", lambda node: "offline" if node.offline_since else "ok", is_state=True),
        Column("Seen", lambda node: node.last_seen_at, lambda seen: age(seen, process.now()), align="right"),
        Column("Engine", lambda node: f"{node.engine}{' (sim)' if node.simulated else ''}"),
        Column("Free", lambda node: node.slots_free, align="right"),
        Column("Claimed", lambda node: node.slots_claimed, align="right"),
        Column("Blocked", lambda node: node.slots_blocked, align="right"),
    ]


def details(process: ProcessContext) -> list[Column[Node]]:
    return [
        *columns(process),
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


FoundNode = Annotated[Node, Find(NodeArgument, lambda call, word: chosen_node(call.client, word))]


ROTATE = (
    "Shown this once. On the node, with the token in place of T; its agent may go on running:",
    "gpuaas agent rotate-key --token T",
)
ENROL = ("Shown this once. On the node, with the token in place of T:", "gpuaas agent enrol --server {url} --token T")


def shown_once(words: tuple[str, str]) -> Callable[[Call, EnrolmentToken], None]:
    """Print the token alone, and beside it where to use it."""

    def show(call: Call, made: EnrolmentToken) -> None:
        if call.output is Output.JSON:
            show_json(made)
            return
        say(made.token)
        note(words[0])
        note("  " + words[1].format(url=shlex.quote(effective(call.process).url)))

    return show


@list_command(command, "list", columns, empty="No nodes yet: gpuaas admin nodes enrol-token NAME")
def list_nodes(call: Call) -> Iterable[Node]:
    """List the fleet."""
    return call.client.admin.nodes.list()


@show_command(command, "get", details)
def get_node(call: Call, node: FoundNode) -> Node:
    """Show one node and what its agent found on it."""
    return call.client.admin.nodes.get(node.id)


@action_command(command, "drain", columns)
def drain(call: Call, node: FoundNode, reason: ReasonOption = "") -> Action[Node]:
    """Take no new allocations; those it has live on."""
    return Action(
        ask=Question(
            words=f"Drain {node.name}?",
            lost=f"{node.slots_free} free slots are no longer sold.",
            survives=f"{node.slots_claimed} claimed slots and what runs on them.",
        ),
        run=lambda: call.client.admin.nodes.drain(node.id, reason=reason),
    )


@show_command(command, "undrain", columns)
def undrain(call: Call, node: FoundNode, reason: ReasonOption = "") -> Node:
    """Sell its slots again."""
    return call.client.admin.nodes.undrain(node.id, reason=reason)


@action_command(command, "quarantine", columns)
def quarantine(call: Call, node: FoundNode, reason: ReasonOption = "") -> Action[Node]:
    """Distrust a node: nothing new goes there until it is cleared."""
    return Action(
        ask=Question(
            words=f"Quarantine {node.name}?",
            lost=f"{node.slots_free} free slots are no longer sold.",
            survives=f"{node.slots_claimed} claimed slots, for as long as the node is able.",
        ),
        run=lambda: call.client.admin.nodes.quarantine(node.id, reason=reason),
    )


@show_command(command, "unquarantine", columns)
def unquarantine(call: Call, node: FoundNode, reason: ReasonOption = "") -> Node:
    """Trust it again."""
    return call.client.admin.nodes.unquarantine(node.id, reason=reason)


@action_command(command, "retire", columns)
def retire(call: Call, node: FoundNode, reason: ReasonOption = "") -> Action[Node]:
    """Take an empty node out of the fleet for good."""
    return Action(
        ask=Question(
            words=f"Retire {node.name}?",
            lost=f"{node.name} and its slots leave the fleet; to come back it must enrol anew.",
            survives="its history.",
        ),
        run=lambda: call.client.admin.nodes.retire(node.id, reason=reason),
    )


@action_command(command, "lost", columns)
def lost(call: Call, node: FoundNode, reason: ReasonOption = "") -> Action[Node]:
    """Declare that a machine is gone and can prove nothing any more."""
    return Action(
        ask=Question(
            words=f"Declare {node.name} lost?",
            lost=f"whatever ran in its {node.slots_claimed} claimed slots: those allocations end as failed.",
            survives="their timelines, and the slots' cleanup marks until the machine is seen again.",
        ),
        run=lambda: call.client.admin.nodes.lost(node.id, reason=reason),
    )


@show_command(command, "rotate-key", show=shown_once(ROTATE))
def rotate_key(call: Call, node: FoundNode, reason: ReasonOption = "") -> EnrolmentToken:
    """Make a token with which a node changes its key; the old key is refused from then on.

    \b
    Example:
      gpuaas admin nodes rotate-key gpu-07 --reason "the old key was copied"
    """
    return call.client.admin.nodes.rotate_key(node.id, reason=reason)


FACTOR = typer.Argument(min=1, max=10, help="GiB that are sold for each GiB of the disk.")


@show_command(command, "disk-overcommit", details)
def disk_overcommit(call: Call, node: FoundNode, factor: Annotated[float, FACTOR], reason: ReasonOption = "") -> Node:
    """Set how much disk a node sells for each GiB it has; 1 sells no more than it has.

    \b
    Above 1 the node sells nothing while less than a tenth of its disk is free.
    Example:
      gpuaas admin nodes disk-overcommit gpu-07 1.5 --reason "disks are a third full"
    """
    return call.client.admin.nodes.set_disk_overcommit(node.id, factor, reason=reason)


@show_command(command, "enrol-token", show=shown_once(ENROL))
def enrol_token(
    call: Call,
    name: Annotated[str, typer.Argument(help="What the node will be called.")],
    region: Annotated[str, typer.Option("--region", help="Where it stands.")] = "local",
    seconds: Annotated[int, typer.Option("--seconds", min=10, max=300, help="How long the token is good.")] = 300,
) -> EnrolmentToken:
    """Make a token that enrols one node, once, within minutes.

    \b
    Example:
      gpuaas admin nodes enrol-token gpu-07 --region eu-1
    """
    return call.client.admin.nodes.create_enrolment_token(name, region=region, ttl_seconds=seconds)
