"""What an open stream of events or log lines reads: one statement, in which its reader enters and is judged again."""

from msgspec import Struct

from gpuaas.core.db import Query
from gpuaas.domain.timeline.store import PLACED_ENTRY, PLACED_LINE, Cursor, Followed, FollowedLine, LogsOf


class Look(Struct, frozen=True, kw_only=True):
    """The project, as the permission table judges it, and what came since.

    `is_waiting`: entries are committed behind a transaction that is still open, and can be read when it ends.
    `is_over`: nothing will follow.
    """

    id: str
    tenant_id: str
    is_waiting: bool
    is_over: bool

    @property
    def project_id(self) -> str:
        return self.id

    def placed(self) -> list[tuple[Cursor, Struct]]:
        """What was found, oldest first, each with its place."""
        raise NotImplementedError


class EntryLook(Look, frozen=True, kw_only=True):
    found: list[Followed]

    def placed(self) -> list[tuple[Cursor, Struct]]:
        return [(each.cursor, each.entry) for each in sorted(self.found, key=lambda each: each.cursor)]


class LineLook(Look, frozen=True, kw_only=True):
    found: list[FollowedLine]

    def placed(self) -> list[tuple[Cursor, Struct]]:
        return [(each.cursor, each.line) for each in sorted(self.found, key=lambda each: each.cursor)]


def entries(project_id: str, subject_id: str | None, after: Cursor, limit: int) -> Query[EntryLook]:
    """Timeline entries of a project, or of one subject in it."""
    args = (project_id, after.epoch, after.xid, after.id, limit)
    return Query(EntryLook, ENTRIES, args) if subject_id is None else Query(EntryLook, OF_SUBJECT, (*args, subject_id))


def lines(project_id: str, of: LogsOf, after: Cursor, limit: int) -> Query[LineLook]:
    """Log lines of an operation, which ends, or of an allocation."""
    args = (project_id, after.epoch, after.xid, after.id, limit)
    if of.operation_id is None:
        return Query(LineLook, OF_ALLOCATION, (*args, of.allocation_id))
    return Query(LineLook, OF_OPERATION, (*args, of.operation_id))


# `found` and `is_waiting` read one snapshot; its oldest open transaction is where a reader has to stop.
LOOK = """
    select p.id, p.tenant_id, {is_over} as is_over, (
        select coalesce(jsonb_agg(jsonb_build_object('{thing}', to_jsonb(f),
            'cursor', jsonb_build_object('epoch', f.epoch, 'xid', f.place, 'id', f.{number}))), '[]')
        from (
            {placed} where {whose} and (epoch, xid, id) > ($3::int, $4::bigint::text::xid8, $5::bigint)
                and (epoch, xid) < (history_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
            order by epoch, xid, id limit $6
        ) as f
    ) as found, exists (
        select from {table} where {whose} and (epoch, xid, id) > ($3::int, $4::bigint::text::xid8, $5::bigint)
            and (epoch, xid) >= (history_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
    ) as is_waiting
    from projects p where p.id = $2
"""
ENTRY = {"thing": "entry", "number": "id", "placed": PLACED_ENTRY, "table": "timeline_entries", "is_over": "false"}
LINE = {"thing": "line", "number": "seq", "placed": PLACED_LINE, "table": "task_logs"}
IS_ENDED = "(select o.status <> 'running' from operations o where o.id = $7 and o.project_id = p.id)"
ENTRIES = LOOK.format(**ENTRY, whose="project_id = p.id")
OF_SUBJECT = LOOK.format(**ENTRY, whose="subject_id = $7 and project_id = p.id")
OF_OPERATION = LOOK.format(**LINE, whose="operation_id = $7", is_over=IS_ENDED)
OF_ALLOCATION = LOOK.format(**LINE, whose="allocation_id = $7", is_over="false")
