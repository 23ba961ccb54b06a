"""For operators: the fleet, all allocations, the work loop."""

from gpuaas.sdk.accounts import AdminAccounts
from gpuaas.sdk.audit import AdminAudit
from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.quotas import AdminQuotas
from gpuaas.sdk.requests import Repeat, Request, delete, get, path, post, put
from gpuaas.sdk.runtimes import AdminRuntimes
from gpuaas.wire.allocations import (
    Allocation,
    FleetFilter,
    ForceCleanup,
    InspectedAllocation,
    ReleaseAllocation,
    Status,
)
from gpuaas.wire.capacity import ChangeNode, ChangeSlot, CreateEnrolmentToken, EnrolmentToken, Node, SetOvercommit, Slot
from gpuaas.wire.common import Page
from gpuaas.wire.invariants import Invariant
from gpuaas.wire.overview import Overview
from gpuaas.wire.storage import Volume
from gpuaas.wire.task_keys import RetireTaskKey, RotateTaskKey, TaskKey
from gpuaas.wire.terminals import BreakGlassOpened, OpenBreakGlass
from gpuaas.wire.timeline import Operation, OperationStatus
from gpuaas.wire.unknown_environments import AdoptEnvironment, RemoveUnknownEnvironment, UnknownEnvironment
from gpuaas.wire.unknown_volumes import AdoptVolume, RemoveVolume, UnknownVolume
from gpuaas.wire.work import SwitchWorker, WorkerStatus


class AdminNodes(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Node]]:
        return get(path("admin", "nodes"), Page[Node], limit=limit)

    @Call
    def get(self, id: str) -> Request[Node]:
        return get(path("admin", "nodes", id), Node)

    @Call
    def drain(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """Takes no new allocations; those it has live on."""
        return change_node(id, "drain", reason, idempotency_key)

    @Call
    def undrain(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        return change_node(id, "undrain", reason, idempotency_key)

    @Call
    def quarantine(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        return change_node(id, "quarantine", reason, idempotency_key)

    @Call
    def unquarantine(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        return change_node(id, "unquarantine", reason, idempotency_key)

    @Call
    def retire(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        return change_node(id, "retire", reason, idempotency_key)

    @Call
    def lost(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """The machine is gone for good and can prove nothing: its allocations end as failed."""
        return change_node(id, "lost", reason, idempotency_key)

    @Call
    def rotate_key(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[EnrolmentToken]:
        """A token with which the node changes its key, minutes long, shown once."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "rotate-key"), EnrolmentToken, body, key=idempotency_key)

    @Call
    def set_disk_overcommit(
        self, id: str, overcommit: float, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Node]:
        """How much disk the node sells for each GiB that it has; 1 sells no more than there is."""
        body = SetOvercommit(overcommit=overcommit, reason=reason)
        return put(path("admin", "nodes", id, "disk-overcommit"), Node, body, key=idempotency_key)

    @Call
    def create_enrolment_token(
        self,
        node_name: str,
        *,
        region: str = "local",
        ttl_seconds: int = 300,
        idempotency_key: str | None = None,
    ) -> Request[EnrolmentToken]:
        """For one node, minutes long, shown once."""
        body = CreateEnrolmentToken(node_name=node_name, region=region, ttl_seconds=ttl_seconds)
        return post(path("admin", "enrolment-tokens"), EnrolmentToken, body, key=idempotency_key)


class AdminSlots(Noun[R_co]):
    @Listing
    def list(self, node_id: str, *, limit: int | None = None) -> Request[Page[Slot]]:
        return get(path("admin", "nodes", node_id, "slots"), Page[Slot], limit=limit)

    @Call
    def approve(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        """Only approved slots are sold."""
        return change_slot(node_id, index, "approve", reason, idempotency_key)

    @Call
    def disable(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        return change_slot(node_id, index, "disable", reason, idempotency_key)

    @Call
    def enable(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        return change_slot(node_id, index, "enable", reason, idempotency_key)


class AdminUnknownEnvironments(Noun[R_co]):
    """Environments on nodes that the database does not know; each holds its devices."""

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[UnknownEnvironment]]:
        return get(path("admin", "unknown-environments"), Page[UnknownEnvironment], limit=limit)

    @Listing
    def list_of_node(self, node_id: str, *, limit: int | None = None) -> Request[Page[UnknownEnvironment]]:
        route = path("admin", "nodes", node_id, "unknown-environments")
        return get(route, Page[UnknownEnvironment], limit=limit)

    @Call
    def adopt(
        self,
        node_id: str,
        environment_id: str,
        *,
        reason: str,
        holder_id: str | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Restore the allocation that its ownership record names."""
        body = AdoptEnvironment(reason=reason, holder_id=holder_id, name=name)
        route = path("admin", "nodes", node_id, "unknown-environments", environment_id, "adopt")
        return post(route, Allocation, body, key=idempotency_key)

    @Call
    def remove(
        self, node_id: str, environment_id: str, *, confirm: str, reason: str, idempotency_key: str | None = None
    ) -> Request[UnknownEnvironment]:
        """Destroy it on its node; `confirm` repeats its id."""
        body = RemoveUnknownEnvironment(confirm=confirm, reason=reason)
        route = path("admin", "nodes", node_id, "unknown-environments", environment_id, "remove")
        return post(route, UnknownEnvironment, body, key=idempotency_key)


class AdminUnknownVolumes(Noun[R_co]):
    """Volumes on nodes and shared storage that the database does not know; their data is kept."""

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[UnknownVolume]]:
        return get(path("admin", "unknown-volumes"), Page[UnknownVolume], limit=limit)

    @Listing
    def list_of_node(self, node_id: str, *, limit: int | None = None) -> Request[Page[UnknownVolume]]:
        return get(path("admin", "nodes", node_id, "unknown-volumes"), Page[UnknownVolume], limit=limit)

    @Call
    def get(self, node_id: str, volume_id: str) -> Request[UnknownVolume]:
        return get(path("admin", "nodes", node_id, "unknown-volumes", volume_id), UnknownVolume)

    @Call
    def adopt(
        self,
        node_id: str,
        volume_id: str,
        *,
        reason: str,
        name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Volume]:
        """Restore the volume that its ownership record names."""
        body = AdoptVolume(reason=reason, name=name)
        route = path("admin", "nodes", node_id, "unknown-volumes", volume_id, "adopt")
        return post(route, Volume, body, key=idempotency_key)

    @Call
    def remove(
        self, node_id: str, volume_id: str, *, confirm: str, reason: str, idempotency_key: str | None = None
    ) -> Request[UnknownVolume]:
        """Erase its data; `confirm` repeats its id."""
        body = RemoveVolume(confirm=confirm, reason=reason)
        route = path("admin", "nodes", node_id, "unknown-volumes", volume_id, "remove")
        return post(route, UnknownVolume, body, key=idempotency_key)


class AdminAllocations(Noun[R_co]):
    @Listing
    def list(
        self,
        *,
        status: Status | None = None,
        node_id: str | None = None,
        only: FleetFilter | None = None,
        limit: int | None = None,
    ) -> Request[Page[Allocation]]:
        route = path("admin", "allocations")
        return get(route, Page[Allocation], status=status, node_id=node_id, only=only, limit=limit)

    @Call
    def inspect(self, id: str) -> Request[InspectedAllocation]:
        """With its timeline, its node's tasks and its proofs, in full."""
        return get(path("admin", "allocations", id), InspectedAllocation)

    @Call
    def force_release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        route = path("admin", "allocations", id, "force-release")
        return post(route, Allocation, ReleaseAllocation(reason=reason), key=idempotency_key)

    @Call
    def force_cleanup(
        self, id: str, *, runtime_verified_absent: bool, reason: str, idempotency_key: str | None = None
    ) -> Request[Allocation]:
        """An operator looked at the node; only `runtime_verified_absent` frees the slots."""
        body = ForceCleanup(runtime_verified_absent=runtime_verified_absent, reason=reason)
        return post(path("admin", "allocations", id, "force-cleanup"), Allocation, body, key=idempotency_key)

    @Call
    def break_glass(
        self, id: str, *, reason: str, minutes: int = 60, session_id: str | None = None
    ) -> Request[BreakGlassOpened]:
        """A token for one recorded terminal on somebody's allocation; its people see the reason."""
        body = OpenBreakGlass(reason=reason, minutes=minutes, session_id=session_id)
        route = path("admin", "allocations", id, "break-glass")
        return Request(method="POST", path=route, answer=BreakGlassOpened, body=body, repeat=Repeat.NEVER)

    @Call
    def end_break_glass(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Ends all break-glass access to it; terminals are closed."""
        return delete(path("admin", "allocations", id, "break-glass"), key=idempotency_key)


class AdminWorkers(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[WorkerStatus]]:
        return get(path("admin", "workers"), Page[WorkerStatus], limit=limit)

    @Call
    def disable(self, worker: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[WorkerStatus]:
        """Break glass: the worker stops claiming until it is enabled again."""
        route = path("admin", "workers", worker, "disable")
        return post(route, WorkerStatus, SwitchWorker(reason=reason), key=idempotency_key)

    @Call
    def enable(self, worker: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[WorkerStatus]:
        route = path("admin", "workers", worker, "enable")
        return post(route, WorkerStatus, SwitchWorker(reason=reason), key=idempotency_key)


class AdminOperations(Noun[R_co]):
    @Listing
    def list(
        self,
        *,
        status: OperationStatus | None = None,
        kind: str | None = None,
        node_id: str | None = None,
        project_id: str | None = None,
        subject_id: str | None = None,
        limit: int | None = None,
    ) -> Request[Page[Operation]]:
        """Of the whole fleet, newest first, staging included."""
        wanted = {"status": status, "kind": kind, "node_id": node_id, "project_id": project_id}
        return get(path("admin", "operations"), Page[Operation], **wanted, subject_id=subject_id, limit=limit)

    @Call
    def get(self, id: str) -> Request[Operation]:
        """Any operation with its phases and how long each took."""
        return get(path("admin", "operations", id), Operation)


class AdminTaskKeys(Noun[R_co]):
    @Listing
    def list(self) -> Request[Page[TaskKey]]:
        """Every generation of the keys that sign node tasks, newest first, with the nodes that do not trust it yet."""
        return get(path("admin", "task-keys"), Page[TaskKey])

    @Call
    def rotate(self, *, reason: str = "", idempotency_key: str | None = None) -> Request[TaskKey]:
        """Start a new generation; nodes accept it over their links."""
        return post(path("admin", "task-keys"), TaskKey, RotateTaskKey(reason=reason), key=idempotency_key)

    @Call
    def retire(
        self, generation: int, *, reason: str, force: bool = False, idempotency_key: str | None = None
    ) -> Request[TaskKey]:
        """End this generation and every older one; `force` cuts off nodes that trust no newer one."""
        body = RetireTaskKey(reason=reason, force=force)
        return post(path("admin", "task-keys", generation, "retire"), TaskKey, body, key=idempotency_key)


class Admin(Noun[R_co]):
    def __init__(self, runner: R_co) -> None:
        super().__init__(runner)
        self.nodes = AdminNodes(runner)
        self.slots = AdminSlots(runner)
        self.allocations = AdminAllocations(runner)
        self.operations = AdminOperations(runner)
        self.unknown_environments = AdminUnknownEnvironments(runner)
        self.unknown_volumes = AdminUnknownVolumes(runner)
        self.workers = AdminWorkers(runner)
        self.task_keys = AdminTaskKeys(runner)
        self.runtimes = AdminRuntimes(runner)
        self.quotas = AdminQuotas(runner)
        self.accounts = AdminAccounts(runner)
        self.audit = AdminAudit(runner)

    @Call
    def overview(self) -> Request[Overview]:
        """What waits, what fails, how fast it answers, what the fleet has."""
        return get(path("admin", "overview"), Overview)

    @Listing
    def invariants(self, *, limit: int | None = None) -> Request[Page[Invariant]]:
        """What the running system is checked for, with the violations found."""
        return get(path("admin", "invariants"), Page[Invariant], limit=limit)


def change_node(id: str, verb: str, reason: str, key: str | None) -> Request[Node]:
    return post(path("admin", "nodes", id, verb), Node, ChangeNode(reason=reason), key=key)


def change_slot(node_id: str, index: int, verb: str, reason: str, key: str | None) -> Request[Slot]:
    return post(path("admin", "nodes", node_id, "slots", index, verb), Slot, ChangeSlot(reason=reason), key=key)
