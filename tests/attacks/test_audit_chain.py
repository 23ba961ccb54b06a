"""T21: whatever is done to sealed audit rows is found, by anybody who has an export; restores are named, not errors."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
from msgspec.structs import replace

from gpuaas.core.secrets import AuditSigner, MasterKey
from gpuaas.domain.audit.reconcile import SealWorker
from gpuaas.wire.audit import START, AuditRecord, ChainKey, ExportLine, Seal, Verification, row_hash, seal_hash
from tests.live import eventually
from tests.world import World

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SIGNER = AuditSigner(MasterKey(bytes(range(32))))
ROWS, PER_SEAL, SAMPLES = 10_000, 250, 3
decoder: msgspec.json.Decoder[ExportLine] = msgspec.json.Decoder(ExportLine)


def a_row(number: int) -> AuditRecord:
    return AuditRecord(
        id=number,
        at=NOON + timedelta(seconds=number),
        tenant_id="ten_a",
        project_id=None,
        actor=f"user_{number % 7}",
        acted_as=f"user_{number % 7}",
        action="volume.delete",
        target_kind="volume",
        target_id=f"vol_{number}",
        result="done",
        repeats=1,
        correlation_id=f"req_{number}",
        facts={"size": number, "name": "\u00e9"},
    )


def sealed(rows: list[AuditRecord], last: Seal | None, *, epoch: int = 1, signer: AuditSigner = SIGNER) -> Seal:
    number, prev = (last.number + 1, last.hash) if last else (1, START)
    made = seal_hash(prev_hash=prev, number=number, epoch=epoch, sealed_at=NOON, rows=[row_hash(row) for row in rows])
    return Seal(
        number=number,
        epoch=epoch,
        rows=len(rows),
        sealed_at=NOON,
        prev_hash=prev,
        hash=made,
        signature=signer.sign(made),
        signer=signer.id,
    )


def a_log(rows: int, per_seal: int = PER_SEAL) -> list[ExportLine]:
    lines: list[ExportLine] = [ChainKey(signer=SIGNER.id, public_key=SIGNER.public_key, exported_at=NOON)]
    last: Seal | None = None
    for begin in range(0, rows, per_seal):
        batch = [a_row(number) for number in range(begin, begin + per_seal)]
        last = sealed(batch, last)
        lines += [*batch, last]
    return lines


@pytest.fixture(scope="module")
def log() -> list[ExportLine]:
    return a_log(ROWS)


def verified(
    lines: list[ExportLine], known: list[Seal] | None = None, kind: type[Verification] = Verification
) -> Verification:
    checked = kind(known or [], SIGNER.public_key)
    for line in lines:
        checked.take(line)
    checked.finish()
    return checked


def positions(lines: list[ExportLine], kind: type) -> list[int]:
    return [place for place, line in enumerate(lines) if isinstance(line, kind)]


def edit(lines: list[ExportLine], dice: random.Random) -> None:
    place = dice.choice(positions(lines, AuditRecord))
    changed: list[dict[str, Any]] = [{"actor": "user_x"}, {"at": NOON}, {"facts": {}}, {"repeats": 2}, {"id": -1}]
    lines[place] = replace(lines[place], **dice.choice(changed))


def delete(lines: list[ExportLine], dice: random.Random) -> None:
    del lines[dice.choice(positions(lines, AuditRecord))]


def reorder(lines: list[ExportLine], dice: random.Random) -> None:
    one, other = dice.sample(positions(lines, AuditRecord), 2)
    lines[one], lines[other] = lines[other], lines[one]


def insert(lines: list[ExportLine], dice: random.Random) -> None:
    lines.insert(dice.choice(positions(lines, AuditRecord)), a_row(ROWS + 1))


def truncate(lines: list[ExportLine], dice: random.Random) -> None:
    """With its seals: the head that an earlier export or the log holds shows it."""
    del lines[dice.choice(positions(lines, Seal)[:-1]) + 1 :]


def cut_the_beginning(lines: list[ExportLine], dice: random.Random) -> None:
    del lines[1 : dice.choice(positions(lines, Seal)[:-1]) + 1]


def forge(lines: list[ExportLine], dice: random.Random) -> None:
    """A changed row under a seal that is made again, by somebody without the key."""
    ends = positions(lines, Seal)
    number = dice.randrange(1, len(ends))
    begin, end = ends[number - 1] + 1, ends[number]
    lines[begin] = replace(lines[begin], actor="user_x")
    before = lines[ends[number - 1]]
    assert isinstance(before, Seal)
    rows = [line for line in lines[begin:end] if isinstance(line, AuditRecord)]
    lines[end] = sealed(rows, before, signer=AuditSigner(MasterKey(bytes(32))))


TAMPERING: list[Callable[[list[ExportLine], random.Random], None]] = [
    edit,
    delete,
    reorder,
    insert,
    truncate,
    cut_the_beginning,
    forge,
]


def test_an_untouched_log_verifies(log: list[ExportLine]) -> None:
    checked = verified(log, known=[line for line in log if isinstance(line, Seal)])
    assert (checked.errors, checked.notes, checked.rows, checked.unsealed) == ([], [], ROWS, 0)


@pytest.mark.parametrize("tamper", TAMPERING)
def test_every_tampering_with_ten_thousand_rows_is_found(
    log: list[ExportLine], tamper: Callable[[list[ExportLine], random.Random], None]
) -> None:
    head = [line for line in log if isinstance(line, Seal)][-1:]
    for seed in range(SAMPLES):
        lines = list(log)
        tamper(lines, random.Random(seed))
        assert verified(lines, known=head).errors, f"{tamper.__name__} with seed {seed}"


class NoRows(Verification):
    def _check_rows(self, seal: Seal) -> None:
        """The planted bug: rows are not looked at."""


class NoEnd(Verification):
    def finish(self) -> None:
        """The planted bug: known heads are not asked for."""


@pytest.mark.parametrize(("kind", "tamper"), [(NoRows, edit), (NoRows, delete), (NoRows, reorder), (NoEnd, truncate)])
def test_a_verification_that_skips_a_check_misses_it(
    kind: type[Verification], tamper: Callable[[list[ExportLine], random.Random], None]
) -> None:
    log = a_log(100, per_seal=10)
    head = [line for line in log if isinstance(line, Seal)][-1:]
    tamper(log, random.Random(1))
    assert verified(log, known=head).errors
    assert not verified(log, known=head, kind=kind).errors


def test_after_a_restore_the_gap_is_named_and_the_log_goes_on() -> None:
    before = a_log(40, per_seal=10)
    known = [line for line in before if isinstance(line, Seal)]
    restored = before[: before.index(known[1]) + 1]  # a backup from after the second seal
    rows = [a_row(100 + number) for number in range(5)]
    restored += [*rows, sealed(rows, known[1], epoch=1001)]
    more = [a_row(200)]
    restored += [*more, sealed(more, restored[-1] if isinstance(restored[-1], Seal) else None, epoch=1001)]
    checked = verified(restored, known=known)
    assert checked.errors == []
    assert "gap after seal 2" in checked.notes[0]
    assert "restored" in checked.notes[1]
    shorter = verified(restored[: restored.index(known[1]) + 1], known=known)
    assert "seal 4 is known" in shorter.errors[0]


async def seal(world: World) -> None:
    await SealWorker(world.db, world.services.clock, world.services.audit_signer)("")


async def seal_all(world: World) -> None:
    """Transactions of other databases of the same server hold a seal back, so one pass may not be enough."""

    async def is_sealed() -> bool:
        await seal(world)
        return bool(await world.value("select (select count(*) from audit) = (select sum(rows) from audit_seals)"))

    await eventually(is_sealed)


async def exported(world: World) -> list[ExportLine]:
    answer = await world.operator.http.get("/api/v1/admin/audit/export")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [decoder.decode(line) for line in answer.raise_for_status().content.splitlines()]


async def as_owner(world: World, sql: str) -> None:
    connection = await asyncpg.connect(world.dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def checked_of(lines: list[ExportLine]) -> Verification:
    checked = Verification()
    for line in lines:
        checked.take(line)
    checked.finish()
    return checked


IN_THE_DATABASE = {
    "edit": "update audit set actor = 'somebody' where id = (select max(id) - 2 from audit)",
    "edit of facts": """update audit set facts = '{"x": 1}' where id = (select min(id) from audit)""",
    "delete": "delete from audit where id = (select max(id) - 1 from audit)",
    "delete all": "truncate audit",
    "reorder": """update audit set xid = (select max(xid) from audit)
        where id = (select min(id) from audit)""",
    "insert": """insert into audit
            (at, actor, acted_as, action, target_kind, target_id, result, correlation_id, xid, epoch)
        select at, actor, acted_as, action, target_kind, target_id, result, correlation_id, xid, epoch
        from audit where id = (select min(id) from audit)""",
    "seal": "update audit_seals set rows = rows + 1",
}


@pytest.mark.parametrize("attack", IN_THE_DATABASE)
async def test_tampering_in_the_database_is_found(world: World, attack: str) -> None:
    await seal_all(world)
    assert checked_of(await exported(world)).errors == []
    await seal_all(world)
    assert await found_by_the_server(world) == []
    await as_owner(world, IN_THE_DATABASE[attack])
    assert checked_of(await exported(world)).errors
    assert await found_by_the_server(world)


async def found_by_the_server(world: World) -> list[str]:
    """What operators see in the console: the server verifies its own log, from each seal to the next."""
    errors: list[str] = []
    after, is_complete = 0, False
    while not is_complete:
        path = f"/api/v1/admin/audit/verification?after={after}"
        found = (await world.operator.http.get(path)).raise_for_status().json()
        errors += found["errors"]
        after, is_complete = (found["head"] or {"number": after})["number"], found["is_complete"]
    assert (await world.http.get("/api/v1/admin/audit/verification")).status_code == 403
    return errors


async def test_rows_are_sealed_in_commit_order_and_refusals_counted_later_break_nothing(world: World) -> None:
    await world.http.get("/api/v1/admin/nodes")
    late = await asyncpg.connect(world.dsn)
    transaction = late.transaction()
    await transaction.start()
    await late.execute(
        """insert into audit (at, actor, acted_as, action, target_kind, target_id, result, correlation_id, facts)
        values (now(), 'system', 'system', 'late', 'x', 'x', 'done', '', '{}')"""
    )
    await world.http.post("/api/v1/auth/tokens", json={"title": "early", "scopes": ["read"]})  # a higher id
    await seal(world)
    assert "late" not in str(await exported(world))
    await transaction.commit()
    await late.close()
    await seal_all(world)
    before = checked_of(await exported(world))
    await seal_all(world)  # the export is a row
    for _ in range(3):
        assert (await world.http.get("/api/v1/admin/nodes")).status_code == 403
    await seal_all(world)
    checked = checked_of(await exported(world))
    assert (before.errors, checked.errors) == ([], [])
    assert checked.seals - before.seals <= 1  # counting adds no rows
    refusals = await world.operator.http.get("/api/v1/admin/audit", params={"actor": world.ada.id, "result": "denied"})
    assert [row["repeats"] for row in refusals.json()["items"]] == [4]


async def test_the_service_itself_cannot_change_what_it_wrote(world: World) -> None:
    for statement in ("update audit set repeats = 2", "delete from audit", "update audit_seals set rows = 1"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with world.db.write() as tx:
                await tx.run(statement)
