"""Contracts of task kinds: complete, the same on both ends of the link, and readable by older ends."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from gpuaas.agent.tasks.kinds import KINDS
from gpuaas.agent.tasks.remove import Remove
from gpuaas.domain.node_messages.cleaning import LONGEST_FACT, MOST_FOUND, cleaned_result
from gpuaas.domain.tasks.store import NewNodeTask, NewTask
from gpuaas.wire.link import Result, TaskStatus
from gpuaas.wire.runtimes import StagedBundle
from gpuaas.wire.storage import Check, VolumeObservation
from gpuaas.wire.tasks import (
    CONTRACTS,
    VOLUME_DETACH,
    DeleteVolume,
    Detached,
    Made,
    RemoveEnvironment,
    TaskContract,
    TaskKind,
)
from tests.allocations.rows import CLEAN, NOON, environment

STAGED_BUNDLE = StagedBundle(
    slug="tools", version="1.0", digest="d", manifest="m", health="healthy", files=2, bytes=3, staged_at=NOON
)
FULL = {
    "environment": environment(),
    "proofs": CLEAN,
    "bundle": STAGED_BUNDLE,
    "volume": VolumeObservation(volume_id="v", used_bytes=1, quota="measured", at=NOON),
    "note": "by force",
    "checks": [Check(check="write", ok=True, evidence="")],
}
EMPTY = Result(task_id="t", status=TaskStatus.DONE, at=NOON)


class Opened(Struct, frozen=True, kw_only=True):
    """As a later kind of task may declare it."""

    port: int
    proofs: list[str] = []
    seen: VolumeObservation | None = None


LATER = TaskContract(kind=TaskKind.ENSURE, wants=DeleteVolume, result=Opened)


def over_the_link(result: Result) -> Result:
    """And through the database."""
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(result), type=Result)
    return msgspec.json.decode(msgspec.json.encode(sent), type=Result)


def result_of(contract: TaskContract[Struct, Struct]) -> Struct:
    return contract.result(**{name: FULL[name] for name in contract.result.__struct_fields__})


def test_every_kind_is_declared_once_and_known_to_agents() -> None:
    assert set(CONTRACTS) == set(TaskKind) == set(KINDS)
    assert all(contract.kind == kind for kind, contract in CONTRACTS.items())


@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_result_arrives_as_it_was_sent(kind: str) -> None:
    contract = CONTRACTS[kind]
    sent = result_of(contract)
    assert contract.unpack(over_the_link(replace(EMPTY, **contract.pack(sent)))) == sent


@pytest.mark.parametrize("kind", CONTRACTS)
def test_what_agents_of_today_send_is_what_older_servers_read(kind: str) -> None:
    packed = CONTRACTS[kind].pack(result_of(CONTRACTS[kind]))
    assert "found" not in packed
    assert packed == {name: FULL[name] for name in CONTRACTS[kind].result.__struct_fields__}


@pytest.mark.parametrize("kind", CONTRACTS)
def test_an_answer_that_lacks_what_is_required_is_no_result(kind: str) -> None:
    assert (CONTRACTS[kind].unpack(EMPTY) is None) is (kind in (TaskKind.ENSURE, TaskKind.STAGE_RUNTIME))
    assert CONTRACTS[kind].unpack(None) == CONTRACTS[kind].unpack(EMPTY)


def test_an_older_agent_knows_no_further_fields() -> None:
    class OlderResult(Struct, frozen=True, kw_only=True, tag="result", tag_field="type"):
        task_id: str

    assert "found" not in OlderResult.__struct_fields__
    plain = {"type": "result", "task_id": "t", "status": "done", "at": "2026-06-01T12:00:00Z", "note": "by force"}
    older = msgspec.msgpack.decode(msgspec.msgpack.encode(plain), type=Result)
    assert VOLUME_DETACH.unpack(older) == Detached(note="by force")


@given(port=st.integers(1, 65_535))
def test_a_later_kind_declares_fields_of_its_own(port: int) -> None:
    opened = Opened(port=port, seen=FULL["volume"])  # type: ignore[arg-type]
    packed = LATER.pack(opened)
    assert packed["found"] == {"port": port, "seen": msgspec.to_builtins(FULL["volume"])}
    assert LATER.unpack(over_the_link(replace(EMPTY, **packed))) == opened
    assert LATER.unpack(EMPTY) is None


def test_a_result_of_another_kind_is_a_bug_and_refused() -> None:
    with pytest.raises(TypeError, match="Detached"):
        VOLUME_DETACH.pack(Made(environment=environment()))


def test_parameters_of_another_kind_are_never_queued() -> None:
    wants = RemoveEnvironment()
    task = NewTask(id="t", node_id="n", operation_id="op", allocation_id="a", boot=1, kind=TaskKind.REMOVE, wants=wants)
    with pytest.raises(TypeError, match="DetachVolumeFrom"):
        replace(task, kind=TaskKind.VOLUME_DETACH)
    with pytest.raises(TypeError, match="DeleteVolume"):
        NewNodeTask(id="t", node_id="n", operation_id="op", kind=TaskKind.VOLUME_DELETE, wants=wants, lane="volume:v")


def test_a_removal_replaces_whatever_is_about_its_environment() -> None:
    assert {
        "environment.ensure",
        "environment.remove",
        "allocation.install_authorized_keys",
        "allocation.end_session",
        "runtime.write_env_file",
        "volume.attach",
        "volume.detach",
    } == Remove.replaces


def test_what_a_node_says_of_a_later_kind_is_bounded() -> None:
    wild = {"a\0b": "c\0d", "long": "x" * 10_000, "many": list(range(10_000)), "deep": {"bytes": b"1", "port": 22}}
    found = cleaned_result(replace(EMPTY, found=wild)).found
    assert list(found) == ["ab", "long", "many", "deep"]
    assert (found["ab"], len(str(found["long"])), found["deep"]) == ("cd", LONGEST_FACT, {"bytes": "", "port": 22})
    assert found["many"] == list(range(MOST_FOUND))


def nested(levels: int) -> object:
    return [nested(levels - 1)] if levels else 1


@pytest.mark.parametrize(
    "wild",
    [
        nested(600),
        msgspec.msgpack.Ext(5, b"\x01"),
        {"deep": msgspec.msgpack.Ext(5, b"")},
    ],
    ids=["deep", "extension", "extension inside"],
)
def test_what_no_column_holds_does_not_end_the_link_or_drop_the_result(wild: object) -> None:
    """The decoder accepts deeper nesting than Python functions can follow, and types that JSON does not have."""
    sent = msgspec.msgpack.encode(replace(EMPTY, found={"port": 22, "wild": wild}))
    found = cleaned_result(msgspec.msgpack.decode(sent, type=Result)).found
    assert found["port"] == 22
    msgspec.json.encode(found)


@pytest.mark.parametrize("port", ["http", None, [22], {"a": 1}])
def test_a_field_of_another_type_is_no_result(port: object) -> None:
    """Otherwise the worker would fail at this task forever."""
    packed = LATER.pack(Opened(port=22, seen=FULL["volume"]))  # type: ignore[arg-type]
    wrong = {**packed["found"], "port": port}  # type: ignore[dict-item]
    assert LATER.unpack(over_the_link(replace(EMPTY, found=wrong))) is None
