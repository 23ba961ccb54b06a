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
        """Let keys of the machine's own ~/.ssh/authorized_keys in, or no more: nobody here knows whose they are.
        Allowing it needs a login; a personal token may only refuse it."""
        body = AllowOwnKeys(allowed=allowed)
        return put(path("allocations", id, "own-keys"), AllocationKeys, body, key=idempotency_key)

    @Listing
    def break_glass(self, id: str, *, limit: int | None = None) -> Request[Page[BreakGlass]]:
        """Which operators had or have access to this allocation, and why."""
        return get(path("allocations", id, "break-glass"), Page[BreakGlass], limit=limit)

    @Call
    def consequences(self, id: str, of: Disruption) -> Request[Consequences]:
        """What a release, restart or resize would end, and what it would leave."""
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
        """Ask for one machine, or for several as a group, all or nothing. Watch the timeline for progress."""
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
        """Cut one session, telling its person why. Their key still admits: revoke the grant to keep them out."""
        return delete(path("allocations", id, "sessions", session_id), EndedSession, idempotency_key, reason=reason)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """One allocation's timeline from its beginning, then as it happens; resume with Last-Event-ID."""
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
        """Change when the machine ends by itself: its time, its idle limit, or neither any more."""
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
        """Somebody else holds it from now on, with keys of their own; nothing inside is touched."""
        body = HandOver(user_id=user_id, ssh_key_ids=[*ssh_key_ids], reason=reason)
        return post(path("allocations", id, "handover"), Allocation, body, key=idempotency_key)

    @Call
    def health(self, id: str) -> Request[AllocationHealth]:
        """How it is, why, since when, and what to do next."""
        return get(path("allocations", id, "health"), AllocationHealth)

    @Call
    def limits(self, id: str) -> Request[LimitsNow]:
        """When it ends by itself, with the time left and every signal of use behind it."""
        return get(path("allocations", id, "limits"), LimitsNow)

    @Listing
    def list(
        self, project_id: str, *, status: Status | None = None, name: str | None = None, limit: int | None = None
    ) -> Request[Page[Allocation]]:
        """The project's allocations, also released and failed ones."""
        return get(path("projects", project_id, "allocations"), Page[Allocation], status=status, name=name, limit=limit)

    @Listing
    def logs(self, id: str, *, limit: int | None = None) -> Request[Page[LogLine]]:
        """What its node said in all its operations, newest first. With `follow` as server-sent events, until you go."""
        return get(path("allocations", id, "logs"), Page[LogLine], limit=limit)

    @Following
    def follow_logs(self, id: str) -> Request[LogLine]:
        """What its node said in all its operations, newest first. With `follow` as server-sent events, until you go."""
        return get(path("allocations", id, "logs"), LogLine, follow="true")

    @Call
    def metrics(self, id: str, *, range: str = "1h", step: str | None = None) -> Request[Metrics]:
        """What it uses, each series with its source and age; what cannot be known says why. Ten seconds fine for the
        last hour, a minute for the last day."""
        return get(path("allocations", id, "metrics"), Metrics, range=range, step=step)

    @Call
    def mint_terminal_token(
        self, id: str, *, session_id: str | None = None, record: bool = False
    ) -> Request[TerminalToken]:
        """A token for one terminal on this machine: for 30 seconds, once, ten a minute."""
        body = MintTerminalToken(session_id=session_id, record=record)
        return once(post(path("allocations", id, "terminal-token"), TerminalToken, body))

    @Call
    def recording(self, id: str, terminal_id: str) -> Request[bytes]:
        """What a recorded terminal showed, byte for byte, as asciicast v2 (`asciinema play`)."""
        return get(path("allocations", id, "terminals", terminal_id, "recording"), bytes)

    @Call
    def release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Give the machine back: its local disk is lost, billing stops now. Also retries a failed release."""
        body = ReleaseAllocation(reason=reason)
        return post(path("allocations", id, "release"), Allocation, body, key=idempotency_key)

    @Call
    def resize(
        self, id: str, gpu_count: int, *, size: str | None = None, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Allocation]:
        """Another GPU count or size on the same node, by way of a restart. After a failed resize, also the way back."""
        body = ResizeAllocation(gpu_count=gpu_count, size=size, reason=reason)
        return post(path("allocations", id, "resize"), Allocation, body, key=idempotency_key)

    @Call
    def restart(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Reboot the machine; disk, address, keys and all that lies over it stay. Also retries a failed restart."""
        body = RestartAllocation(reason=reason)
        return post(path("allocations", id, "restart"), Allocation, body, key=idempotency_key)

    @Call
    def sessions(self, id: str) -> Request[LiveSessions]:
        """Who is in, from where, since when and by which key, as the node last said; with the age of that knowledge."""
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
        """Change the holder's keys of a running machine; sessions of keys that go are cut. The last one needs a
        word."""
        body = SetSshKeys(ssh_key_ids=[*ssh_key_ids], confirm_no_way_in=confirm_no_way_in)
        return put(path("allocations", id, "ssh-keys"), AllocationKeys, body, key=idempotency_key)

    @Call
    def ssh_keys(self, id: str) -> Request[AllocationKeys]:
        """Which keys open this machine, and whether it was seen to admit exactly these."""
        return get(path("allocations", id, "ssh-keys"), AllocationKeys)

    @Listing
    def terminals(self, id: str, *, limit: int | None = None) -> Request[Page[Terminal]]:
        """The terminals opened on this machine in a browser, also those that ended."""
        return get(path("allocations", id, "terminals"), Page[Terminal], limit=limit)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """What happened to it, newest first: who, when, why."""
        return get(path("allocations", id, "timeline"), Page[Entry], limit=limit)

    @Call
    def usage(self, id: str) -> Request[AllocationUsage]:
        """What it used and at which rate, newest first, and what all of that cost so far."""
        return get(path("allocations", id, "usage"), AllocationUsage)
