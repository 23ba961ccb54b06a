"""The interface of task kinds: read the parameters from the signed bytes, and bring the engine to one end state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

import msgspec

from gpuaas.engines.base import Engine, Telling
from gpuaas.wire.environments import Environment, ProofItem
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import Removed, TaskContract, TaskKind

Wants = TypeVar("Wants", bound=msgspec.Struct)
Found_co = TypeVar("Found_co", bound=msgspec.Struct, covariant=True)


class TaskRefusedError(Exception):
    """The task does not fit this node or its current state; nothing was done."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class Effects(Generic[Found_co]):
    """The effects of a task."""

    result: Found_co
    shortfall: str = ""  # the part of the end state that was not reached; empty is success


class Work(Protocol[Found_co]):
    """One decoded task: `perform` may be repeated, cancelled, or interrupted by a crash."""

    replaces: ClassVar[frozenset[TaskKind]]
    """Kinds whose older tasks are pointless once this one is here; others are waited for."""

    async def perform(self, engine: Engine, on_phase: Telling, /) -> Effects[Found_co]: ...


ReadWork = Callable[[TaskBody], Work[msgspec.Struct]]
"""Reads the wants of a verified body, or raises TaskRefusedError."""


def read_wants(body: TaskBody, contract: TaskContract[Wants, msgspec.Struct]) -> Wants:
    try:
        return msgspec.msgpack.decode(body.wants, type=contract.wants)
    except msgspec.DecodeError as error:
        raise TaskRefusedError("malformed task", f"wants of {body.kind}: {error}") from error


def removed(proofs: Sequence[ProofItem], words: str) -> Effects[Removed]:
    """The effects of a removal: items that remain are its shortfall."""
    left = ", ".join(proof.item for proof in proofs if not proof.ok)
    return Effects(Removed(proofs=list(proofs)), f"{words}: {left}" if left else "")


async def environment_of(engine: Engine, allocation_id: str) -> Environment | None:
    return next((one for one in await engine.observe() if one.allocation_id == allocation_id), None)


async def environment_at(engine: Engine, allocation_id: str, boot: int, *, what: str) -> Environment:
    """The environment, if it has the boot that the task names: a task for another boot must not change this one."""
    here = await environment_of(engine, allocation_id)
    if here is None or here.boot != boot:
        found = "no environment" if here is None else f"boot {here.boot}"
        raise TaskRefusedError("stale_boot", f"{what} for boot {boot}, but there is {found}")
    return here


def allocation_of(body: TaskBody) -> str:
    if body.allocation_id is None:
        raise TaskRefusedError("malformed task", f"{body.kind} names no allocation")
    return body.allocation_id
