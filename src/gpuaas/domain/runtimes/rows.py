"""Rows of bundles, of stagings on nodes, and of runtimes of allocations."""

from datetime import datetime

from msgspec import Struct

from gpuaas.domain.runtimes.compatibility import Declared
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import Subject
from gpuaas.wire.allocations import Status
from gpuaas.wire.runtimes import (
    INSTALL_ROOT,
    BundleState,
    ChosenBundle,
    Recipe,
    RuntimeBundle,
    RuntimeFamily,
    RuntimeState,
    RuntimeSummary,
    StagingStatus,
    SupportLevel,
)


class BundleRow(Struct, frozen=True, kw_only=True):
    id: str
    slug: str
    version: str
    product_name: str
    vendor: str
    runtime_family: RuntimeFamily
    gpu_families: list[str]
    driver_min: str | None
    driver_max: str | None
    support_level: SupportLevel
    state: BundleState
    digest: str
    python: str
    distribution: str | None
    published_at: datetime

    @property
    def name(self) -> str:
        return f"{self.slug} {self.version}"

    @property
    def needs(self) -> Declared:
        return Declared(**{field: getattr(self, field) for field in Declared.__struct_fields__})

    def view(self) -> RuntimeBundle:
        shared = (field for field in RuntimeBundle.__struct_fields__ if field in BundleRow.__struct_fields__)
        return RuntimeBundle(
            **{field: getattr(self, field) for field in shared},
            install_path=f"{INSTALL_ROOT}/{self.slug}/{self.version}",
        )


class StagingRow(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    bundle_id: str
    status: StagingStatus
    status_since: datetime
    reason: str
    operation_id: str
    manifest: str
    checked_at: datetime | None


class RuntimeRow(Struct, frozen=True, kw_only=True):
    allocation_id: str
    tenant_id: str
    project_id: str
    bundle_id: str | None
    state: RuntimeState
    reason: str
    operation_id: str
    asked_at: datetime
    wants_check: bool
    version: int
    observed_bundle_id: str | None
    previous_bundle_id: str | None
    observed_boot: int
    last_applied_at: datetime | None

    @property
    def subject(self) -> Subject:
        return Subject(kind="allocation", id=self.allocation_id, tenant_id=self.tenant_id, project_id=self.project_id)


class Shown(Struct, frozen=True, kw_only=True):
    """A runtime with the bundles that it names."""

    row: RuntimeRow
    bundle: ChosenBundle | None
    observed_bundle: ChosenBundle | None
    previous_bundle: ChosenBundle | None
    staging: StagingStatus | None
    health: str | None = None  # of the active bundle, on the allocation's node
    checked_at: datetime | None = None

    @property
    def summary(self) -> RuntimeSummary:
        return RuntimeSummary(state=self.row.state, bundle=self.bundle, last_applied_at=self.row.last_applied_at)


class Seen(Struct, frozen=True, kw_only=True):
    """The facts for a decision about an allocation's runtime."""

    row: RuntimeRow
    status: Status
    boot: int
    allocation_version: int
    node_id: str
    bundle: BundleRow | None
    staging: StagingRow | None
    is_staging_busy: bool
    task: TaskRow | None  # the newest of the lane


class SeenStaging(Struct, frozen=True, kw_only=True):
    row: StagingRow
    bundle: BundleRow
    recipe: Recipe
    task: TaskRow | None
    is_busy: bool  # its operation runs: staging, or a check of its files
    is_check_due: bool
