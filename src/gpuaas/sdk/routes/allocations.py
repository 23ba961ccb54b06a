"""Routes of allocations. Generated from the OpenAPI description by `make sdk`; do not edit."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import UNSET, UnsetType

from gpuaas.sdk.methods import Call, Following, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, given, once, path, post, put
from gpuaas.wire.access import AllocationKeys, AllowOwnKeys, HandOver, SetSshKeys
from gpuaas.wire.allocations import (
    Allocation,
    Consequences,
    CreateAllocation,
    Disruption,
    ExtendAllocation,
    LimitsNow,
    ReleaseAllocation,
    ResizeAllocation,
    RestartAllocation,
    Status,
    SubmittedAllocations,
)
from gpuaas.wire.common import Page
from gpuaas.wire.metrics import AllocationHealth, Metrics
from gpuaas.wire.sessions import EndedSession, LiveSessions
from gpuaas.wire.storage import LaunchAttachment
from gpuaas.wire.terminals import BreakGlass, MintTerminalToken, Terminal, TerminalToken
from gpuaas.wire.timeline import Entry, LogLine
from gpuaas.wire.usage import AllocationUsage


class AllocationsRoutes(Resource[R_co]):
    @Call
    def allow_own_keys(self, id: str, *, allowed: bool, idempotency_key: str | None = None) -> Request[AllocationKeys]:
        """Allow or refuse keys of the allocation's own ~/.ssh/authorized_keys. The platform does not know whose keys
        these are. Allowing needs a login; a personal token can only refuse."""
        body = AllowOwnKeys(allowed=allowed)
        return put(path("allocations", id, "own-keys"), AllocationKeys, body, key=idempotency_key)

    @Listing
    def break_glass(self, id: str, *, limit: int | None = None) -> Request[Page[BreakGlass]]:
        """The operators who had or have access to this allocation, with their reasons."""
        return get(path("allocations", id, "break-glass"), Page[BreakGlass], limit=limit)

    @Call
    def consequences(self, id: str, of: Disruption) -> Request[Consequences]:
        """List the consequences of a release, restart or resize: what ends, and what is kept."""
        return get(path("allocations", id, "consequences"), Consequences, of=of)

    @Call
    def create(
        self,
        sku: str,
        ssh_key_ids: Iterable[str],
        *,
        project_id: str | None = None,
        name: str | None = None,
        gpu_count: int = 1,
        size: str | None = None,
        count: int = 1,
        region: str | None = None,
        expires_at: datetime | None = None,
        idle_minutes: int | None = None,
        runtime_bundle_slug: str | None = None,
        runtime_bundle_id: str | None = None,
        storage_attachments: Iterable[LaunchAttachment] = (),
        idempotency_key: str | None = None,
    ) -> Request[SubmittedAllocations]:
        """Create an allocation, or several as a group, all or none. The timeline shows the progress."""
        body = CreateAllocation(
            sku=sku,
            ssh_key_ids=[*ssh_key_ids],
            project_id=project_id,
            name=name,
            gpu_count=gpu_count,
            size=size,
            count=count,
            region=region,
            expires_at=expires_at,
            idle_minutes=idle_minutes,
            runtime_bundle_slug=runtime_bundle_slug,
            runtime_bundle_id=runtime_bundle_id,
            storage_attachments=[*storage_attachments],
        )
        return post(path("allocations"), SubmittedAllocations, body, key=idempotency_key)

    @Call
    def end_break_glass(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """End all access of operators to this allocation; their terminals are closed."""
        return delete(path("allocations", id, "break-glass"), type(None), idempotency_key)

    @Call
    def end_session(
        self, id: str, session_id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[EndedSession]:
        """End one connection; its person sees the reason. Their key still gives access: revoke the grant to end
        that."""
        return delete(path("allocations", id, "sessions", session_id), EndedSession, idempotency_key, reason=reason)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """The timeline of an allocation from its beginning, then as it happens; resume with Last-Event-ID."""
        return get(path("allocations", id, "events"), Entry)

    @Call
    def extend(
        self,
        id: str,
        *,
        hours: float | UnsetType | None = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        idle_minutes: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Change when the allocation ends automatically: its end time, its idle limit, or remove both."""
        body = ExtendAllocation(hours=given(hours), expires_at=expires_at, idle_minutes=idle_minutes)
        return post(path("allocations", id, "extend"), Allocation, body, key=idempotency_key)

    @Call
    def get(self, id: str) -> Request[Allocation]:
        """One allocation, as observed."""
        return get(path("allocations", id), Allocation)

    @Call
    def hand_over(
        self,
        id: str,
        user_id: str,
        *,
        ssh_key_ids: Iterable[str] = (),
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Make another project member the holder, with keys of that person; the environment is not changed."""
        body = HandOver(user_id=user_id, ssh_key_ids=[*ssh_key_ids], reason=reason)
        return post(path("allocations", id, "handover"), Allocation, body, key=idempotency_key)

    @Call
    def health(self, id: str) -> Request[AllocationHealth]:
        """The health of the allocation with reasons, times and next steps."""
        return get(path("allocations", id, "health"), AllocationHealth)

    @Call
    def limits(self, id: str) -> Request[LimitsNow]:
        """When the allocation ends automatically, with the time left and every signal of use."""
        return get(path("allocations", id, "limits"), LimitsNow)

    @Listing
    def list(
        self, project_id: str, *, status: Status | None = None, name: str | None = None, limit: int | None = None
    ) -> Request[Page[Allocation]]:
        """The project's allocations, including released and failed ones."""
        return get(path("projects", project_id, "allocations"), Page[Allocation], status=status, name=name, limit=limit)

    @Listing
    def logs(self, id: str, *, limit: int | None = None) -> Request[Page[LogLine]]:
        """The log lines of an allocation's operations, newest first. With `follow`: as server-sent events without
        end."""
        return get(path("allocations", id, "logs"), Page[LogLine], limit=limit)

    @Following
    def follow_logs(self, id: str) -> Request[LogLine]:
        """The log lines of an allocation's operations, newest first. With `follow`: as server-sent events without
        end."""
        return get(path("allocations", id, "logs"), LogLine, follow="true")

    @Call
    def metrics(self, id: str, *, range: str = "1h", step: str | None = None) -> Request[Metrics]:
        """Metrics of the allocation, each series with its source and age, or the reason why it is unavailable. The
        resolution is ten seconds for the last hour, and a minute for the last day."""
        return get(path("allocations", id, "metrics"), Metrics, range=range, step=step)

    @Call
    def mint_terminal_token(
        self, id: str, *, session_id: str | None = None, record: bool = False
    ) -> Request[TerminalToken]:
        """Create a token for one terminal on this allocation: valid once and for 30 seconds, at most ten per minute."""
        body = MintTerminalToken(session_id=session_id, record=record)
        return once(post(path("allocations", id, "terminal-token"), TerminalToken, body))

    @Call
    def recording(self, id: str, terminal_id: str) -> Request[bytes]:
        """The output of a recorded terminal, byte for byte, as asciicast v2 (`asciinema play`)."""
        return get(path("allocations", id, "terminals", terminal_id, "recording"), bytes)

    @Call
    def release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Release the allocation: its root disk is erased, and billing stops now. Also retries a failed release."""
        body = ReleaseAllocation(reason=reason)
        return post(path("allocations", id, "release"), Allocation, body, key=idempotency_key)

    @Call
    def resize(
        self, id: str, gpu_count: int, *, size: str | None = None, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Allocation]:
        """Change the GPU count or size on the same node, with a restart. After a failed resize, the old size can be
        requested too."""
        body = ResizeAllocation(gpu_count=gpu_count, size=size, reason=reason)
        return post(path("allocations", id, "resize"), Allocation, body, key=idempotency_key)

    @Call
    def restart(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Reboot the environment; disk, address, keys, volumes and runtime stay. Also retries a failed restart."""
        body = RestartAllocation(reason=reason)
        return post(path("allocations", id, "restart"), Allocation, body, key=idempotency_key)

    @Call
    def sessions(self, id: str) -> Request[LiveSessions]:
        """Live connections with person, source, time and key, as last reported by the node, and the age of that
        report."""
        return get(path("allocations", id, "sessions"), LiveSessions)

    @Call
    def set_ssh_keys(
        self,
        id: str,
        ssh_key_ids: Iterable[str],
        *,
        confirm_no_way_in: bool = False,
        idempotency_key: str | None = None,
    ) -> Request[AllocationKeys]:
        """Change the holder's keys of a live allocation; connections of removed keys are closed. Removing the last
        key needs confirm_no_way_in."""
        body = SetSshKeys(ssh_key_ids=[*ssh_key_ids], confirm_no_way_in=confirm_no_way_in)
        return put(path("allocations", id, "ssh-keys"), AllocationKeys, body, key=idempotency_key)

    @Call
    def ssh_keys(self, id: str) -> Request[AllocationKeys]:
        """The keys that admit to this allocation, and whether the node has confirmed exactly these."""
        return get(path("allocations", id, "ssh-keys"), AllocationKeys)

    @Listing
    def terminals(self, id: str, *, limit: int | None = None) -> Request[Page[Terminal]]:
        """The browser terminals of this allocation, including those that ended."""
        return get(path("allocations", id, "terminals"), Page[Terminal], limit=limit)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """The timeline of the allocation, newest first: who, when, why."""
        return get(path("allocations", id, "timeline"), Page[Entry], limit=limit)

    @Call
    def usage(self, id: str) -> Request[AllocationUsage]:
        """The usage intervals with their rates, newest first, and the cost so far."""
        return get(path("allocations", id, "usage"), AllocationUsage)
