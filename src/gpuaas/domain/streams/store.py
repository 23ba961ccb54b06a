"""SQL for one read of an open stream of events or log lines: authenticate the reader again and fetch new items."""

from typing import Generic, TypeVar

from msgspec import Struct

from gpuaas.domain.identity.store import Query
from gpuaas.domain.timeline.store import PLACED_ENTRY, PLACED_LINE, Cursor, Followed, LogsOf
from gpuaas.wire.timeline import Entry, LogLine

T = TypeVar("T", bound=Struct)


class Look(Struct, Generic[T], frozen=True, kw_only=True):
    """The project, for the permission check, and the new items.

    `is_waiting`: items are committed behind a transaction that is still open, and can be read when it ends.
    `is_over`: nothing will follow.
    """

    id: str
    tenant_id: str
    found: list[Followed[T]]
    is_waiting: bool
    is_over: bool

    @property
    def project_id(self) -> str:
        return self.id

    def in_order(self) -> list[Followed[T]]:
        """Oldest first. The database does not promise the order of its aggregate, and sorting there would add a step
        to its plan.
        """
        return sorted(self.found, key=lambda each: each.cursor)


def follow_entries(project_id: str, subject_id: str | None, after: Cursor, limit: int) -> Query[Look[Entry]]:
    """Timeline entries of a project, or of one subject in it."""
    args = (project_id, after.epoch, after.xid, after.id, limit)
    if subject_id is None:
        return Query(Look[Entry], ENTRIES, args)
    return Query(Look[Entry], OF_SUBJECT, (*args, subject_id))


def follow_lines(project_id: str, of: LogsOf, after: Cursor, limit: int) -> Query[Look[LogLine]]:
    """Log lines of an operation, which ends, or of an allocation."""
    args = (project_id, after.epoch, after.xid, after.id, limit)
    if of.operation_id is None:
        return Query(Look[LogLine], OF_ALLOCATION, (*args, of.allocation_id))
    return Query(Look[LogLine], OF_OPERATION, (*args, of.operation_id))


# `found` and `is_waiting` use one snapshot; a reader must stop at its oldest open transaction.
LOOK = """
    select p.id, p.tenant_id, {is_over} as is_over, (
        select coalesce(jsonb_agg(jsonb_build_object('item', to_jsonb(f),
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
ENTRY = {"number": "id", "placed": PLACED_ENTRY, "table": "timeline_entries", "is_over": "false"}
LINE = {"number": "seq", "placed": PLACED_LINE, "table": "task_logs"}
# The route checked that $7 belongs to project $2; an operation or an allocation never changes its project. An
# operation that retention has deleted counts as ended.
IS_ENDED = "coalesce((select o.status <> 'running' from operations o where o.id = $7 and o.project_id = p.id), true)"
ENTRIES = LOOK.format(**ENTRY, whose="project_id = p.id")
OF_SUBJECT = LOOK.format(**ENTRY, whose="subject_id = $7 and project_id = p.id")
OF_OPERATION = LOOK.format(**LINE, whose="operation_id = $7", is_over=IS_ENDED)
OF_ALLOCATION = LOOK.format(**LINE, whose="allocation_id = $7", is_over="false")
