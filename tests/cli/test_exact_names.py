"""A command acts only on the object whose exact name or id was typed. The commands come from the command tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gpuaas.cli.names import choose
from gpuaas.main.cli import COMMANDS
from gpuaas.sdk import recipes
from gpuaas.wire.allocations import Consequences, Disruption, Status
from gpuaas.wire.runtimes import Staging, StagingStatus
from gpuaas.wire.storage import VolumeStatus
from gpuaas.wire.timeline import OperationStatus
from tests.cli import test_runtimes as runtimes
from tests.cli import test_sharing as sharing
from tests.cli import test_volumes as volumes
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page

PROJECT, MACHINE = f"/projects/{samples.PROJECT}", f"/allocations/{samples.ALLOCATION}"
VERBS = (
    "clear decommission delete detach disable drain end force handover leave lost quarantine release remove resize"
    " restart restore retire revoke rotate suspend unstage withdraw"
)
DESTRUCTIVE = frozenset(VERBS.split())
"""What each argument or option refers to: the name and the id of the one such object in this world."""
NAMES = {
    "allocation": ("train-a", samples.ALLOCATION),
    "beside": ("train-a", samples.ALLOCATION),
    "bundle": ("pytorch@2.13.0-cpu", runtimes.BUNDLE.id),
    "key": ("laptop", samples.id_of("key", 1)),
    "name": ("train-a", samples.ALLOCATION),
    "node": ("gpu-01", samples.NODE),
    "person": (sharing.BOB.email, sharing.BOB.user_id),
    "session": (sharing.INSIDE.id, sharing.INSIDE.id),
    "snapshot": ("before", volumes.SNAPSHOT_ID),
    "terminal": (sharing.TERMINAL.id, sharing.TERMINAL.id),
    "token": ("nightly", samples.id_of("tok", 1)),
    "volume": ("datasets", volumes.ID),
    "worker": ("allocations.provision", "allocations.provision"),
}
OF_ONE_COMMAND = {
    "sessions revoke session": (samples.id_of("ses", 1),) * 2,
    "admin allocations force-release id": (samples.ALLOCATION,) * 2,
    "admin allocations force-cleanup id": (samples.ALLOCATION,) * 2,
    "admin allocations end-break-glass id": (samples.ALLOCATION,) * 2,
    "admin unknown-environments remove environment": (samples.id_of("alloc", 9),) * 2,
    "admin unknown-volumes remove volume": (samples.id_of("vol", 9),) * 2,
    "admin tenants suspend id": (samples.id_of("ten", 9),) * 2,
    "admin projects suspend id": (samples.id_of("proj", 9),) * 2,
    "admin task-keys retire generation": ("2", "2"),
    "admin users suspend id": (samples.id_of("user", 9),) * 2,
    "invitations withdraw id": (sharing.INVITATION.id,) * 2,
}
"""Values that name no existing object."""
OTHER = {"gpus": "2", "role": "viewer", "index": "0", "reason": "because", "backend": "shared"}
FLAGS = {"allocations own-keys": ["--refuse"]}
NEW = {"volumes restore name"}
INTERACTIVE = {"admin allocations break-glass"}  # opens a terminal, and sends nothing without one
STAGING = Staging(
    id=samples.id_of("stg", 1),
    bundle_id=runtimes.BUNDLE.id,
    node_id=samples.NODE,
    node_name="gpu-01",
    status=StagingStatus.STAGED,
    status_since=samples.NOON,
    reason="",
    operation_id=samples.OPERATION,
    health="",
    files=3,
    bytes=10,
    staged_at=None,
    checked_at=None,
    drift=[],
    in_use=0,
)


DETAIL = {"bundle": runtimes.BUNDLE, "recipe": recipes.read("pytorch").recipe}


@dataclass(frozen=True)
class Leaf:
    path: str
    command: Any

    @property
    def asks(self) -> bool:
        return any(one.name == "yes" for one in self.command.params)

    @property
    def is_destructive(self) -> bool:
        return self.asks or bool(DESTRUCTIVE & set(self.path.split()[-1].split("-")))

    def names(self) -> list[str]:
        """Parameters that refer to an existing object."""
        required = [one.name for one in self.command.params if one.required and f"{self.path} {one.name}" not in NEW]
        optional = [one.name for one in self.command.params if not one.required and one.name in {"node", "beside"}]
        return [name for name in required + optional if name not in OTHER]

    def known(self, parameter: str) -> tuple[str, str]:
        known = OF_ONE_COMMAND.get(f"{self.path} {parameter}") or NAMES.get(parameter)
        assert known, f"NAMES must say which object {parameter!r} of {self.path!r} refers to"
        return known

    def id_of(self, parameter: str) -> str:
        return self.known(parameter)[1]

    def line(self, place: int, cut: str = "") -> list[str]:
        """The whole command line, each object by its name (0) or its id (1); the last character of `cut` is missing."""
        typed = self.path.split() + FLAGS.get(self.path, [])
        for one in self.command.params:
            if one.name in self.names():
                known = self.known(one.name)[place]
                value = known[:-1] if one.name == cut else known
            elif one.required:
                value = OTHER.get(one.name, "new")
            else:
                continue
            typed += [value] if one.param_type_name == "argument" else [one.opts[0], value]
        return typed + (["--yes"] if self.asks else [])


def leaves(command: Any, path: str) -> Iterator[Leaf]:
    if not hasattr(command, "commands"):
        yield Leaf(path, command)
        return
    for name, part in command.commands.items():
        yield from leaves(part, f"{path} {name}")


TREE = [
    leaf
    for name, lazy in COMMANDS.items()
    if lazy.module.startswith("gpuaas.cli.")
    for leaf in leaves(lazy.load(name), name)
]
ACTS = [leaf for leaf in TREE if leaf.is_destructive and leaf.path not in INTERACTIVE and leaf.names()]


@pytest.fixture
def world(api: FakeApi) -> FakeApi:
    """One object of each kind."""
    machine = samples.allocation(attachments=[volumes.attachment()])
    api.on("GET", "/me", Answer(samples.me()))
    api.on("GET", "/ssh-keys", page(samples.ssh_key()))
    api.on("GET", "/auth/tokens", page(samples.token()))
    api.on("GET", "/auth/sessions", page(samples.session()))
    api.on("GET", "/admin/nodes", page(samples.node()))
    api.on("GET", f"/admin/nodes/{samples.NODE}", Answer(samples.node()))
    api.on("GET", "/admin/task-keys", page(samples.task_key(3), samples.task_key(2)))
    api.on("GET", "/admin/runtime-bundles", page(runtimes.BUNDLE))
    api.on("GET", f"/admin/runtime-bundles/{runtimes.BUNDLE.id}", Answer(DETAIL))
    api.on("GET", f"/admin/runtime-bundles/{runtimes.BUNDLE.id}/nodes", page(STAGING))
    api.on("GET", f"{PROJECT}/allocations", page(machine))
    api.on("GET", f"{PROJECT}/members", page(sharing.BOB))
    api.on("GET", f"{PROJECT}/volumes", page(volumes.volume()))
    api.on("GET", f"{PROJECT}/volumes/{volumes.ID}", Answer(volumes.volume()))
    api.on("GET", f"/volumes/{volumes.ID}/snapshots", page(volumes.snapshot()))
    api.on("GET", MACHINE, Answer(machine))
    api.on(
        "GET", f"{MACHINE}/consequences", Answer(Consequences(of=Disruption.RELEASE, lost=[], survives=[], billing=""))
    )
    api.on("GET", f"{MACHINE}/access-grants", page(sharing.grant()))
    api.on("GET", f"{MACHINE}/sessions", Answer(sharing.seen(sharing.INSIDE)))
    api.on("GET", f"{MACHINE}/terminals", page(sharing.TERMINAL))
    return api


def writes(api: FakeApi) -> list[str]:
    """What was asked to change, with everything that was sent."""
    return [f"{one.method} {one.path} {msgspec.json.encode(one.body)!r}" for one in api.seen if one.method != "GET"]


@pytest.mark.parametrize("place", [0, 1], ids=["name", "id"])
@pytest.mark.parametrize("leaf", ACTS, ids=lambda leaf: leaf.path)
def test_a_destructive_command_takes_a_name_or_id_only_whole(
    terminal: Terminal, world: FakeApi, leaf: Leaf, place: int
) -> None:
    for name in leaf.names():
        world.seen.clear()
        ran = terminal.run(*leaf.line(place, cut=name))
        assert (ran.code != 0, [one for one in writes(world) if leaf.id_of(name) in one]) == (True, []), name
    world.seen.clear()
    terminal.run(*leaf.line(place))  # the whole name does act, so the check above checks something
    assert len(writes(world)) == 1


def test_the_command_tree_has_its_destructive_commands() -> None:
    found = {leaf.path for leaf in ACTS}
    assert {"volumes delete", "allocations release", "grants revoke", "admin runtimes retire"} <= found
    assert len(found) >= 30
    unknown = {leaf.path for leaf in TREE if leaf.asks} - found
    assert unknown <= {"members leave", *INTERACTIVE}, unknown  # leaving takes no name but that of the project


def begins(word: str, candidates: list[str]) -> str:
    """The old resolver: a unique prefix resolves."""
    return next(one for one in candidates if one.startswith(word))


def test_the_old_resolver_would_take_the_next_object() -> None:
    with pytest.raises(Exception, match="Did you mean datasets-monday"):
        choose("datasets", ["datasets-monday"], lambda one: (one,), "volume")
    assert begins("datasets", ["datasets-monday"]) == "datasets-monday"


def test_deleting_a_volume_twice_leaves_the_volume_with_the_longer_name(terminal: Terminal, api: FakeApi) -> None:
    monday = volumes.volume(id=samples.id_of("vol", 2), name="datasets-monday")
    done = samples.operation(OperationStatus.SUCCEEDED)
    api.on("GET", f"{PROJECT}/volumes", page(volumes.volume(), monday), page(monday))
    api.on("GET", f"{PROJECT}/events", Events((event(samples.entry(1)),), then="stay"))
    api.on("GET", f"/operations/{samples.OPERATION}", Answer(done))
    for one in (volumes.volume(), monday):
        api.on("DELETE", f"{PROJECT}/volumes/{one.id}", Answer(replace(one, status=VolumeStatus.DELETING), 202))
    assert terminal.run("volumes", "delete", "datasets", "--yes").code == 0
    again = terminal.run("volumes", "delete", "datasets", "--yes")
    assert (again.code, api.asked("DELETE", f"{PROJECT}/volumes/{monday.id}")) == (4, [])
    assert "Did you mean datasets-monday?" in again.err


def test_a_released_name_stays_with_the_released_allocation(terminal: Terminal, api: FakeApi) -> None:
    ended = samples.allocation(name="night", status=Status.RELEASED)
    other = samples.allocation(name="night-2", id=samples.id_of("alloc", 2))
    api.on("GET", f"{PROJECT}/allocations", page(other, ended))
    assert samples.ALLOCATION in terminal.run("allocations", "get", "night", "-o", "json").out
    assert terminal.run("allocations", "release", "night", "--yes").code != 0
    assert terminal.run("allocations", "release", "nigh", "--yes").code == 4
    assert [one for one in writes(api) if other.id in one] == []


def test_two_objects_of_one_name_are_told_apart_by_their_ids(terminal: Terminal, api: FakeApi) -> None:
    twins = [samples.ssh_key("laptop", number) for number in (1, 2)]
    api.on("GET", "/ssh-keys", page(*twins))
    ran = terminal.run("ssh-keys", "remove", "laptop", "--yes")
    assert (ran.code, writes(api)) == (1, [])
    assert all(one.id in ran.err for one in twins)
