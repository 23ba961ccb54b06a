"""What an agent asks of an engine. Every verb names an end state and may be repeated, cancelled or cut by a crash."""

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
"""Called with (phase, note) when a phase begins; the agent passes it up as progress."""


class Telling(Protocol):
    """An OnPhase that also takes lines for whoever watches."""

    async def __call__(self, phase: str, note: str, /) -> None: ...

    def say(self, line: str) -> None: ...


class EngineError(Exception):
    """The end state was not reached; `reason` is safe to show to the person, the message is for operators."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class SampleFacet(Protocol):
    async def take(self, at: datetime) -> list[Sample]:
        """One look at every running environment: what it uses, by which source, or why that cannot be known."""


class Runtimes(Protocol):
    """Bundles staged on the node, and which of them each environment runs with."""

    async def stage(self, bundle: BundleSpec, tell: Telling, *, manifest: str = "") -> StagedBundle:
        """Here, checked and whole, beside all others; what was changed since is put right. Phases: preparing,
        downloading, installing, checking, staged. What fails leaves nothing."""

    async def unstage(self, slug: str, version: str, tell: Telling) -> list[ProofItem]:
        """Gone from the node, and looked for; refused with `IN_USE` while anybody there runs with it."""

    async def staged(self) -> list[StagedBundle]:
        """Every bundle that is whole as far as its record says; its files are not looked at."""

    async def write_descriptor(self, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        """This one is current in the environment from now on, or none is; what runs keeps what it has."""

    async def descriptor(self, allocation_id: str) -> RuntimeDescriptor | None:
        """What is current there."""


class Volumes(Protocol):
    """Data that outlives environments, on this node's disk or in the folder that all nodes share."""

    async def ensure(
        self,
        volume: VolumeRef,
        snapshot_id: str | None,
        on_phase: OnPhase,
        *,
        ownership: VolumeOwnership | None = None,
    ) -> VolumeObservation:
        """There, empty or from a snapshot; what is there already is left as it is, what was deleted stays so. The
        ownership record is on disk before the volume counts as made."""

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        """This is the record beside its data from now on."""

    async def present(self) -> list[PresentVolume]:
        """Every volume whose data is here, on either backend, without snapshots. Raises when it cannot look: an
        incomplete list would say that volumes are gone."""

    async def measure(self, volume: VolumeRef) -> VolumeObservation:
        """How much is used."""

    async def snapshot(self, volume: VolumeRef, snapshot_id: str, on_phase: OnPhase) -> tuple[int, str]:
        """A copy beside it: how large, and in words how consistent."""

    async def delete(self, volume: VolumeRef, on_phase: OnPhase) -> list[ProofItem]:
        """Its data is gone and was looked for."""

    async def conform(self, backend: Backend, on_phase: OnPhase) -> list[Check]:
        """Try what the backend promises, here and now."""


class Mounts(Protocol):
    """Volumes in running environments. What is mounted is seen in `Environment.mounts`."""

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        """Seen at its path in the running environment."""

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        """Gone from there, and in words how; refused while in use unless forced. Its data is never touched."""


class Images(Protocol):
    async def report(self) -> CurrentImage | None:
        """What a new environment starts from, now; None: the node has nothing to make one from."""


class Spares(Protocol):
    """Environments prepared in advance, which belong to nobody. `ensure` uses one that has the wanted form, once.
    No other verb knows them: `observe` does not list them, and they hold no device."""

    async def want(self, forms: Iterable[SpareForm]) -> None:
        """One spare of each form whose devices are free, and none of any other form, is what `keep` works towards."""

    async def keep(self) -> bool:
        """One step: remove a spare that is defective or not wanted, or make one that is missing. False when there is
        nothing to do. A failure is counted in the report and not raised."""

    async def report(self) -> SpareReport: ...


@dataclass(frozen=True)
class TerminalEnd:
    """How a terminal ended: the shell's exit code (negative for a signal), or why the engine ended it."""

    exit_code: int | None
    reason: str = ""


class EngineTerminal(Protocol):
    """A shell on a terminal inside."""

    descriptor: int
    """Read and written without blocking by whoever opened it; open until `close`."""

    memory: int
    """A file in memory that the engine keeps with the terminal for whoever reads it; -1: the engine keeps neither."""

    def resize(self, rows: int, cols: int) -> None:
        """As wide and high as the reader's window."""

    async def ended(self) -> TerminalEnd:
        """Wait for its end. What the shell wrote last may still be there to be read."""

    def close(self) -> None:
        """Hang up, and let go of the descriptor."""

    def leave(self) -> None:
        """Let go of the descriptor; an engine that keeps terminals gives it to the next agent."""


class EngineTerminals(Protocol):
    async def open(self, allocation_id: str, boot: int, name: str) -> EngineTerminal:
        """A login shell of the person's; refused unless the environment runs at this boot. `name`: of the server's."""

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        """Terminals that an earlier agent left: name, allocation, terminal. Each is given to one agent."""


class Engine(Protocol):
    name: str
    capabilities: Capabilities
    """Declared, reported with the facts of the node, and tried by the contract suite."""

    lacks: tuple[str, ...]
    """What the node lacks to make environments, found once at the start. An engine that lacks something observes and
    refuses every other verb."""

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
        """Adopt every environment that lives here and open its way in again."""

    async def close(self, *, stop_environments: bool) -> None:
        """Let go of listeners and sessions; environments live on unless told to stop."""

    async def probe(self) -> NodeFacts:
        """Facts of this node, each with how it was found."""

    async def changed_facts(self) -> dict[str, Fact]:
        """Those of `CHANGING_FACTS` that are not as they were at the start."""

    async def disk_space(self) -> DiskSpace:
        """Of the file system of root disks and node-bound volumes, now."""

    async def observe(self) -> list[Environment]:
        """Every environment that exists here, also stopped and broken ones.

        `stopped` and absence are claims that need proof: the server restarts what is stopped and gives up what is
        absent. An engine that cannot look at an environment says `unknown` with a reason in `detail`; one that cannot
        look at all raises. No verb takes a failed look for an environment that does not run."""

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        """Present, running at boot ≥ spec.boot, admitting spec.keys. Phases: preparing, booting, gpus_checked,
        access_ready; before booting again, gpus_reset. After a failure nothing runs and nobody can log in, unless the
        environment ran before and could not be looked at."""

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        """Nothing left; each kind of residue looked for, and its GPUs reset where that can be. Phases: sessions_ended,
        environment_removed, gpus_reset, cleaned."""

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        """Exactly these keys admit from now on, and connections of others are cut; an older generation than the one in
        force changes nothing."""

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        """The record of whose it is, kept with the environment and told by `observe`."""

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        """Keys admit for so long from this moment of the server's; see leases.py."""

    async def enforce(self) -> int:
        """Cut connections whose key no longer admits because time passed; how many were cut."""

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        """Who is in; None: on any environment here."""

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        """Cut this one, telling why; False when it is over already."""

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        """Cut the connections of these keys (None: all), telling each why; how many were cut."""
