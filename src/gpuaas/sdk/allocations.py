"""Allocations: environments on the fleet, from one submit to proven release."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import UNSET, UnsetType

from gpuaas.sdk.nouns import Call, Following, Listing, Noun, R_co, Waiting, Watching
from gpuaas.sdk.requests import Repeat, Request, Wait, Watch, delete, get, path, post, put
from gpuaas.wire.access import AllocationKeys, AllowOwnKeys, HandOver, SetSshKeys
from gpuaas.wire.allocations import (
    Allocation,
    AllocationGroup,
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
from gpuaas.wire.usage import Usage

STATUSES = frozenset(Status)
AT_REST = frozenset({Status.RELEASED, Status.FAILED, Status.RELEASE_FAILED, Status.RESTART_FAILED})
"""Where an allocation stays until somebody acts; `active` is not among them, for waits end there only if asked to."""


class Allocations(Noun[R_co]):
    @Call
    def create(
        self,
        sku: str,
        ssh_key_ids: Sequence[str],
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
        storage_attachments: Sequence[LaunchAttachment] = (),
        idempotency_key: str | None = None,
    ) -> Request[SubmittedAllocations]:
        """Answers at once; `wait` for an allocation to become active. `count` above one makes a group, all or none."""
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
    def submit(self, request: CreateAllocation, *, idempotency_key: str | None = None) -> Request[SubmittedAllocations]:
        """A request that is there already: `allocation.retry` of a failed one repeats all that was asked for."""
        return post(path("allocations"), SubmittedAllocations, request, key=idempotency_key)

    @Listing
    def list(
        self, project_id: str, *, status: Status | None = None, name: str | None = None, limit: int | None = None
    ) -> Request[Page[Allocation]]:
        route = path("projects", project_id, "allocations")
        return get(route, Page[Allocation], status=status, name=name, limit=limit)

    @Call
    def get(self, id: str) -> Request[Allocation]:
        return get(path("allocations", id), Allocation)

    @Call
    def release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Ends the environment and all that is in it; the answer's `operation_id` names the release."""
        return post(
            path("allocations", id, "release"), Allocation, ReleaseAllocation(reason=reason), key=idempotency_key
        )

    @Call
    def restart(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """A reboot: disk, address, keys and all that lies over the machine stay. Also retries a failed restart."""
        return post(
            path("allocations", id, "restart"), Allocation, RestartAllocation(reason=reason), key=idempotency_key
        )

    @Call
    def resize(
        self,
        id: str,
        gpu_count: int,
        *,
        size: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Another size on the same node, by way of a restart; after a failed one, also the way back."""
        body = ResizeAllocation(gpu_count=gpu_count, size=size, reason=reason)
        return post(path("allocations", id, "resize"), Allocation, body, key=idempotency_key)

    @Call
    def extend(
        self,
        id: str,
        *,
        hours: float | UnsetType = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        idle_minutes: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """What is left out stays; None lifts the limit."""
        body = ExtendAllocation(hours=hours, expires_at=expires_at, idle_minutes=idle_minutes)
        return post(path("allocations", id, "extend"), Allocation, body, key=idempotency_key)

    @Call
    def limits(self, id: str) -> Request[LimitsNow]:
        """When it ends by itself, with the time left and every signal of use behind it."""
        return get(path("allocations", id, "limits"), LimitsNow)

    @Call
    def usage(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> Request[Usage]:
        """What it used and at which rate, newest first, and what all of that cost so far."""
        return get(path("allocations", id, "usage"), Usage, limit=limit, cursor=cursor)

    @Call
    def consequences(self, id: str, of: Disruption) -> Request[Consequences]:
        """What a release, restart or resize would end, and what it would leave."""
        return get(path("allocations", id, "consequences"), Consequences, of=of)

    @Call
    def mint_terminal_token(
        self, id: str, *, session_id: str | None = None, record: bool = False
    ) -> Request[TerminalToken]:
        """A token for one WebSocket to the answer's `url`: once, within half a minute. See docs/howto/terminal.md."""
        body = MintTerminalToken(session_id=session_id, record=record)
        route = path("allocations", id, "terminal-token")
        return Request(method="POST", path=route, answer=TerminalToken, body=body, repeat=Repeat.NEVER)

    @Listing
    def break_glass(self, id: str, *, limit: int | None = None) -> Request[Page[BreakGlass]]:
        """Which operators had or have access to it, and why."""
        return get(path("allocations", id, "break-glass"), Page[BreakGlass], limit=limit)

    @Call
    def end_break_glass(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Ends all access of operators to it; their terminals are closed."""
        return delete(path("allocations", id, "break-glass"), key=idempotency_key)

    @Listing
    def terminals(self, id: str, *, limit: int | None = None) -> Request[Page[Terminal]]:
        """Browser terminals on it, also those that ended."""
        return get(path("allocations", id, "terminals"), Page[Terminal], limit=limit)

    @Call
    def recording(self, id: str, terminal_id: str) -> Request[bytes]:
        """What a recorded terminal showed, as asciicast v2 (`asciinema play`); that it was read is audited."""
        return get(path("allocations", id, "terminals", terminal_id, "recording"), bytes)

    @Call
    def ssh_keys(self, id: str) -> Request[AllocationKeys]:
        """Which keys open it; `installed` once it was seen to admit exactly these."""
        return get(path("allocations", id, "ssh-keys"), AllocationKeys)

    @Call
    def set_ssh_keys(
        self,
        id: str,
        ssh_key_ids: Sequence[str],
        *,
        confirm_no_way_in: bool = False,
        idempotency_key: str | None = None,
    ) -> Request[AllocationKeys]:
        """All of the holder's keys, anew; what is granted to others stays."""
        body = SetSshKeys(ssh_key_ids=[*ssh_key_ids], confirm_no_way_in=confirm_no_way_in)
        return put(path("allocations", id, "ssh-keys"), AllocationKeys, body, key=idempotency_key)

    @Call
    def allow_own_keys(self, id: str, *, allowed: bool, idempotency_key: str | None = None) -> Request[AllocationKeys]:
        """Whether keys of the machine's own ~/.ssh/authorized_keys enter too; only its holder may allow it."""
        return put(
            path("allocations", id, "own-keys"), AllocationKeys, AllowOwnKeys(allowed=allowed), key=idempotency_key
        )

    @Call
    def sessions(self, id: str) -> Request[LiveSessions]:
        """Who is in, as its node last said."""
        return get(path("allocations", id, "sessions"), LiveSessions)

    @Call
    def end_session(
        self, id: str, session_id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[EndedSession]:
        """Cut one; the key still admits."""
        return Request(
            method="DELETE",
            path=path("allocations", id, "sessions", session_id),
            answer=EndedSession,
            query={"reason": reason},
            repeat=Repeat.WITH_KEY,
            idempotency_key=idempotency_key,
        )

    @Call
    def hand_over(
        self,
        id: str,
        user_id: str,
        *,
        ssh_key_ids: Sequence[str] = (),
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Somebody else holds it from now on; nothing inside is touched."""
        body = HandOver(user_id=user_id, ssh_key_ids=[*ssh_key_ids], reason=reason)
        return post(path("allocations", id, "handover"), Allocation, body, key=idempotency_key)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        return get(path("allocations", id, "timeline"), Page[Entry], limit=limit)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """What happens to it, as it happens; resumes where a broken connection left off."""
        return get(path("allocations", id, "events"), Entry)

    @Call
    def metrics(self, id: str, *, range: str = "1h", step: str | None = None) -> Request[Metrics]:
        """What it uses: series with source and age, or why there is none. `range` up to 1d."""
        return get(path("allocations", id, "metrics"), Metrics, range=range, step=step)

    @Listing
    def logs(self, id: str, *, limit: int | None = None) -> Request[Page[LogLine]]:
        """What its node said in all its operations, newest first."""
        return get(path("allocations", id, "logs"), Page[LogLine], limit=limit)

    @Following
    def follow_logs(self, id: str) -> Request[LogLine]:
        """Every line from the first on, as it is said, until you stop reading."""
        return get(path("allocations", id, "logs"), LogLine, follow="true")

    @Call
    def health(self, id: str) -> Request[AllocationHealth]:
        """How it is, why, since when, and what to do next."""
        return get(path("allocations", id, "health"), AllocationHealth)

    @Watching
    def watch(self, id: str, *, until: Status | Sequence[Status] = ()) -> Watch[Allocation]:
        """The allocation now and after each change, until it reaches `until` or can go no further by itself."""
        return watch_of(id, wanted_of(until))

    @Waiting
    def wait(
        self, id: str, *, until: Status | Sequence[Status] = Status.ACTIVE, timeout: float | None = None
    ) -> Wait[Allocation]:
        """The allocation once it is `until`. Raises `WaitFailed` when it comes to rest elsewhere or time runs out."""
        wanted = wanted_of(until)
        return Wait(
            watch=replace(watch_of(id, wanted), concerns=is_move),
            disappointment=lambda seen: None if seen.status in wanted else rest_in_words(seen),
            timeout=timeout,
        )


class AllocationGroups(Noun[R_co]):
    @Call
    def get(self, id: str) -> Request[AllocationGroup]:
        return get(path("allocation-groups", id), AllocationGroup)

    @Call
    def release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[AllocationGroup]:
        body = ReleaseAllocation(reason=reason)
        return post(path("allocation-groups", id, "release"), AllocationGroup, body, key=idempotency_key)


def wanted_of(until: Status | Sequence[Status]) -> frozenset[Status]:
    return frozenset({until}) if isinstance(until, Status) else frozenset(until)


def watch_of(id: str, wanted: frozenset[Status]) -> Watch[Allocation]:
    return Watch(
        look=get(path("allocations", id), Allocation),
        events=get(path("allocations", id, "events"), Entry),
        is_settled=lambda seen: seen.status in wanted | AT_REST,
    )


def is_move(entry: Entry) -> bool:
    """Whether an entry tells of a new status: only then can a wait have ended."""
    return entry.phase in STATUSES


def rest_in_words(seen: Allocation) -> str:
    reason = f": {seen.status_reason}" if seen.status_reason else "."
    return f"The allocation {seen.name} is {seen.status.replace('_', ' ')}{reason}"
