"""Tasks in progress: the lanes in which they wait for each other, and the progress that they report."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime

import structlog

from gpuaas.agent.admission import Taken
from gpuaas.agent.journal import Journal
from gpuaas.agent.outgoing import Outgoing
from gpuaas.wire.link import LogLines, Progress

LINES_PER_ATTEMPT = 200
LONGEST_LINE = 2000

log = structlog.get_logger()


def as_text(said: str) -> str:
    """A file's name may contain bytes that are not text. Encoding them as they are would crash the agent."""
    return said.encode(errors="replace").decode()


@dataclass(eq=False)
class Job:
    """A task that was taken and is not answered yet."""

    taken: Taken
    attempt: int
    has_begun: bool = False
    is_overtaken: bool = False
    lines_said: int = 0
    runner: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return self.taken.body.id

    @property
    def kind(self) -> str:
        return self.taken.body.kind

    @property
    def lane(self) -> str:
        """Jobs with the same value must not overlap. For a task of the node as a whole, this is its lane."""
        return self.taken.body.allocation_id or self.taken.body.lane

    def cancel(self) -> None:
        if self.runner is not None:
            self.runner.cancel()


class Lanes:
    """Jobs of one lane run one after the other, those of different lanes concurrently."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        *,
        run: Callable[[Job, set[asyncio.Task[None]]], Coroutine[None, None, None]],
        answer_overtaken: Callable[[Job], None],
    ) -> None:
        self._group, self._run, self._answer_overtaken = group, run, answer_overtaken
        self._lanes: dict[str, list[Job]] = {}

    def start(self, job: Job) -> None:
        """Start after the jobs in its lane, and supersede those that it makes pointless."""
        lane = self._lanes.setdefault(job.lane, [])
        for older in lane:
            if older.kind in job.taken.work.replaces:
                self._overtake(older)
        earlier = {older.runner for older in lane if older.runner is not None}
        log.info("task.taken", task=job.id, kind=job.kind, lane=job.lane, attempt=job.attempt, after=len(earlier))
        lane.append(job)
        job.runner = self._group.create_task(self._run(job, earlier))
        job.runner.add_done_callback(lambda _: self._leave(job))

    @property
    def is_idle(self) -> bool:
        return not self._lanes

    def cancel_all(self) -> None:
        for job in [job for lane in self._lanes.values() for job in lane]:
            job.cancel()

    def _overtake(self, job: Job) -> None:
        """A job that has begun answers after its cancellation; one that waits is answered here, because it may never
        run.
        """
        if job.is_overtaken:
            return
        job.is_overtaken = True
        if not job.has_begun:
            self._answer_overtaken(job)
        job.cancel()

    def _leave(self, job: Job) -> None:
        lane = self._lanes[job.lane]
        lane.remove(job)
        if not lane:
            del self._lanes[job.lane]


class Voices:
    """The progress that jobs report: phases, which are journaled, and log lines, which may be lost."""

    def __init__(self, journal: Journal, outgoing: Outgoing, now: Callable[[], datetime]) -> None:
        self._journal, self._outgoing, self._now = journal, outgoing, now

    def phase(self, job: Job, phase: str, note: str) -> None:
        progress = Progress(task_id=job.id, phase=phase, note=as_text(note), at=self._now())
        self._journal.record_phase(progress)
        self._outgoing.put(progress)
        self.say(job, f"{phase}: {note}" if note else phase)

    def say(self, job: Job, line: str) -> None:
        """A log line for people. Each attempt has its own numbers, so that no number means two lines."""
        if job.lines_said < LINES_PER_ATTEMPT:
            seq = (job.attempt - 1) * LINES_PER_ATTEMPT + job.lines_said
            lines = LogLines(task_id=job.id, first_seq=seq, lines=[as_text(line[:LONGEST_LINE])], at=self._now())
            job.lines_said += 1
            self._outgoing.put(lines)


@dataclass(frozen=True)
class Told:
    """The voice of one job, as engines know it."""

    voices: Voices
    job: Job

    async def __call__(self, phase: str, note: str, /) -> None:
        self.voices.phase(self.job, phase, note)

    def say(self, line: str) -> None:
        self.voices.say(self.job, line)
