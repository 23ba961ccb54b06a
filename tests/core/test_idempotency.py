"""A mutation asked for twice is done once, and answered the same both times."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from gpuaas.core.db import Database, DbRole, Tx, connect
from gpuaas.core.errors import IdempotencyKeyReused, Raced
from gpuaas.core.hints import Hints
from gpuaas.core.idempotency import Idempotency, Kept, Stored, request_hash
from gpuaas.core.secrets import MasterKey
from tests import peek

MASTER = MasterKey(b"k" * 32)
ANSWER = Stored(202, b'{"id":"a"}')
FIRST = Idempotency("user_a", "POST /things", "key", request_hash("POST", "/things", b"{}"))


@pytest.fixture
async def db(migrated: str) -> AsyncIterator[Database]:
    owner = await asyncpg.connect(migrated)
    for caller in ("user_a", "user_b"):
        await owner.execute("insert into principals values ($1, 'user', 'A caller', null, now())", caller)
    await owner.close()
    made = await connect(migrated, DbRole.WORKER, hints=Hints("here"), size=20)
    yield made
    await made.close()


async def look(tx: Tx, use: Idempotency) -> Stored | None:
    """In a request this is part of the statement by which the caller enters."""
    kept = await tx.maybe(Kept, "select * from kept_answer($1, $2, $3)", use.caller, use.route, use.key)
    return use.answer(kept, MASTER) if kept else None


async def once(db: Database, use: Idempotency, *, seal: bool = False) -> Stored | None:
    """None if this was the first."""
    async with db.write() as tx:
        stored = await look(tx, use)
        if stored is None:
            await tx.run("insert into regions values ('done')")
            await use.keep(tx, ANSWER, seal_with=MASTER if seal else None)
        return stored


async def test_of_many_at_once_one_does_it_and_all_others_get_its_answer(db: Database) -> None:
    answers = await asyncio.gather(*(once(db, FIRST) for _ in range(16)))
    assert answers.count(None) == 1
    assert answers.count(ANSWER) == 15


async def test_a_first_one_that_rolls_back_leaves_the_key_free(db: Database) -> None:
    with pytest.raises(LookupError):  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            assert await look(tx, FIRST) is None
            await tx.one(Stored, "select 1 where false")
    assert await once(db, FIRST) is None


async def test_the_same_key_for_another_request_is_refused(db: Database) -> None:
    await once(db, FIRST)
    other = Idempotency(FIRST.caller, FIRST.route, FIRST.key, request_hash("POST", "/things", b'{"x":1}'))
    with pytest.raises(IdempotencyKeyReused):
        await once(db, other)


@pytest.mark.parametrize(
    "other",
    [
        Idempotency("user_b", FIRST.route, FIRST.key, FIRST.request_hash),
        Idempotency(FIRST.caller, "POST /others", FIRST.key, FIRST.request_hash),
        Idempotency(FIRST.caller, FIRST.route, "key2", FIRST.request_hash),
    ],
    ids=["caller", "route", "key"],
)
async def test_callers_routes_and_keys_do_not_meet(db: Database, other: Idempotency) -> None:
    await once(db, FIRST)
    async with db.write() as tx:
        assert await look(tx, other) is None


async def test_an_answer_with_a_secret_is_kept_sealed_and_given_again(db: Database) -> None:
    await once(db, FIRST, seal=True)
    assert ANSWER.body not in await peek.value(db, "select body from idempotency")
    assert await once(db, FIRST) == ANSWER


async def test_an_expired_key_is_as_good_as_new(db: Database) -> None:
    await once(db, FIRST)
    await peek.plant(db, "update idempotency set expires_at = now() - interval '1 second'")
    await peek.plant(db, "delete from regions")
    assert await once(db, FIRST) is None
    assert await once(db, FIRST) == ANSWER


async def test_without_the_lock_a_key_is_still_kept_once(db: Database) -> None:
    """The planted bug: two that did not look. The second is told to run again, and nothing of it stays."""
    async with db.write() as tx:
        await FIRST.keep(tx, ANSWER, seal_with=None)
    with pytest.raises(Raced):  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            await tx.run("insert into regions values ('done')")
            await FIRST.keep(tx, Stored(202, b"other"), seal_with=None)
    assert await peek.value(db, "select count(*) from regions") == 0
    assert await once(db, FIRST) == ANSWER
