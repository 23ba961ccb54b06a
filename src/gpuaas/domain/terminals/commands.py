"""A ticket is minted, a terminal opened, and closed with a reason; each told to the auditors."""

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
VANISHED = "it ended when its node lost it"
TICKET_PREFIX = "gpx_"  # so that a leaked one is recognised


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
        """When a terminal ends at the latest. Its node ends it then without being told."""
        longest = ticket.created_at + self.life
        return min(longest, ticket.access_ends_at or longest)

    @property
    def hours(self) -> float:
        return self.life.total_seconds() / 3600


async def mint(
    tx: Tx, caller: Caller, id: str, data: MintTerminalToken, *, url: str, policy: Policy, now: datetime
) -> TerminalToken:
    """For the holder of a machine that runs, bound to the session that asks."""
    row = await authorize(tx, caller, id, Action.OPEN_TERMINAL)
    if row.status is not Status.ACTIVE:
        raise Conflict(f"The machine is {row.status}. Open a terminal when it is active.", status=row.status)
    recorded = data.record or policy.record or await store.is_project_recorded(tx, row.project_id)
    if data.session_id is not None:
        recorded = await check_session(tx, caller, row, data.session_id) or recorded
    return await issue_ticket(tx, caller, row, url=url, session_id=data.session_id, recorded=recorded, now=now)


async def issue_ticket(
    tx: Tx, caller: Caller, row: AllocationRow, *, url: str, session_id: str | None, recorded: bool, now: datetime
) -> TerminalToken:
    """The caller was found to be allowed in. What is typed must reach the node, and no other holder of its key."""
    if await store.is_node_in_doubt(tx, row.node_id, now):
        raise Conflict(
            "Two agents may be using the key of this allocation's node, so a terminal could reach the wrong one. Try "
            "again in a minute, or connect by SSH, which checks the host key. If this stays, tell an operator."
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
    """Told before anything is shown; empty if nothing is kept."""
    if not ticket.recorded:
        return ""
    if ticket.is_project_recorded:
        why = "as all are in this project"
    else:
        why = "as all are here" if policy.record else "as was asked for"
    return f"This terminal is recorded, {why}: what it shows is kept, and what is typed only as far as it is shown."


async def check_session(tx: Tx, caller: Caller, row: AllocationRow, terminal_id: str) -> bool:
    """Whether it is recorded. One's own terminal on this machine, that has not ended."""
    terminal = await store.get(tx, terminal_id, row.id)
    caller.require_own("terminal", terminal.user_id)
    if terminal.closed_at is not None:
        raise Conflict(f"This terminal has ended: {terminal.reason}. Open a new one.", reason=terminal.reason)
    return terminal.recorded


async def open_terminal(tx: Tx, ticket: TakenTicket, *, ids: Ids, source: str, now: datetime) -> str:
    """The row of a new one, or the one gone back into; audited either way."""
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
    """Somebody types there, or reads what is shown: work, as an open SSH session is."""
    await metrics.touch(tx, allocation_ids, metrics.TERMINAL, now)


async def recording(tx: Tx, caller: Caller, id: str, terminal_id: str, *, now: datetime) -> TerminalRow:
    """For the holder and those who lead the project; that it was read is told too."""
    await authorize(tx, caller, id, Action.READ_RECORDING)
    terminal = await store.get(tx, terminal_id, id)
    if not terminal.recorded:
        raise NotFound("recording")
    await audit(tx, terminal.subject, "recording.read", actor=caller.actor, at=now, facts={"allocation_id": id})
    return terminal


async def observed_all(tx: Tx, told: list[tuple[str, TerminalReport]], *, now: datetime) -> None:
    """Most nodes have no terminal, and thousands may come back at once: theirs cost one statement together."""
    concerned = await store.nodes_with_terminals(tx, [node_id for node_id, _ in told]) if told else set()
    for node_id, report in told:
        if node_id in concerned:
            await observed(tx, node_id, report, now=now)


async def observed(tx: Tx, node_id: str, report: TerminalReport, *, now: datetime) -> None:
    """What a node says of its terminals: those that ended there are closed here, those closed here must end there."""
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
    """Wanted from now on; its sockets are cut and its node told after the commit."""
    row = await store.close(tx, id, reason=reason, exit_code=exit_code, now=now)
    if row is not None:
        lived = (now - (row.opened_at or row.created_at)).total_seconds()
        facts = {"allocation_id": row.allocation_id, "reason": reason, "exit_code": exit_code, "seconds": lived}
        await audit(tx, row.subject, "terminal.close", actor=actor or row.user_id, at=now, facts=facts)
    return row
