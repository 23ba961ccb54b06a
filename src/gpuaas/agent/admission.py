"""Decides whether to take a task from the link. The signature comes first: bytes of unknown origin are not decoded."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

import msgspec

from gpuaas.agent.journal import Entry, Journal
from gpuaas.agent.tasks.kinds import KINDS
from gpuaas.agent.tasks.remove_unknown import RemoveUnknownEnvironment
from gpuaas.agent.tasks.work import TaskRefusedError, Work
from gpuaas.wire.link import ENVIRONMENT_REMOVED, Result, Task, TaskBody, TaskStatus
from gpuaas.wire.tasks import TaskKind

UNREAD = ""
"""The task id in an answer to bytes that were not read."""


@dataclass(frozen=True)
class Taken:
    """To be journaled and performed."""

    task: Task
    body: TaskBody
    work: Work[msgspec.Struct]

    @property
    def removes(self) -> str | None:
        """The environment that may never be created again once this task is taken."""
        if isinstance(self.work, RemoveUnknownEnvironment):
            return self.work.wants.environment_id
        return self.body.allocation_id if self.body.kind == TaskKind.REMOVE else None


@dataclass(frozen=True)
class Known:
    """Taken before: its answer is in the journal, or it is in progress."""

    id: str
    entry: Entry


@dataclass(frozen=True)
class Answered:
    """Not taken: nothing is done except sending this answer."""

    result: Result


class Admission:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.verifiers = journal.verifiers()

    def judge(self, task: Task, now: datetime) -> Taken | Known | Answered:
        """`now` is the server's time."""
        if objection := self.verifiers.objection(task):
            digest = hashlib.sha256(task.body).hexdigest()
            return Answered(_answer(UNREAD, TaskStatus.REFUSED, objection, now, f"signer {task.signer}, body {digest}"))
        try:
            body = msgspec.msgpack.decode(task.body, type=TaskBody)
        except msgspec.DecodeError as error:
            return Answered(_answer(UNREAD, TaskStatus.REFUSED, "malformed task", now, str(error)))
        if (entry := self._journal.find(body.id)) is not None:
            return Known(body.id, entry)
        try:
            work = self._read(body)
        except TaskRefusedError as refusal:
            return Answered(_answer(body.id, TaskStatus.REFUSED, refusal.reason, now, refusal.detail))
        answer = self._too_late(body, now)
        return Taken(task, body, work) if answer is None else Answered(answer)

    def reread(self, entry: Entry) -> Taken:
        """A task from the journal. Its signature is verified again, so that a task that was changed on disk is not
        performed.
        """
        if objection := self.verifiers.objection_to_taken(entry.task):
            raise TaskRefusedError("damaged task", f"{objection} in the journal")
        body = msgspec.msgpack.decode(entry.task.body, type=TaskBody)
        return Taken(entry.task, body, self._read(body))

    def _read(self, body: TaskBody) -> Work[msgspec.Struct]:
        if body.node_id != self._journal.pinned.node_id:
            raise TaskRefusedError("not for this node", f"the task names {body.node_id}")
        if body.kind not in KINDS:
            raise TaskRefusedError("unknown kind", f"this agent does not know {body.kind!r}")
        if body.expires_at.tzinfo is None:
            raise TaskRefusedError("malformed task", "its expiry has no time zone")
        return KINDS[body.kind](body)

    def _too_late(self, body: TaskBody, now: datetime) -> Result | None:
        """A sequence number is used once: after its answer was acknowledged, a repeated task changes nothing."""
        if body.expires_at <= now:
            return _answer(body.id, TaskStatus.EXPIRED, "the task came after its expiry", now)
        standing = self._journal.standing(body.allocation_id, body.lane)
        if standing.is_removed and body.kind != TaskKind.REMOVE:
            reason = ENVIRONMENT_REMOVED
        elif body.seq <= standing.highest_seq:
            reason = f"task {standing.highest_seq} of this lane came before"
            answer = _answer(body.id, TaskStatus.SUPERSEDED, reason, now)
            return msgspec.structs.replace(answer, highest_seq=standing.highest_seq)
        else:
            return None
        return _answer(body.id, TaskStatus.SUPERSEDED, reason, now)


def _answer(task_id: str, status: TaskStatus, reason: str, at: datetime, detail: str = "") -> Result:
    return Result(task_id=task_id, status=status, at=at, reason=reason, detail=detail)
