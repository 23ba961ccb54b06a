"""Issues tickets, opens terminals, and closes them with a reason. Each of these is audited."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, RateLimitExceeded
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import token_hash
from gpuaas.core.settings import Settings
from gpuaas.domain.allocations.authority import Action, authorize
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.metrics import store as metrics
from gpuaas.domain.terminals import store
from gpuaas.domain.terminals.store import NewTicket, TakenTicket, TerminalRow
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import EndedTerminal, TerminalReport
from gpuaas.wire.terminals import MintTerminalToken, TerminalToken

TICKET_LIFE = timedelta(seconds=30)
MINTS, MINUTE = 10, timedelta(minutes=1)
VANISHED = "its node lost it"
TICKET_PREFIX = "gpx_"  # makes a leaked ticket recognisable


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How long terminals may live, and whether all of them are recorded."""

    life: timedelta = timedelta(hours=8)
    detached: timedelta = timedelta(minutes=5)
    record: bool = False
    most_recorded: int = 256 * 1024 * 1024  # bytes of one terminal

    @classmethod
    def of(cls, settings: Settings) -> "Policy":
        return cls(
            life=timedelta(hours=settings.terminal_hours),
            detached=timedelta(minutes=settings.terminal_detached_minutes),
            record=settings.terminal_record,
        )

    def ends_at(self, ticket: TakenTicket) -> datetime:
        """The latest end of a terminal. The node enforces it without another message."""
        longest = ticket.created_at + self.life
        return min(longest, ticket.access_ends_at or longest)

    @property
    def hours(self) -> float:
        return self.life.total_seconds() / 3600


async def mint(
    tx: Tx, caller: Caller, id: str, data: MintTerminalToken, *, url: str, policy: Policy, now: datetime
) -> TerminalToken:
    """Issue a ticket to the holder of an active allocation, or to a grantee, bound to the caller's session."""
    row = await authorize(tx, caller, id, Action.OPEN_TERMINAL)
    if row.status is not Status.ACTIVE:
        raise Conflict(f"The allocation is {row.status}. Open a terminal when it is active.", status=row.status)
    recorded = data.record or policy.record or await store.is_project_recorded(tx, row.project_id)
    if data.session_id is not None:
        recorded = await check_session(tx, caller, row, data.session_id) or recorded
    return await issue_ticket(tx, caller, row, url=url, session_id=data.session_id, recorded=recorded, now=now)


async def issue_ticket(
    tx: Tx, caller: Caller, row: AllocationRow, *, url: str, session_id: str | None, recorded: bool, now: datetime
) -> TerminalToken:
    """The caller must have checked the permission. Refused while the node is in doubt: input must not reach another
    agent with the node's key.
    """
    if await store.is_node_in_doubt(tx, row.node_id, now):
        raise Conflict(
            "Two agents may be using the key of this allocation's node, so a terminal could reach the wrong one. Try "
            "again in a minute, or connect by SSH, which checks the host key. If this persists, contact an operator."
        )
    wait = await store.wait_for_mint(tx, caller.user_id, limit=MINTS, since=now - MINUTE)
    if wait:
        raise RateLimitExceeded(max(1, int(wait + 0.999)))
    token = TICKET_PREFIX + secrets.token_urlsafe(32)
    ticket = NewTicket(
        hash=token_hash(token),
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        allocation_id=row.id,
        user_id=caller.user_id,
        credential_id=caller.credential_id,
        terminal_id=session_id,
        recorded=recorded,
        created_at=now,
        expires_at=now + TICKET_LIFE,
    )
    await store.add_ticket(tx, ticket)
    facts = {"session_id": session_id, "recorded": recorded}
    await audit(tx, row.subject, "terminal.mint", actor=caller.actor, at=now, facts=facts)
    return TerminalToken(token=token, expires_at=ticket.expires_at, url=url, session_id=session_id, recorded=recorded)


def recording_notice(ticket: TakenTicket, policy: Policy) -> str:
    """Shown before any output; empty if the terminal is not recorded."""
    if not ticket.recorded:
        return ""
    if ticket.is_project_recorded:
        why = "as all terminals of this project are"
    else:
        why = "as all terminals here are" if policy.record else "as requested"
    return f"This terminal is recorded, {why}: its output is kept, and its input only where the output shows it."


async def check_session(tx: Tx, caller: Caller, row: AllocationRow, terminal_id: str) -> bool:
    """Whether the terminal is recorded. It must be the caller's own on this allocation, and still open."""
    terminal = await store.get(tx, terminal_id, row.id)
    caller.require_own("terminal", terminal.user_id)
    if terminal.closed_at is not None:
        raise Conflict(f"This terminal has ended: {terminal.reason}. Open a new one.", reason=terminal.reason)
    return terminal.recorded


async def open_terminal(tx: Tx, ticket: TakenTicket, *, ids: Ids, source: str, now: datetime) -> str:
    """Insert a new terminal, or attach to an existing one; both are audited."""
    facts = {"allocation_id": ticket.allocation_id, "source": source, "recorded": ticket.recorded}
    id = ticket.terminal_id
    if id is None:
        id = ids.new("term")
        await store.add(tx, id, ticket, source=source, now=now)
    subject = Subject(kind="terminal", id=id, tenant_id=ticket.tenant_id, project_id=ticket.project_id)
    action = "terminal.attach" if ticket.terminal_id else "terminal.open"
    await audit(tx, subject, action, actor=ticket.user_id, at=now, facts=facts)
    return id


async def used(tx: Tx, allocation_ids: list[str], *, now: datetime) -> None:
    """Input or output on a terminal counts as use of the allocation, like an open SSH connection."""
    await metrics.touch(tx, allocation_ids, metrics.TERMINAL, now)


async def recording(tx: Tx, caller: Caller, id: str, terminal_id: str, *, now: datetime) -> TerminalRow:
    """For the holder and project admins. Reading a recording is audited."""
    await authorize(tx, caller, id, Action.READ_RECORDING)
    terminal = await store.get(tx, terminal_id, id)
    if not terminal.recorded:
        raise NotFound("recording")
    await audit(tx, terminal.subject, "recording.read", actor=caller.actor, at=now, facts={"allocation_id": id})
    return terminal


async def observed_all(tx: Tx, told: list[tuple[str, TerminalReport]], *, now: datetime) -> None:
    """Most nodes have no terminals, and thousands may reconnect at once: one statement finds those that have some."""
    concerned = await store.nodes_with_terminals(tx, [node_id for node_id, _ in told]) if told else set()
    for node_id, report in told:
        if node_id in concerned:
            await observed(tx, node_id, report, now=now)


async def observed(tx: Tx, node_id: str, report: TerminalReport, *, now: datetime) -> None:
    """Compare a node's report with the terminals: close those that ended on the node, and end there those that are
    closed.
    """
    gone = {id: EndedTerminal(id=id, reason=VANISHED) for id in await store.vanished(tx, node_id, report)}
    gone |= {end.id: end for end in report.ended}
    mine = await store.of_node(tx, node_id, list(gone))
    for id in mine:
        await close(tx, id, reason=gone[id].reason, exit_code=gone[id].exit_code, now=now, actor=node_id)
    await store.ended(tx, node_id, mine, now)
    await store.attachments(tx, node_id, report)
    tx.hint(store.ENDS, node_id)


async def close(
    tx: Tx, id: str, *, reason: str, now: datetime, actor: str = "", exit_code: int | None = None
) -> TerminalRow | None:
    """Close the row. After the commit its sockets are closed and its node ends it."""
    row = await store.close(tx, id, reason=reason, exit_code=exit_code, now=now)
    if row is not None:
        lived = (now - (row.opened_at or row.created_at)).total_seconds()
        facts = {"allocation_id": row.allocation_id, "reason": reason, "exit_code": exit_code, "seconds": lived}
        await audit(tx, row.subject, "terminal.close", actor=actor or row.user_id, at=now, facts=facts)
    return row
