"""The set holds exactly what was granted, whatever people paste as keys, comments and titles."""

import base64
import random
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gpuaas.domain.access.keys import MalformedKey, PublicKey, parse
from gpuaas.wire.environments import KeySet
from tests.engines.benches import Key, OciBench, ignore, keys, oci, spec
from tests.engines.openssh import OpenSsh
from tests.world import World, furnished

COMMENTS = [
    *("", "ada@box", "a b c", "ünï©ode", "' or 1=1 --", '" command="sh"', "$(reboot)", "`id`", "%h %u", "\\", "#"),
    *(
        "ssh-ed25519 AAAA",
        "\ttab",
        "no-pty,command=x",
        "\u202eright to left",
        "x" * 500,
        "]]>",
        "<script>",
        "\u2028sep",
    ),
]
PREFIXES = ["", " ", "\t", 'command="sh" ', "no-pty ", "from=* ", "#", "\ufeff", "ssh-ed25519 ", "@cert-authority * "]
TITLES = [*COMMENTS[1:], "laptop\nssh-ed25519 AAAA", "a\r\nb", "\x1b[2J", "x" * 100, "\u0000", "", "x" * 101]
BATCH = 2_000
IN_A_SET = 20


def public_key(source: random.Random) -> str:
    if source.random() < 0.7:
        key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey
        key = ed25519.Ed25519PrivateKey.from_private_bytes(source.randbytes(32)).public_key()
    else:
        curve = source.choice([ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
        key = ec.derive_private_key(source.getrandbits(200) + 1, curve).public_key()
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def pasted(source: random.Random) -> str:
    """What people, and those who mean harm, put in the box."""
    line, draw = public_key(source), source.random()
    if draw < 0.2:
        type, blob = line.split()
        raw = bytearray(base64.b64decode(blob))
        raw[source.randrange(len(raw))] ^= 1 << source.randrange(8)
        line = f"{type} {base64.b64encode(bytes(raw)).decode()}"
    elif draw < 0.4:
        line = source.choice(PREFIXES) + line
    elif draw < 0.5:
        line += source.choice(["\n", "\r\n", "\r", "\0", "\x0b", "\x85"]) + public_key(source)
    return f"{line} {source.choice(COMMENTS)}"


def taken(source: random.Random, count: int) -> list[PublicKey]:
    found = []
    for _ in range(count):
        try:
            found.append(parse(pasted(source)))
        except MalformedKey:
            continue
    return found


def judge(found: list[PublicKey], folder: Path) -> None:
    """By OpenSSH itself: one line each, of our making, with no word of anybody's in it."""
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        file = folder / "keys"
        file.write_text("".join(f"{key.line}\n" for key in batch))
        assert len(file.read_bytes().splitlines()) == len(batch)
        assert all(len(key.line.split(" ")) == 2 for key in batch)
        told = subprocess.run(["ssh-keygen", "-lf", str(file)], capture_output=True, text=True, check=True)
        assert [line.split()[1] for line in told.stdout.splitlines()] == [key.fingerprint for key in batch]


def test_what_is_taken_is_one_key_and_nothing_else(tmp_path: Path) -> None:
    found = taken(random.Random(17), 600)
    assert len(found) > 250
    judge(found, tmp_path)


@pytest.mark.soak
def test_of_twenty_thousand_pasted_keys_each_is_one_key_or_refused(tmp_path: Path) -> None:
    judge(taken(random.Random(18), 20_000), tmp_path)


def test_a_planted_option_would_be_seen(tmp_path: Path) -> None:
    key = parse(public_key(random.Random(1)))
    planted = PublicKey(f"no-pty {key.type}", key.blob, key.fingerprint, "")
    with pytest.raises(AssertionError):
        judge([planted], tmp_path)


async def admits_exactly(bench: OciBench, folder: Path, id: str, count: int) -> None:
    """Of twice as many people with real keys, a live door lets in those of the set, by the real OpenSSH client."""
    people = [Key(f"user_{number}") for number in range(2 * count)]
    made = await bench.engine.ensure(spec(id, keys(1, *people[:count])), ignore)
    for number, person in enumerate(people):
        if number % 2 and number >= count:
            continue  # half of the strangers are enough
        place = folder / str(number)
        place.mkdir()
        outcome = await OpenSsh(place, made, person).run("true")
        assert outcome.code == (0 if number < count else 255), (number, outcome)
    await bench.engine.set_keys(id, KeySet(generation=2))
    assert (await OpenSsh(folder / "0", made, people[0]).run("true")).code == 255


async def test_a_live_door_admits_exactly_the_set(tmp_path: Path) -> None:
    async with oci(ports=range(28_600, 28_610)) as bench:
        await admits_exactly(bench, tmp_path, "few", 4)


@pytest.mark.soak
async def test_a_live_door_admits_exactly_two_hundred(tmp_path: Path) -> None:
    async with oci(ports=range(28_610, 28_620)) as bench:
        await admits_exactly(bench, tmp_path, "many", 200)


async def fill_sets(folder: Path, source: random.Random, count: int) -> int:
    """By the front door, set after set of what was taken; how many sets the machine was seen to admit exactly."""
    async with furnished(folder) as world:
        id, chosen, sets = await world.allocation(), list[dict[str, str]](), 0
        for _ in range(count):
            body = {"title": source.choice(TITLES), "public_key": pasted(source)}
            answer = await world.http.post("/api/v1/ssh-keys", json=body)
            assert answer.status_code in (201, 422), answer.text
            chosen += [answer.json()] if answer.status_code == 201 else []
            if len(chosen) == IN_A_SET:
                await expect_exactly(world, id, chosen, folder)
                chosen, sets = [], sets + 1
        return sets


async def expect_exactly(world: World, id: str, chosen: list[dict[str, str]], folder: Path) -> None:
    wanted = {"ssh_key_ids": [key["id"] for key in chosen]}
    (await world.http.put(f"/api/v1/allocations/{id}/ssh-keys", json=wanted)).raise_for_status()
    await world.nodes.settle()
    admitted = world.node_of(await world.get(id)).environments[id].keys.keys
    assert {f"{key.type} {key.blob}" for key in admitted} == {key["public_key"] for key in chosen}
    assert len(admitted) == len(chosen)
    file = folder / "admitted"
    file.write_text("".join(f"{key.type} {key.blob}\n" for key in admitted))
    told = subprocess.run(["ssh-keygen", "-lf", str(file)], capture_output=True, text=True, check=True)
    assert {line.split()[1] for line in told.stdout.splitlines()} == {key["fingerprint"] for key in chosen}


async def test_a_machine_admits_exactly_the_keys_that_were_chosen_for_it(tmp_path: Path) -> None:
    assert await fill_sets(tmp_path, random.Random(19), 100) >= 2


@pytest.mark.soak
async def test_of_twenty_thousand_titles_and_keys_a_machine_admits_exactly_the_chosen(tmp_path: Path) -> None:
    assert await fill_sets(tmp_path, random.Random(20), 20_000) >= 300
