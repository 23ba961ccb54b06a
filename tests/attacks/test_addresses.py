"""SEC6, SEC15: one e-mail address is one account, and what looks like it is refused; a password is not one letter."""

import pytest

from gpuaas.wire.emails import EmailError, key, normalise
from tests.world import PASSWORD, World

SIGN_UP, LOGIN = "/api/v1/auth/personal/signup", "/api/v1/auth/personal/login"
SAME = ["ada@example.com", "Ada@Example.COM", "ADA@EXAMPLE.com"]
LOOKALIKES = [
    "ada\u200b@example.com",  # zero width space
    "ada\u2060@example.com",  # word joiner
    "\u202eada@example.com",  # right-to-left override
    "ada\u00ad@example.com",  # soft hyphen
    "ada@exam\u200bple.com",
    "ada@exam\u00adple.com",
    "ada\t@example.com",
    "ada\x7f@example.com",
    "ada\ue000@example.com",  # private use
]
WRONG = [
    *LOOKALIKES,
    "ada",
    "@example.com",
    "ada@",
    "a..b@example.com",
    ".a@example.com",
    "a@-x.com",
    "a@x..com",
    "a b@x.com",
]


@pytest.mark.parametrize("address", WRONG)
def test_what_is_no_address_or_hides_characters_is_refused(address: str) -> None:
    with pytest.raises(EmailError):
        normalise(address)


def test_one_address_has_one_form() -> None:
    assert {normalise(address) for address in SAME} == {"ada@example.com"}
    assert normalise("jose\u0301@b\u00fccher.de") == normalise("jos\u00e9@xn--bcher-kva.de")
    assert normalise(normalise("JOS\u00c9@B\u00dcCHER.de")) == "jos\u00e9@xn--bcher-kva.de"
    assert normalise("a.b+tag@localhost") == "a.b+tag@localhost"
    assert key("old account\u200b@x") == "old account\u200b@x"


async def test_nobody_signs_up_as_somebody_who_is_there(world: World) -> None:
    for address in SAME:
        answer = await world.stranger.post(SIGN_UP, json={"email": address, "password": PASSWORD})
        assert answer.status_code == 409, address
    for address in LOOKALIKES[:4]:  # on the old code each made an account that looks like Ada's
        answer = await world.client(number=300).post(SIGN_UP, json={"email": address, "password": PASSWORD})
        assert answer.status_code == 422, address
    answer = await world.client(number=301).post(LOGIN, json={"email": SAME[1], "password": PASSWORD})
    assert answer.status_code == 200


async def test_invitations_take_the_same_addresses(world: World) -> None:
    path = f"/api/v1/projects/{world.ada.project_id}/members"
    refused = await world.http.post(path, json={"email": "bob\u200b@example.com"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "email")
    made = await world.http.post(path, json={"email": "Bob@Example.com"})
    assert made.json()["email"] == "bob@example.com"


async def test_an_account_from_before_still_logs_in(world: World) -> None:
    async with world.db.write() as tx:
        await tx.run("update users set email = $1 where id = $2", "ada\u200b@example.com", world.ada.id)
        await tx.run("update identities set subject = $1 where user_id = $2", "ada\u200b@example.com", world.ada.id)
    answer = await world.stranger.post(LOGIN, json={"email": "ada\u200b@example.com", "password": PASSWORD})
    assert answer.status_code == 200


@pytest.mark.parametrize("password", ["aaaaaaaaaaaa", "abababababababab", "111122223333"])
async def test_a_repetitive_password_is_refused(world: World, password: str) -> None:
    answer = await world.client(number=302).post(SIGN_UP, json={"email": "new@example.com", "password": password})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "password")
