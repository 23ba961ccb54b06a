"""Node tasks: each kind with its parameters and its result, for both ends of the link.

Each kind declares one result struct. On the wire its fields are in `Result`: those that every agent knows under their
names, all others in `Result.found`. Older agents and servers therefore read the fields that they know.
"""

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from gpuaas.wire.common import Name
from gpuaas.wire.environments import Environment, EnvironmentSpec, KeySet, Ownership, ProofItem
from gpuaas.wire.link import Result
from gpuaas.wire.runtimes import BundleSpec, BundleVersion, RuntimeDescriptor, StagedBundle
from gpuaas.wire.storage import (
    Backend,
    Check,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
    WantedMount,
)

Wants_co = TypeVar("Wants_co", bound=Struct, covariant=True)
Found_co = TypeVar("Found_co", bound=Struct, covariant=True)


class TaskKind(StrEnum):
    ENSURE = "environment.ensure"
    REMOVE = "environment.remove"
    REMOVE_UNKNOWN = "environment.remove_unknown"
    INSTALL_KEYS = "allocation.install_authorized_keys"
    END_SESSION = "allocation.end_session"
    STAGE_RUNTIME = "runtime.stage"
    UNSTAGE_RUNTIME = "runtime.unstage"
    WRITE_RUNTIME = "runtime.write_env_file"
    VOLUME_ENSURE = "volume.ensure"
    VOLUME_DELETE = "volume.delete"
    VOLUME_REMOVE_UNKNOWN = "volume.remove_unknown"
    VOLUME_MEASURE = "volume.measure"
    VOLUME_SNAPSHOT = "volume.snapshot"
    VOLUME_ATTACH = "volume.attach"
    VOLUME_DETACH = "volume.detach"
    STORAGE_CONFORMANCE = "storage.conformance"


class EnsureEnvironment(Struct, frozen=True, kw_only=True):
    spec: EnvironmentSpec


class RemoveEnvironment(Struct, frozen=True, kw_only=True):
    reason: str = ""


class RemoveUnknown(Struct, frozen=True, kw_only=True):
    """Remove an unknown environment; refused if its host key differs."""

    environment_id: str
    host_key: str | None


class InstallKeys(Struct, frozen=True, kw_only=True):
    """With the current ownership record, because a change of the holder is a change of keys."""

    keys: KeySet
    ownership: Ownership | None = None


class EndSession(Struct, frozen=True, kw_only=True):
    session_id: str
    reason: str


class StageRuntime(Struct, frozen=True, kw_only=True):
    """The bundle must be present and complete; an earlier `manifest` shows whether the checksum list was changed."""

    bundle: BundleSpec
    manifest: str = ""


class UnstageRuntime(Struct, frozen=True, kw_only=True):
    """The bundle must be removed; refused while an environment on the node uses it."""

    slug: Name
    version: BundleVersion


class WriteRuntime(Struct, frozen=True, kw_only=True):
    """The complete desired content; None removes the runtime."""

    descriptor: RuntimeDescriptor | None


class EnsureVolume(Struct, frozen=True, kw_only=True):
    """The data must exist, empty or filled from a snapshot; existing data stays."""

    volume: VolumeRef
    snapshot_id: str | None = None
    ownership: VolumeOwnership | None = None


class DeleteVolume(Struct, frozen=True, kw_only=True):
    """For a volume, or in the same way for a snapshot."""

    volume: VolumeRef


class RemoveUnknownVolume(Struct, frozen=True, kw_only=True):
    """Remove the data of an unknown volume; refused if its ownership record differs, and while it is mounted."""

    volume: VolumeRef
    ownership: VolumeOwnership | None


class MeasureVolume(Struct, frozen=True, kw_only=True):
    """Measure the usage, and replace the ownership record next to the data with this one."""

    volume: VolumeRef
    ownership: VolumeOwnership | None = None


class SnapshotVolume(Struct, frozen=True, kw_only=True):
    volume: VolumeRef
    snapshot_id: str


class AttachVolumeTo(Struct, frozen=True, kw_only=True):
    mount: WantedMount


class DetachVolumeFrom(Struct, frozen=True, kw_only=True):
    """`force` ends the processes that use it."""

    volume: VolumeRef
    mount_path: str
    force: bool = False


class ConformStorage(Struct, frozen=True, kw_only=True):
    backend: Backend


# Results -------------------------------------------------------------------------------------------------------------


class Nothing(Struct, frozen=True, kw_only=True):
    """The status is the whole result."""


class Made(Struct, frozen=True, kw_only=True):
    environment: Environment


class Changed(Struct, frozen=True, kw_only=True):
    environment: Environment | None = None


class Removed(Struct, frozen=True, kw_only=True):
    """Proofs of the removal, item by item."""

    proofs: list[ProofItem] = []

    @property
    def is_proven(self) -> bool:
        """An empty list proves nothing."""
        return bool(self.proofs) and all(proof.ok for proof in self.proofs)


class Staged(Struct, frozen=True, kw_only=True):
    bundle: StagedBundle


class Measured(Struct, frozen=True, kw_only=True):
    volume: VolumeObservation | None = None


class Copied(Struct, frozen=True, kw_only=True):
    """The size of the copy, and how consistent it is."""

    volume: VolumeObservation | None = None
    note: str = ""


class Detached(Struct, frozen=True, kw_only=True):
    """How it was unmounted, and the usage of the volume if it could be measured."""

    volume: VolumeObservation | None = None
    note: str = ""


class Tried(Struct, frozen=True, kw_only=True):
    checks: list[Check] = []


# Kinds ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TaskContract(Generic[Wants_co, Found_co]):
    """One kind of task, as both ends of the link declare it."""

    kind: TaskKind
    wants: type[Wants_co]
    result: type[Found_co]
    ends_with_environment: bool = False  # about one environment: pointless after its removal

    def pack(self, result: Struct) -> dict[str, object]:
        """The result as fields of `Result`."""
        if not isinstance(result, self.result):
            raise TypeError(f"{self.kind} results in {self.result.__name__}, not in {type(result).__name__}")
        packed = {field.name: getattr(result, field.name) for field in fields(result)}
        known = {name: value for name, value in packed.items() if name in Result.__struct_fields__}
        found = {name: msgspec.to_builtins(value) for name, value in packed.items() if name not in known}
        return known | ({"found": found} if found else {})

    def unpack(self, result: Result | None) -> Found_co | None:
        """The result in a node's answer; none if a required field is missing, or a field is of another type."""
        with suppress(msgspec.ValidationError):
            return self._unpack(result)
        return None

    def _unpack(self, result: Result | None) -> Found_co | None:
        values: dict[str, object] = {}
        for field in fields(self.result):
            if field.name in Result.__struct_fields__:
                value = getattr(result, field.name) if result else None
            elif result and field.name in result.found:
                value = msgspec.convert(result.found[field.name], field.type)
            else:
                value = None
            if value is not None:
                values[field.name] = value
            elif field.default is NODEFAULT and field.default_factory is NODEFAULT:
                return None
        return self.result(**values)


ENSURE = TaskContract(kind=TaskKind.ENSURE, wants=EnsureEnvironment, result=Made, ends_with_environment=True)
REMOVE = TaskContract(kind=TaskKind.REMOVE, wants=RemoveEnvironment, result=Removed, ends_with_environment=True)
REMOVE_UNKNOWN = TaskContract(kind=TaskKind.REMOVE_UNKNOWN, wants=RemoveUnknown, result=Removed)
INSTALL_KEYS = TaskContract(kind=TaskKind.INSTALL_KEYS, wants=InstallKeys, result=Changed, ends_with_environment=True)
END_SESSION = TaskContract(kind=TaskKind.END_SESSION, wants=EndSession, result=Nothing, ends_with_environment=True)
STAGE_RUNTIME = TaskContract(kind=TaskKind.STAGE_RUNTIME, wants=StageRuntime, result=Staged)
UNSTAGE_RUNTIME = TaskContract(kind=TaskKind.UNSTAGE_RUNTIME, wants=UnstageRuntime, result=Removed)
WRITE_RUNTIME = TaskContract(
    kind=TaskKind.WRITE_RUNTIME, wants=WriteRuntime, result=Changed, ends_with_environment=True
)
VOLUME_ENSURE = TaskContract(kind=TaskKind.VOLUME_ENSURE, wants=EnsureVolume, result=Measured)
VOLUME_DELETE = TaskContract(kind=TaskKind.VOLUME_DELETE, wants=DeleteVolume, result=Removed)
VOLUME_REMOVE_UNKNOWN = TaskContract(kind=TaskKind.VOLUME_REMOVE_UNKNOWN, wants=RemoveUnknownVolume, result=Removed)
VOLUME_MEASURE = TaskContract(kind=TaskKind.VOLUME_MEASURE, wants=MeasureVolume, result=Measured)
VOLUME_SNAPSHOT = TaskContract(kind=TaskKind.VOLUME_SNAPSHOT, wants=SnapshotVolume, result=Copied)
VOLUME_ATTACH = TaskContract(
    kind=TaskKind.VOLUME_ATTACH, wants=AttachVolumeTo, result=Nothing, ends_with_environment=True
)
VOLUME_DETACH = TaskContract(
    kind=TaskKind.VOLUME_DETACH, wants=DetachVolumeFrom, result=Detached, ends_with_environment=True
)
STORAGE_CONFORMANCE = TaskContract(kind=TaskKind.STORAGE_CONFORMANCE, wants=ConformStorage, result=Tried)

CONTRACTS: dict[str, TaskContract[Struct, Struct]] = {
    contract.kind: contract
    for contract in (
        ENSURE,
        REMOVE,
        REMOVE_UNKNOWN,
        INSTALL_KEYS,
        END_SESSION,
        STAGE_RUNTIME,
        UNSTAGE_RUNTIME,
        WRITE_RUNTIME,
        VOLUME_ENSURE,
        VOLUME_DELETE,
        VOLUME_REMOVE_UNKNOWN,
        VOLUME_MEASURE,
        VOLUME_SNAPSHOT,
        VOLUME_ATTACH,
        VOLUME_DETACH,
        STORAGE_CONFORMANCE,
    )
}
