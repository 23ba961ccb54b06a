"""SEC9: wrong passwords delay their own source, longer each time, and lock nobody out; every try is audited."""

import asyncio

import pytest

from gpuaas.domain.identity.attempts import ATTEMPTS, FIRST_SECONDS, LONGEST_SECONDS, SOURCE_ATTEMPTS, source_of
from tests import peek
from tests.world import PASSWORD, World

LOGIN = "/api/v1/auth/personal/login"
LONGEST_DELAY = """
    select extract(epoch from max(next_at - last_at)) from attempt_delays
    where last_at > (select max(last_at) from attempt_delays) - interval '1 minute'
"""  # without those that the set-up of the world left long ago
WRONG = {"email": "ada@example.com", "password": "guess number one"}
RIGHT = {"email": "ada@example.com", "password": PASSWORD}


async def test_an_attacker_elsewhere_does_not_delay_the_owner(world: World) -> None:
    """On the old code the owner got 429 from everywhere."""
    attacker, owner = world.client(number=200), world.client(number=201)
    answers = [(await attacker.post(LOGIN, json=WRONG)).status_code for _ in range(ATTEMPTS + 1)]
    assert answers == [401] * ATTEMPTS + [429]
    assert (await attacker.post(LOGIN, json=RIGHT)).status_code == 429
    assert (await owner.post(LOGIN, json=RIGHT)).status_code == 200
    assert (await attacker.post(LOGIN, json=RIGHT)).status_code == 429  # the owner's success is not the attacker's


async def test_the_delay_grows_and_has_an_end(world: World) -> None:
    attacker = world.client(number=200)
    delays = []
    for _ in range(ATTEMPTS + 14):
        answer = await attacker.post(LOGIN, json=WRONG)
        if answer.status_code == 429:
            delays.append(await world.value(LONGEST_DELAY))
            assert 1 <= int(answer.headers["retry-after"]) <= LONGEST_SECONDS
            await peek.plant(world.db, "update attempt_delays set next_at = clock_timestamp()")
    assert round(delays[0]) == FIRST_SECONDS
    assert delays == sorted(delays)
    assert round(delays[-1]) == LONGEST_SECONDS


async def test_parallel_guesses_gain_nothing(world: World) -> None:
    attacker = world.client(number=200)
    answers = await asyncio.gather(*(attacker.post(LOGIN, json=WRONG) for _ in range(ATTEMPTS * 3)))
    assert sorted(answer.status_code for answer in answers) == [401] * ATTEMPTS + [429] * ATTEMPTS * 2


async def test_a_success_forgives_the_failures_before_it(world: World) -> None:
    client = world.client(number=200)
    for _ in range(ATTEMPTS - 1):
        await client.post(LOGIN, json=WRONG)
    assert (await client.post(LOGIN, json=RIGHT)).status_code == 200
    assert (await client.post(LOGIN, json=WRONG)).status_code == 401
    assert (await client.post(LOGIN, json=RIGHT)).status_code == 200


async def test_successes_of_an_attackers_own_account_earn_no_guesses(world: World) -> None:
    await world.sign_up("mallory")
    attacker = world.client(number=200)
    own = {"email": "mallory@example.com", "password": PASSWORD}
    for _ in range(ATTEMPTS):
        await attacker.post(LOGIN, json=WRONG)
        assert (await attacker.post(LOGIN, json=own)).status_code == 200
    assert (await attacker.post(LOGIN, json=WRONG)).status_code == 429


async def test_guesses_behind_an_address_do_not_delay_others_who_logged_in_there(world: World) -> None:
    office = world.client(number=200)
    assert (await office.post(LOGIN, json=RIGHT)).status_code == 200
    guesses = [{"email": f"nobody-{number}@example.com", "password": "guess"} for number in range(SOURCE_ATTEMPTS + 1)]
    answers = [(await office.post(LOGIN, json=guess)).status_code for guess in guesses]
    assert answers == [401] * SOURCE_ATTEMPTS + [429]
    assert (await office.post(LOGIN, json=RIGHT)).status_code == 200
    assert (await office.post(LOGIN, json=guesses[0])).status_code == 429  # her success is not theirs


async def test_log_ins_and_failed_log_ins_are_audited(world: World) -> None:
    client = world.client(number=200)
    await client.post(LOGIN, json=WRONG)
    await client.post(LOGIN, json=WRONG)
    await client.post(LOGIN, json={**WRONG, "email": "nobody@example.com"})
    await client.post(LOGIN, json={**WRONG, "email": "my password by mistake"})
    await client.post(LOGIN, json=RIGHT)
    found = await peek.rows(
        world.db, "select actor, target_id, result from audit where action = 'user.login' order by id desc limit 4"
    )
    assert [tuple(row.values()) for row in reversed(found)] == [
        ("anonymous", world.ada.id, "denied"),
        ("anonymous", "nobody@example.com", "denied"),
        ("anonymous", "unknown", "denied"),
        (world.ada.id, world.ada.id, "done"),
    ]
    everything = str(await peek.rows(world.db, "select * from audit"))
    assert "by mistake" not in everything
    assert "guess number one" not in everything


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
    ],
)
def test_a_source_is_an_address_or_an_ipv6_network(address: str, source: str) -> None:
    assert source_of(address) == source
