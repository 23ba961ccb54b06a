"""SQL for tickets, terminals and recordings."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.timeline.store import Subject
from gpuaas.wire.link import TerminalReport
from gpuaas.wire.sessions import LiveSession
from gpuaas.wire.terminals import Terminal

TERMINALS = "terminals"  # the topic of closed terminals; its row ids are terminal ids
ENDS = "terminal_ends"  # the topic of terminals that a node must end; its row ids are node ids


class NewTicket(Struct, frozen=True, kw_only=True):
    hash: bytes
    tenant_id: str
    project_id: str
    allocation_id: str
    user_id: str
    credential_id: str
    terminal_id: str | None
    recorded: bool
    created_at: datetime
    expires_at: datetime


class TakenTicket(Struct, frozen=True, kw_only=True):
    """A ticket that was just used, with the reason if it may not open a terminal."""

    tenant_id: str
    project_id: str
    allocation_id: str
    user_id: str
    credential_id: str
    terminal_id: str | None
    recorded: bool
    is_project_recorded: bool
    node_id: str
    boot: int
    created_at: datetime  # of the terminal, if it attaches to an existing one
    access_ends_at: datetime | None  # if only break-glass access gives permission
    objection: str | None


class TerminalRow(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    project_id: str
    allocation_id: str
    node_id: str
    boot: int
    user_id: str
    credential_id: str
    source: str
    recorded: bool
    recorded_bytes: int
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None
    reason: str
    exit_code: int | None

    @property
    def subject(self) -> Subject:
        return Subject(kind="terminal", id=self.id, tenant_id=self.tenant_id, project_id=self.project_id)


class Chunk(Struct, frozen=True, kw_only=True):
    id: int = 0
    first_byte: int
    length: int
    body: bytes


class ToEnd(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    reason: str


async def wait_for_mint(tx: Tx, user_id: str, *, limit: int, since: datetime) -> float:
    """Seconds until another ticket may be issued, or 0. A lock per person prevents concurrent requests from exceeding
    the limit.
    """
    await tx.run("select pg_advisory_xact_lock(hashtextextended('terminal ticket ' || $1, 0))", user_id)
    return float(await tx.value(WAIT_FOR_MINT, user_id, limit, since) or 0)


async def add_ticket(tx: Tx, ticket: NewTicket) -> None:
    await tx.run(ADD_TICKET, *astuple(ticket))


async def take_ticket(tx: Tx, hash: bytes, allocation_id: str, now: datetime) -> TakenTicket | None:
    """A ticket is valid once: only one of several concurrent attempts gets it."""
    return await tx.maybe(TakenTicket, TAKE_TICKET, hash, allocation_id, now)


async def add(tx: Tx, id: str, ticket: TakenTicket, *, source: str, now: datetime) -> None:
    place = (ticket.tenant_id, ticket.project_id, ticket.allocation_id, ticket.node_id, ticket.boot)
    await tx.run(ADD, id, *place, ticket.user_id, ticket.credential_id, source, ticket.recorded, now)


async def get(tx: Tx, id: str, allocation_id: str) -> TerminalRow:
    row = await tx.maybe(TerminalRow, "select * from terminals where id = $1 and allocation_id = $2", id, allocation_id)
    if row is None:
        raise NotFound("terminal")
    return row


async def is_node_in_doubt(tx: Tx, node_id: str, now: datetime) -> bool:
    """Whether the node's link may belong to another agent."""
    return bool(await tx.value("select is_link_in_doubt($1, $2)", node_id, now))


async def is_project_recorded(tx: Tx, project_id: str) -> bool:
    return bool(await tx.value("select record_terminals from projects where id = $1", project_id))


async def list_of_allocation(tx: Tx, allocation_id: str, paging: Paging) -> list[Terminal]:
    return await tx.all(Terminal, LIST, allocation_id, paging.before, paging.limit + 1)


async def live_sessions(tx: Tx, allocation_id: str) -> list[LiveSession]:
    """The open terminals, for the list of connections."""
    return await tx.all(LiveSession, LIVE_SESSIONS, allocation_id)


async def opened(tx: Tx, id: str, ticket: TakenTicket, *, source: str, now: datetime) -> None:
    """The node opened it. It now ends with the session that attached last."""
    await tx.run(OPENED, id, ticket.credential_id, source, now, ticket.recorded)


async def objection(tx: Tx, id: str) -> TerminalRow | None:
    """The terminal with the reason why it must be closed; None while it may stay open."""
    return await tx.maybe(TerminalRow, OBJECTED, id)


async def close(tx: Tx, id: str, *, reason: str, exit_code: int | None, now: datetime) -> TerminalRow | None:
    """None if it was already closed."""
    row = await tx.maybe(TerminalRow, CLOSE, id, reason[:500], exit_code, now)
    if row is not None:
        tx.hint(TERMINALS, row.id)
        tx.hint(ENDS, row.node_id)
    return row


async def ended(tx: Tx, node_id: str, ids: list[str], now: datetime) -> None:
    """Mark terminals as ended; a node can only end its own."""
    await tx.run(ENDED, node_id, ids, now)


async def nodes_with_terminals(tx: Tx, node_ids: list[str]) -> set[str]:
    return set(await tx.column(NODES_WITH_TERMINALS, node_ids))


async def vanished(tx: Tx, node_id: str, report: TerminalReport) -> list[str]:
    """Terminals that the node once had and no longer reports."""
    live = [each.id for each in report.live]
    return await tx.column(VANISHED, node_id, live, report.at - timedelta(seconds=1))


async def of_node(tx: Tx, node_id: str, ids: list[str]) -> list[str]:
    """Those of the ids that are terminals of this node."""
    return await tx.column("select id from terminals where node_id = $1 and id = any ($2) order by id", node_id, ids)


async def attachments(tx: Tx, node_id: str, report: TerminalReport) -> None:
    attached = [each.id for each in report.live if each.is_attached]
    await tx.run(ATTACHMENTS, node_id, attached)


async def to_end(tx: Tx, node_ids: list[str]) -> list[ToEnd]:
    """Closed terminals that their node has not ended yet."""
    return await tx.all(ToEnd, TO_END, node_ids)


async def closed_among(tx: Tx, ids: list[str]) -> list[TerminalRow]:
    return await tx.all(TerminalRow, "select * from terminals where id = any ($1) and closed_at is not null", ids)


async def recorded_to(tx: Tx, id: str) -> int:
    """The offset of the first byte that is not stored yet."""
    return int(await tx.value(RECORDED_TO, id))


async def add_chunk(tx: Tx, id: str, chunk: Chunk) -> None:
    await tx.run(ADD_CHUNK, id, chunk.first_byte, chunk.length, chunk.body)


async def chunks(tx: Tx, id: str, after: Chunk | None, limit: int) -> list[Chunk]:
    """In byte order."""
    place = (after.first_byte, after.id) if after else (-1, 0)
    return await tx.all(Chunk, CHUNKS, id, *place, limit)


# Another agent with the node's key may have opened a terminal of a contested node.
OBJECTION = """
    coalesce(terminal_objection(t.allocation_id, t.boot, t.user_id, t.credential_id), (
        select 'two agents use the key of its node' from nodes n where n.id = t.node_id and n.contested_at is not null))
"""
WHY = f"""
    coalesce({OBJECTION}, case when t.opened_at is null and t.created_at < clock_timestamp() - interval '2 minutes'
        then 'its node never answered' end)
"""
WAIT_FOR_MINT = """
    select case when count(*) >= $2 then extract(epoch from min(created_at) - $3) end
    from (select created_at from terminal_tickets where user_id = $1 and created_at > $3
        order by created_at desc limit $2) as latest
"""
ADD_TICKET = """
    insert into terminal_tickets (hash, tenant_id, project_id, allocation_id, user_id, credential_id, terminal_id,
        recorded, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
TAKE_TICKET = f"""
    with used as (
        update terminal_tickets set used_at = $3
        where hash = $1 and allocation_id = $2 and used_at is null and expires_at > $3
        returning *
    ), t as (
        select used.tenant_id, used.project_id, used.allocation_id, used.user_id, used.credential_id,
            used.terminal_id, used.recorded or coalesce(o.recorded, false) or p.record_terminals as recorded,
            p.record_terminals as is_project_recorded, a.node_id,
            coalesce(o.boot, a.boot) as boot, coalesce(o.created_at, $3) as created_at,
            glass_ends_at(used.user_id, used.allocation_id) as access_ends_at,
            used.terminal_id is not null and o.id is null as is_gone
        from used join allocations a on a.id = used.allocation_id join projects p on p.id = used.project_id
            left join terminals o on o.id = used.terminal_id and o.user_id = used.user_id
                and o.allocation_id = used.allocation_id and o.closed_at is null
    )
    select t.*, case when t.is_gone then 'this terminal has ended'
        when is_link_in_doubt(t.node_id, $3) then 'another agent may have the link of its node'
        else {OBJECTION} end as objection from t
"""
ADD = """
    insert into terminals (id, tenant_id, project_id, allocation_id, node_id, boot, user_id, credential_id, source,
        recorded, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
LIST = """
    select id, allocation_id, user_id, source, coalesce(opened_at, created_at) as opened_at, recorded, closed_at,
        reason, exit_code, recorded_bytes
    from terminals where allocation_id = $1 and id < $2 order by id desc limit $3
"""
LIVE_SESSIONS = """
    select t.id, 'terminal' as kind, t.user_id, coalesce(u.email, b.email, '') as email, '' as key_fingerprint,
        t.source, t.opened_at, 0 as bytes_in, 0 as bytes_out, false as is_ending,
        coalesce(b.reason, '') as break_glass_reason
    from terminals t left join users u on u.id = t.user_id
        left join break_glass b on b.allocation_id = t.allocation_id and b.user_id = t.user_id and b.ended_at is null
    where t.allocation_id = $1 and t.closed_at is null and t.opened_at is not null order by t.id
"""
OPENED = """
    update terminals set opened_at = coalesce(opened_at, $4), credential_id = $2, source = $3, attached = true,
        recorded = recorded or $5
    where id = $1
"""
OBJECTED = f"""
    select t.id, t.tenant_id, t.project_id, t.allocation_id, t.node_id, t.boot, t.user_id, t.credential_id, t.source,
        t.recorded, t.recorded_bytes, t.created_at, t.opened_at, t.closed_at, t.exit_code, {WHY} as reason
    from terminals t
    where t.id = $1 and t.closed_at is null and {WHY} is not null
"""
DUE = f"""
    select t.id from terminals t
    where t.closed_at is null
        and ({WHY} is not null or t.created_at < clock_timestamp() - {{seconds}} * interval '1 second')
"""  # house: project-filter because a worker handles terminals of every project
CLOSE = """
    update terminals set closed_at = $4, reason = $2, exit_code = $3, attached = false
    where id = $1 and closed_at is null returning *
"""
ENDED = "update terminals set ended_at = $3 where node_id = $1 and id = any ($2) and ended_at is null"
VANISHED = """
    select id from terminals where node_id = $1 and ended_at is null and id <> all ($2::text[])
        and (opened_at < $3 or closed_at < $3)
"""  # house: project-filter because a node reports only its own terminals
ATTACHMENTS = """
    update terminals set attached = not attached
    where node_id = $1 and closed_at is null and opened_at is not null and attached <> (id = any ($2::text[]))
"""
NODES_WITH_TERMINALS = """
    select distinct node_id from terminals where node_id = any ($1) and ended_at is null
"""  # house: project-filter because a node reports only its own terminals
TO_END = """
    select id, node_id, reason from terminals where node_id = any ($1) and closed_at is not null and ended_at is null
"""  # house: project-filter because a node receives only its own terminals
RECORDED_TO = "select coalesce(max(first_byte + length), 0) from recording_chunks where terminal_id = $1"
ADD_CHUNK = """
    with kept as (
        insert into recording_chunks (terminal_id, tenant_id, first_byte, length, body)
        select id, tenant_id, $2, $3, $4 from terminals where id = $1
    )
    update terminals set recorded_bytes = recorded_bytes + $3 where id = $1
"""
CHUNKS = """
    select id, first_byte, length, body from recording_chunks
    where terminal_id = $1 and (first_byte, id) > ($2, $3) order by first_byte, id limit $4
"""
# statement_timestamp() instead of clock_timestamp(): a volatile function cannot be an index condition.
SWEEPS = ("delete from terminal_tickets where expires_at < statement_timestamp() - interval '1 hour'",)
