"""The agent: takes tasks, performs them, journals and sends the answers.

Tasks of one allocation run strictly one after the other, those of different allocations concurrently. A task is in
the journal before anything is done, and its result before anything is sent, so a crash at any point leads to the same
end. The agent creates and removes nothing without a task: it only reports unexpected environments.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import structlog
from msgspec.structs import replace

from gpuaas.agent import identity as identities
from gpuaas.agent import journal as journals
from gpuaas.agent.admission import Admission, Answered, Known, Taken
from gpuaas.agent.doorkeeper import LOOK_SECONDS, Doorkeeper
from gpuaas.agent.identity import Identity
from gpuaas.agent.jobs import Job, Lanes, Told, Voices, as_text
from gpuaas.agent.journal import Journal, JournalRefusedError, Pinned
from gpuaas.agent.link import Link
from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.reports import Reports
from gpuaas.agent.sampling import sample
from gpuaas.agent.server_time import ServerTime, machine_boot_id
from gpuaas.agent.spares import SpareKeeper
from gpuaas.agent.streams.kinds import Node, StreamKinds, StreamsOfKind
from gpuaas.agent.streams.requests import Streams
from gpuaas.agent.streams.terminal import TerminalStreams
from gpuaas.agent.tasks.work import TaskRefusedError
from gpuaas.agent.verifiers import StatementRefusedError, Verifiers
from gpuaas.agent.volume_reports import VOLUME_SECONDS, VolumeReports
from gpuaas.core.clock import Clock
from gpuaas.core.points import Points
from gpuaas.engines.base import Engine, EngineError
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import Hello, Lease, Result, Task, TaskStatus, Welcome
from gpuaas.wire.spares import SpareReport
from gpuaas.wire.task_keys import TaskKeyStatement, TrustedKeys
from gpuaas.wire.tasks import CONTRACTS

INSTANCE_BYTES = 16  # id of this agent process; distinguishes a restart from a second agent with the node's key
AT_ONCE = 16  # concurrent tasks; more wait
WATCH_SECONDS = 3.0
CANCEL_AGAIN_SECONDS = 1.0
SETTLE_SECONDS = 0.25  # from a task's end to a report: the result goes first, and following tasks share the report
CONFIRM_SECONDS = 0.5  # until the second check of an environment that was seen stopped

STREAM_KINDS: tuple[Callable[[Node], StreamsOfKind], ...] = ()  # in addition to terminals

log = structlog.get_logger()


async def run_agent(
    *,
    folder: Path,
    engine: Engine,
    clock: Clock,
    points: Points,
    stop: asyncio.Event,
    stop_environments: Callable[[], bool],
    agent_version: str,
    randomness: Callable[[int], bytes] = os.urandom,
    boot_id: str | None = None,
    stream_kinds: Sequence[Callable[[Node], StreamsOfKind]] = STREAM_KINDS,
) -> None:
    """Run until `stop` is set. Raises at once if the folder is not enrolled or its journal cannot be trusted."""
    identity = identities.load(folder)
    journal = Journal.open(folder / journals.FILE, points)
    try:
        if journal.pinned != Pinned(identity.node_id, identity.node.verifiers):
            raise JournalRefusedError(folder / journals.FILE, "it belongs to another node than node.json")
        admission = Admission(journal)
        left_over = _left_over(journal, admission, folder / journals.FILE)
        await engine.start()
        try:
            agent = Agent(
                identity=identity,
                journal=journal,
                admission=admission,
                engine=engine,
                server_time=ServerTime(clock, boot_id or machine_boot_id(), journal.anchor()),
                points=points,
                facts=await engine.probe(),
                agent_version=agent_version,
                instance=randomness(INSTANCE_BYTES).hex(),
                stream_kinds=stream_kinds,
            )
            await agent.run(left_over, clock.monotonic, randomness, stop)
        finally:
            await engine.close(stop_environments=stop_environments())
    finally:
        journal.close()


def _left_over(journal: Journal, admission: Admission, path: Path) -> list[Job]:
    """Unfinished tasks after a crash or a stop, in the order in which they were taken."""
    try:
        return [Job(admission.reread(entry), entry.attempts + 1) for entry in journal.unfinished()]
    except TaskRefusedError as refusal:
        raise JournalRefusedError(path, f"it contains a task that cannot be performed ({refusal})") from refusal


async def end(tasks: set[asyncio.Task[None]], pause: float = CANCEL_AGAIN_SECONDS) -> None:
    """Cancel the tasks until all have ended. A task group that fails during cancellation raises its own errors, so a
    single cancel may not stop the loop around it.
    """
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=pause)


class Agent:
    """The listener of the link and the owner of all tasks in progress."""

    def __init__(
        self,
        *,
        identity: Identity,
        journal: Journal,
        admission: Admission,
        engine: Engine,
        server_time: ServerTime,
        points: Points,
        facts: NodeFacts,
        agent_version: str,
        instance: str,
        stream_kinds: Sequence[Callable[[Node], StreamsOfKind]],
    ) -> None:
        self._instance = instance
        self._identity, self._journal, self._admission = identity, journal, admission
        self._engine, self._time, self._points = engine, server_time, points
        self._facts, self._agent_version = facts, agent_version
        self._outgoing = Outgoing()
        self._doorkeeper = Doorkeeper(engine, self._outgoing)
        self._group, self._room = asyncio.TaskGroup(), asyncio.Semaphore(AT_ONCE)
        self._lanes = Lanes(self._group, run=self._run, answer_overtaken=self._answer_overtaken)
        self._voices = Voices(journal, self._outgoing, server_time.now)
        self._reports = Reports(engine, self._outgoing, server_time.now)
        self._volumes = VolumeReports(engine, self._outgoing, server_time.now)
        self._look_at_volumes = asyncio.Event()
        self._left_over: list[Job] = []
        self._ended = 0  # tasks, since the start
        self._look = asyncio.Event()
        node = Node(engine, self._outgoing, server_time)
        terminals = TerminalStreams(node)
        kinds = StreamKinds([terminals, *(make(node) for make in stream_kinds)])
        self._streams = Streams(identity, admission.verifiers, server_time, kinds)
        self.asked, self.ended = self._streams.asked, terminals.end
        self._spares = SpareKeeper(engine.spares, self._outgoing, lambda: self._lanes.is_idle, facts)
        self.wanted_spares = self._spares.want

    async def run(
        self,
        left_over: list[Job],
        monotonic: Callable[[], float],
        randomness: Callable[[int], bytes],
        stop: asyncio.Event,
    ) -> None:
        """An error of the journal ends the agent, because it must not act on anything that it cannot record."""
        link = Link(
            identity=self._identity,
            introduce=self._introduce,
            outgoing=self._outgoing,
            monotonic=monotonic,
            randomness=randomness,
            points=self._points,
        )
        self._left_over = left_over
        if self._engine.lacks:
            log.error("node.offers_no_capacity", missing=self._engine.lacks)
        else:
            await self._streams.take_over()
        async with self._group:
            if self._time.is_known:
                self._replay()
            loops = [link.run(self), self._watch()]
            if not self._engine.lacks:
                sampling = sample(self._engine, self._outgoing, self._time.now)
                loops += [self._watch_volumes(), self._keep_doors(), sampling, self._spares.run()]
            outward = {self._group.create_task(loop) for loop in loops}
            await stop.wait()
            await end(outward)
            await self._streams.close()
            self._lanes.cancel_all()  # the next start performs them again

    # Messages of the server

    def welcomed(self, welcome: Welcome) -> None:
        self._journal.drop_anchor(self._time.learn(welcome.server_time))
        self._replay()
        for result in self._journal.results():
            self._outgoing.put(result)
        self._reports.forget()
        self._volumes.forget()
        self._look_at_volumes.set()
        self._doorkeeper.forget()
        if self._engine.lacks:
            self._outgoing.put(SpareReport(detail="the node creates no environments"))
        else:
            # An engine that lacks something cannot list terminals; an empty report would end them.
            self._streams.welcomed()
        self._spares.forget()
        self._look.set()

    async def leased(self, lease: Lease) -> None:
        await self._engine.lease(lease.server_time, lease.seconds, lease.holder_seconds)

    def received(self, task: Task) -> None:
        match self._admission.judge(task, self._time.now()):
            case Answered(result):
                log.warning("task.not_taken", task=result.task_id, status=result.status, reason=result.reason)
                self._outgoing.put(result)
            case Known(id, entry):
                log.info("task.known", task=id, is_answered=entry.result is not None)
                if entry.result is not None:
                    self._outgoing.put(entry.result)
            case Taken(_, body, _) as taken:
                self._journal.accept(task, body, removes=taken.removes, at=self._time.now())
                self._lanes.start(Job(taken, attempt=1))

    def stated(self, statement: TaskKeyStatement) -> None:
        verifiers = self._admission.verifiers
        try:
            self._trust(verifiers.after(statement))
        except StatementRefusedError as refusal:
            log.warning("task_key.statement_refused", why=str(refusal), signer=statement.signer)
        self._outgoing.put(TrustedKeys(keys=verifiers.trusted))

    def _trust(self, verifiers: Verifiers) -> None:
        self._journal.keep_verifiers(verifiers)
        self._admission.verifiers.become(verifiers)
        log.warning("task_key.trusted", generations=[one.generation for one in verifiers.trusted])

    def acknowledged(self, task_ids: list[str]) -> None:
        self._journal.acknowledge(task_ids)

    def logins_kept(self, ids: list[str]) -> None:
        self._doorkeeper.kept(ids)

    def _introduce(self, nonce: bytes) -> Hello:
        folder = self._identity.folder
        if brought := identities.brought_verifiers(folder):
            self._trust(self._admission.verifiers.only(brought))
            identities.drop_brought_verifiers(folder)
        return Hello(
            node_id=self._identity.node_id,
            proof=self._identity.prove(nonce),
            agent_version=self._agent_version,
            engine=self._engine.name,
            boot_id=self._time.boot_id,
            facts=self._facts,
            instance=self._instance,
            origin=self._identity.origin,
            trusted_keys=self._admission.verifiers.trusted,
        )

    # Tasks in progress

    def _replay(self) -> None:
        """Called once, when the server's time is known. Every task describes an end state, so performing it again is
        correct.
        """
        left_over, self._left_over = self._left_over, []
        for job in left_over:
            self._journal.replay(job.id)
            self._lanes.start(job)

    async def _run(self, job: Job, earlier: set[asyncio.Task[None]]) -> None:
        try:
            if earlier:
                await asyncio.wait(earlier)
            async with self._room:
                job.has_begun = True
                result = await self._perform(job)
        except asyncio.CancelledError:
            if job.is_overtaken and not job.has_begun:
                return  # answered when it was superseded
            raise
        self._finish(job, result)

    async def _perform(self, job: Job) -> Result:
        self._voices.say(job, f"{job.kind} begun" if job.attempt == 1 else f"{job.kind} begun again after a restart")
        try:
            self._points.reach(f"task:{job.kind}:before")
            effects = await job.taken.work.perform(self._engine, Told(self._voices, job))
            found = CONTRACTS[job.kind].pack(effects.result)
            self._points.reach(f"task:{job.kind}:after")
        except asyncio.CancelledError:
            if not job.is_overtaken:
                raise
            return self._overtaken(job)
        except TaskRefusedError as refusal:
            return self._result(job, TaskStatus.REFUSED, refusal.reason, refusal.detail)
        except EngineError as error:
            if job.is_overtaken:
                return self._overtaken(job)
            return self._result(job, TaskStatus.FAILED, error.reason, error.detail)
        except Exception as error:
            log.exception("task.crashed", task=job.id, kind=job.kind)
            detail = f"{type(error).__name__}: {error}"
            return self._result(job, TaskStatus.FAILED, "internal error on the node", detail)
        status = TaskStatus.FAILED if effects.shortfall else TaskStatus.DONE
        return self._result(job, status, effects.shortfall, found=found)

    def _answer_overtaken(self, job: Job) -> None:
        self._finish(job, self._overtaken(job))

    def _overtaken(self, job: Job) -> Result:
        return self._result(job, TaskStatus.SUPERSEDED, "a newer task of this allocation replaced it")

    def _result(
        self, job: Job, status: TaskStatus, reason: str, detail: str = "", found: Mapping[str, object] | None = None
    ) -> Result:
        result = Result(
            task_id=job.id,
            status=status,
            at=self._time.now(),
            reason=as_text(reason),
            detail=as_text(detail),
            phases=self._journal.phases(job.id),
        )
        return replace(result, **(found or {}))

    def _finish(self, job: Job, result: Result) -> None:
        log.info("task.ended", task=job.id, kind=job.kind, status=result.status, reason=result.reason)
        self._journal.finish(result)
        self._voices.say(job, f"{job.kind} {result.status}" + (f": {result.reason}" if result.reason else ""))
        self._outgoing.put(result)
        self._ended += 1
        asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._look.set)
        self._spares.look()

    # Reports

    async def _watch(self) -> None:
        while True:
            self._look.clear()
            try:
                await self._reports.look(lambda: self._ended)
            except Exception:
                log.exception("observe.failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(CONFIRM_SECONDS if self._reports.is_unconfirmed else WATCH_SECONDS):
                    await self._look.wait()

    async def _watch_volumes(self) -> None:
        """On a new link, and periodically."""
        while True:
            self._look_at_volumes.clear()
            try:
                await self._volumes.look()
            except Exception:
                log.exception("volumes.look_failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(VOLUME_SECONDS):
                    await self._look_at_volumes.wait()

    async def _keep_doors(self) -> None:
        while True:
            try:
                await self._doorkeeper.look(self._time.now() if self._time.is_known else None)
            except Exception:
                log.exception("doors.failed")
            await asyncio.sleep(LOOK_SECONDS)
