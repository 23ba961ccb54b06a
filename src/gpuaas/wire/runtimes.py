"""Managed runtime bundles: published by operators, staged per node, chosen per allocation."""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from gpuaas.wire.common import Dated, Moment, Name, Reason, Reference, Title
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.timeline import LogLine, Phase

INSTALL_ROOT = "/opt/gpuaas/runtimes"
DESCRIPTORS = "/etc/gpuaas/runtime/allocations"
STATEMENT = (
    "Managed bundles are supported and observable; environments installed by hand over SSH are allowed"
    " but not platform-managed."
)
NOT_STAGED = "not_staged"  # the node's reason if it does not have the bundle
IN_USE = "it is in use on this node"

# A version begins with a digit, so none can be `current`.
BundleVersion = Annotated[
    str, Meta(min_length=1, max_length=63, pattern=r"^[0-9][0-9A-Za-z._-]*$(?!\n)", description="such as 2.13.0-cpu")
]
DriverVersion = Annotated[str, Meta(min_length=1, max_length=32, pattern=r"^[0-9]+(\.[0-9]+)*$(?!\n)")]
Distribution = Annotated[
    str, Meta(max_length=64, pattern=r"^[a-z0-9]+-[a-z0-9.]+$(?!\n)", description="such as debian-12")
]
Family = Annotated[str, Meta(min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_-]*$(?!\n)")]


class RuntimeFamily(StrEnum):
    CUDA = "cuda"
    ROCM = "rocm"
    CPU = "cpu"


class SupportLevel(StrEnum):
    SUPPORTED = "supported"
    PREVIEW = "preview"


class BundleState(StrEnum):
    """`deprecated`: still applied when named exactly. `retired`: allocations that use it keep it, others cannot apply
    it.
    """

    PUBLISHED = "published"
    DEPRECATED = "deprecated"
    RETIRED = "retired"


class Requirement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One locked package: exactly this version, and only files with one of these checksums."""

    name: Annotated[str, Meta(max_length=100, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$(?!\n)")]
    version: Annotated[str, Meta(max_length=64, pattern=r"^[0-9A-Za-z][0-9A-Za-z.!+_-]*$(?!\n)")]
    sha256: Annotated[list[Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]], Meta(min_length=1, max_length=100)]


class Recipe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to build a bundle, reproducibly: Python of the base image, locked wheels, and a command that proves that it
    works.

    The digest covers only the fields that are present: a field that is left out does not change it.
    """

    python: Annotated[str, Meta(max_length=8, pattern=r"^3\.[0-9]+$(?!\n)")]
    requirements: Annotated[list[Requirement], Meta(min_length=1, max_length=500)]
    check: Annotated[list[Annotated[str, Meta(min_length=1, max_length=2000)]], Meta(min_length=1, max_length=20)]
    distribution: Distribution | None = None  # of the base image; None: any


def digest_of(recipe: Recipe) -> str:
    return "sha256:" + hashlib.sha256(msgspec.json.encode(recipe, order="deterministic")).hexdigest()


class PublishRuntimeBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    product_name: Title
    slug: Name
    version: BundleVersion
    vendor: Title
    runtime_family: RuntimeFamily
    recipe: Recipe
    gpu_families: Annotated[list[Family], Meta(max_length=50)] = []  # empty: any
    driver_min: DriverVersion | None = None
    driver_max: DriverVersion | None = None
    support_level: SupportLevel = SupportLevel.SUPPORTED


class Compatibility(Struct, frozen=True, kw_only=True):
    """From the observed facts of the node; with the reason if it does not fit."""

    compatible: bool
    reason: str
    staged: bool  # ready on the allocation's node, or on every fitting node of a SKU: applying it is instant


class RuntimeBundle(Struct, frozen=True, kw_only=True):
    id: str
    product_name: str
    slug: str
    version: str
    vendor: str
    runtime_family: RuntimeFamily
    gpu_families: list[str]
    driver_min: str | None
    driver_max: str | None
    support_level: SupportLevel
    state: BundleState
    digest: str
    install_path: str
    published_at: datetime
    python: str = ""  # that the base image of an allocation must have
    distribution: str | None = None  # None: any
    compatibility: Compatibility | None = None  # if requested with an allocation or a SKU


class RuntimeBundleDetail(Struct, frozen=True, kw_only=True):
    """A bundle with its recipe, for operators."""

    bundle: RuntimeBundle
    recipe: Recipe


class ChangeRuntimeBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class StageRuntimeBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """On these nodes, or without names on every active node that it fits."""

    node_ids: Annotated[list[Reference], Meta(max_length=1000)] = []


class StagingStatus(StrEnum):
    STAGING = "staging"
    STAGED = "staged"
    FAILED = "failed"
    REMOVING = "removing"
    REMOVED = "removed"


class Staging(Struct, frozen=True, kw_only=True):
    """One bundle on one node: being staged, staged, or not, with the reason."""

    id: str
    bundle_id: str
    node_id: str
    node_name: str
    status: StagingStatus
    status_since: datetime
    reason: str
    operation_id: str
    health: str  # the output of the check, as evidence
    files: int
    bytes: int
    staged_at: datetime | None
    checked_at: datetime | None  # when every file was last compared with its checksum
    drift: list[str]  # files that the last check found changed, and repaired
    in_use: int  # allocations that use it, or may roll back to it
    distribution: str = ""  # of the base image in which it was built and checked; empty: not recorded
    proofs: list[ProofItem] = []  # of a removal: what was looked for, and not found


class StagingDetail(Struct, frozen=True, kw_only=True):
    staging: Staging
    phases: list[Phase]
    logs: list[LogLine]  # the newest, oldest first


class StartedStagings(Struct, frozen=True, kw_only=True):
    stagings: list[Staging]


# On an allocation -------------------------------------------------------------------------------------------------


class RuntimeState(StrEnum):
    APPLYING = "applying"
    APPLIED = "applied"
    FAILED = "failed"
    CLEARING = "clearing"
    CLEARED = "cleared"


class RuntimeAction(StrEnum):
    APPLY = "apply"  # also switches
    UPGRADE = "upgrade"
    ROLL_BACK = "roll_back"
    REPAIR = "repair"


class ApplyRuntimeBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`apply` names a bundle by slug (the newest supported one that fits) or exactly; the other actions name none."""

    action: RuntimeAction = RuntimeAction.APPLY
    runtime_bundle_slug: Reference | None = None
    runtime_bundle_id: Reference | None = None
    version: BundleVersion | None = None
    reason: Reason = ""


class ChosenBundle(Struct, frozen=True, kw_only=True):
    id: str
    slug: str
    version: str
    product_name: str


class RuntimeSummary(Struct, frozen=True, kw_only=True):
    """The part that an allocation shows."""

    state: RuntimeState
    bundle: ChosenBundle | None
    last_applied_at: datetime | None


class AllocationRuntime(Struct, frozen=True, kw_only=True):
    """The desired runtime of an allocation, the observed one, and its history; without a bundle there is no runtime."""

    allocation_id: str
    state: RuntimeState
    bundle: ChosenBundle | None  # desired
    observed_bundle: ChosenBundle | None  # last observed as active
    previous_bundle: ChosenBundle | None  # the target of a roll back
    observed_boot: int
    last_applied_at: datetime | None
    reason: str
    operation_id: str | None
    staging: StagingStatus | None  # of the desired bundle, on this node
    activate: str | None  # the command to type inside
    descriptor: str
    health: str = ""  # the output of the active bundle's check on this node, as evidence
    checked_at: datetime | None = None  # when its files were last compared with their checksums
    statement: str = STATEMENT


# On a node --------------------------------------------------------------------------------------------------------


class BundleSpec(Struct, frozen=True, kw_only=True):
    """The bundle that a node builds; `digest` is that of the recipe."""

    id: str
    slug: Name
    version: BundleVersion
    digest: str
    recipe: Recipe


class StagedBundle(Dated, frozen=True, kw_only=True):
    """A staged bundle on a node, with proof: its check ran, and its files were counted and summed."""

    slug: str
    version: str
    digest: str
    manifest: str  # checksum of the list of checksums
    health: str
    files: int
    bytes: int
    staged_at: Moment
    drift: list[str] = []  # what a check found changed and repaired
    distribution: str = ""  # of the base image in which it was built and checked; empty: not recorded
    python: str = ""


class RuntimeDescriptor(Struct, frozen=True, kw_only=True):
    """The bundle of one allocation."""

    bundle_id: str
    slug: Name
    version: BundleVersion
    digest: str
    runtime_family: RuntimeFamily

    @property
    def root(self) -> str:
        return f"{INSTALL_ROOT}/{self.slug}/{self.version}"
