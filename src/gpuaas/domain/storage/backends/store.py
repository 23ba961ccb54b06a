"""SQL for storage backends and their conformance runs."""

from msgspec import to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.wire.storage import ConformanceRun, StorageBackend

CONFORMANCE = "conformance"  # the lane of a run, and the topic; its row ids are run ids


async def all_of(tx: Tx) -> list[StorageBackend]:
    return await tx.all(StorageBackend, BACKENDS)


async def add_run(tx: Tx, run: ConformanceRun) -> None:
    await tx.run(ADD_RUN, run.id, run.backend, run.node_id, run.requested_by, run.started_at)
    tx.hint(CONFORMANCE, run.id)


async def run_of(tx: Tx, id: str) -> ConformanceRun:
    row = await tx.maybe(ConformanceRun, "select * from storage_conformance_runs where id = $1", id)
    if row is None:
        raise NotFound("conformance_run")
    return row


async def end_run(tx: Tx, run: ConformanceRun) -> None:
    await tx.run(END_RUN, run.id, run.passed, run.reason, to_builtins(run.checks), run.ended_at)


BACKENDS = """
    select b.*, 'multi_writer' = any (b.capabilities) and coalesce(
            (select c.passed from storage_conformance_runs c where c.backend = b.backend and c.ended_at is not null
                order by c.id desc limit 1), false) as multi_writer,
        (select to_jsonb(c) from storage_conformance_runs c where c.backend = b.backend
            order by c.id desc limit 1) as conformance
    from storage_backends b order by b.backend desc
"""
ADD_RUN = """
    insert into storage_conformance_runs (id, backend, node_id, requested_by, started_at) values ($1, $2, $3, $4, $5)
"""
END_RUN = """
    update storage_conformance_runs set passed = $2, reason = $3, checks = $4, ended_at = $5
    where id = $1 and ended_at is null
"""
