"""The protocol of engines. Every method describes an end state and may be repeated, cancelled or interrupted."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gpuaas.engines.logins import Logins
from gpuaas.wire.environments import (
    Capabilities,
    Connection,
    DiskSpace,
    Environment,
    EnvironmentSpec,
    Fact,
    KeySet,
    NodeFacts,
    Ownership,
    ProofItem,
)
from gpuaas.wire.images import CurrentImage
from gpuaas.wire.link import HOLDER_LEASE_SECONDS
from gpuaas.wire.metrics import Sample
from gpuaas.wire.runtimes import BundleSpec, RuntimeDescriptor, StagedBundle
from gpuaas.wire.spares import SpareForm, SpareReport
from gpuaas.wire.storage import (
    Backend,
    Check,
    PresentVolume,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
    WantedMount,
)

OnPhase = Callable[[str, str], Awaitable[None]]
"""Called with (phase, note) when a phase begins; the agent reports it as progress."""


class Telling(Protocol):
    """An OnPhase that also accepts log lines."""

    async def __call__(self, phase: str, note: str, /) -> None: ...

    def say(self, line: str) -> None: ...


class EngineError(Exception):
    """The end state was not reached; `reason` may be shown to the person, the message is for operators."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class SampleFacet(Protocol):
    async def take(self, at: datetime) -> list[Sample]:
        """Measure every running environment: its use and the source, or why it is unknown."""


class Runtimes(Protocol):
    """Bundles staged on the node, and the current bundle of each environment."""

    async def stage(self, bundle: BundleSpec, tell: Telling, *, manifest: str = "") -> StagedBundle:
        """Stage and check a bundle; repair changed files. Phases: preparing, downloading, installing, checking, staged.
        A failure leaves no files."""

    async def unstage(self, slug: str, version: str, tell: Telling) -> list[ProofItem]:
        """Remove it from the node with proof; refused with `IN_USE` while an environment uses it."""

    async def staged(self) -> list[StagedBundle]:
        """Bundles that are complete according to their record; does not check files."""

    async def write_descriptor(self, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        """Make this bundle, or none, current in the environment; running processes keep theirs."""

    async def descriptor(self, allocation_id: str) -> RuntimeDescriptor | None:
        """The current bundle."""


class Volumes(Protocol):
    """Volumes: data that outlives environments, on this node's disk or in the folder shared by all nodes."""

    async def ensure(
        self,
        volume: VolumeRef,
        snapshot_id: str | None,
        on_phase: OnPhase,
        *,
        ownership: VolumeOwnership | None = None,
    ) -> VolumeObservation:
        """Create it empty or from a snapshot; an existing volume is unchanged, a deleted one stays deleted. The
        ownership record is on disk before the volume counts as created."""

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        """Replace the ownership record beside its data."""

    async def present(self) -> list[PresentVolume]:
        """Volumes with data on this node, on either backend, without snapshots. Raises if it cannot list them, because
        an incomplete list would report volumes as missing."""

    async def measure(self, volume: VolumeRef) -> VolumeObservation:
        """Measure its use."""

    async def snapshot(self, volume: VolumeRef, snapshot_id: str, on_phase: OnPhase) -> tuple[int, str]:
        """Copy it; return the size and a description of the consistency."""

    async def delete(self, volume: VolumeRef, on_phase: OnPhase) -> list[ProofItem]:
        """Delete its data with proof."""

    async def conform(self, backend: Backend, on_phase: OnPhase) -> list[Check]:
        """Test the guarantees of the backend on this node."""


class Mounts(Protocol):
    """Volumes in running environments. `Environment.mounts` shows them."""

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        """Mount it at its path in the running environment."""

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        """Unmount it and describe the result; refused while in use unless forced. Does not change its data."""


class Images(Protocol):
    async def report(self) -> CurrentImage | None:
        """The current base image; None if the node has none."""


class Spares(Protocol):
    """Environments prepared in advance, without a holder. `ensure` uses one with the requested form, once. Other
    methods ignore them: `observe` does not list them, and they hold no device."""

    async def want(self, forms: Iterable[SpareForm]) -> None:
        """Set the target of `keep`: one spare of each form whose devices are free, and none of other forms."""

    async def keep(self) -> bool:
        """One step: remove a defective or unwanted spare, or create a missing one. False if there is nothing to do. A
        failure is counted in the report and not raised."""

    async def report(self) -> SpareReport: ...


@dataclass(frozen=True)
class TerminalEnd:
    """How a terminal ended: exit code of the shell (negative for a signal), or why the engine ended it."""

    exit_code: int | None
    reason: str = ""


class EngineTerminal(Protocol):
    """A terminal with a shell inside."""

    descriptor: int
    """The opener reads and writes it without blocking; open until `close`."""

    memory: int
    """A file in memory that the engine keeps with the terminal for its reader; -1: the engine keeps neither."""

    def resize(self, rows: int, cols: int) -> None:
        """Set the size of the reader's window."""

    async def ended(self) -> TerminalEnd:
        """Wait for its end. Unread output may remain."""

    def close(self) -> None:
        """Hang up and close the descriptor."""

    def leave(self) -> None:
        """Close the descriptor; an engine that keeps terminals passes it to the next agent."""


class EngineTerminals(Protocol):
    async def open(self, allocation_id: str, boot: int, name: str) -> EngineTerminal:
        """Start a login shell; refused unless the environment runs at this boot. `name` comes from the server."""

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        """Terminals of a previous agent: name, allocation, terminal. Each is returned to one agent."""


class Engine(Protocol):
    name: str
    capabilities: Capabilities
    """Declared capabilities, reported with the facts of the node and tested by the contract suite."""

    lacks: tuple[str, ...]
    """Missing requirements of the node, checked once at the start. If any is missing, the engine observes only and
    refuses other methods."""

    @property
    def logins(self) -> Logins: ...

    @property
    def samples(self) -> SampleFacet: ...

    @property
    def runtimes(self) -> Runtimes: ...

    @property
    def volumes(self) -> Volumes: ...

    @property
    def mounts(self) -> Mounts: ...

    @property
    def terminals(self) -> EngineTerminals: ...

    @property
    def spares(self) -> Spares: ...

    @property
    def images(self) -> Images: ...

    async def start(self) -> None:
        """Adopt every running environment and accept its connections again."""

    async def close(self, *, stop_environments: bool) -> None:
        """Let go of listeners and sessions; environments live on unless told to stop."""

    async def probe(self) -> NodeFacts:
        """Facts of this node, each with its source."""

    async def changed_facts(self) -> dict[str, Fact]:
        """Facts among `CHANGING_FACTS` that have changed since the start."""

    async def disk_space(self) -> DiskSpace:
        """Current size and free space of the file system of root disks and node-bound volumes."""

    async def observe(self) -> list[Environment]:
        """All environments here, including stopped and broken ones.

        `stopped` and absence need proof: the server restarts stopped environments and gives up absent ones. If an
        environment cannot be observed, its state is `unknown` with a reason in `detail`; if none can be observed, this
        raises. A failed observation does not mean that an environment has stopped."""

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        """Run it at boot ≥ spec.boot with spec.keys. Phases: preparing, booting, gpus_checked, access_ready; before
        another boot, gpus_reset. After a failure nothing runs and nobody can log in, unless the environment ran before
        and could not be observed."""

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        """Remove it, check for each kind of leftover, and reset its GPUs if possible. Phases: sessions_ended,
        environment_removed, gpus_reset, cleaned."""

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        """Accept exactly these keys and close connections with others; an older generation than the current one changes
        nothing."""

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        """Store the ownership record with the environment; `observe` reports it."""

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        """Set the validity of keys from this server time; see leases.py."""

    async def enforce(self) -> int:
        """Close connections whose key has expired; return their number."""

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        """Open connections; None: of all environments here."""

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        """Close this connection with a reason; False if it has already ended."""

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        """Close the connections of these keys (None: all) with a reason; return their number."""
