"""The set holds exactly what was granted: whatever people paste as keys, comments and titles, and whatever they do."""

import base64
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gpuaas.domain.access.keys import MalformedKey, PublicKey, parse
from gpuaas.wire.environments import KeySet
from gpuaas.wire.identity import Role
from tests.engines.benches import Key, SandboxBench, ignore, keys, sandbox, spec
from tests.engines.openssh import OpenSsh
from tests.world import Person, World, furnished

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
BATCH = 2_000


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


async def admits_exactly(bench: SandboxBench, folder: Path, id: str, count: int) -> None:
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
    async with sandbox(uid=0, ports=range(28_600, 28_610)) as bench:
        await admits_exactly(bench, tmp_path, "few", 4)


@pytest.mark.soak
async def test_a_live_door_admits_exactly_two_hundred(tmp_path: Path) -> None:
    async with sandbox(uid=0, ports=range(28_610, 28_620)) as bench:
        await admits_exactly(bench, tmp_path, "many", 200)


@dataclass
class Model:
    """What should be true of one machine: whose key is in, by plain words."""

    holder: str
    granted: set[str] = field(default_factory=set)  # with a key
    waiting: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)

    @property
    def admitted(self) -> set[str]:
        return {self.holder} | self.granted


class History:
    """Random deeds of an owner and three members, kept in step with the model."""

    def __init__(self, world: World, people: dict[str, Person], id: str, source: random.Random) -> None:
        self.world, self.people, self.id, self.source = world, people, id, source
        self.model = Model(holder=world.ada.id, members={person.id for person in people.values()})
        self.grants: dict[str, str] = {}

    async def step(self) -> str:
        person = self.source.choice(list(self.people.values()))
        deed = self.source.choice([self.grant, self.grant, self.revoke, self.revoke, self.use_key, self.leave])
        await deed(person)
        return f"{deed.__name__} {person.email}"

    @property
    def place(self) -> str:
        return f"/api/v1/allocations/{self.id}/access-grants"

    async def grant(self, person: Person) -> None:
        with_key = self.source.random() < 0.6
        wish = {"user_id": person.id, **({"ssh_key_id": person.key_id} if with_key else {})}
        answer = await self.world.http.post(self.place, json=wish)
        is_live = person.id in self.model.granted | self.model.waiting
        assert answer.status_code == (422 if person.id not in self.model.members else 409 if is_live else 201)
        if answer.status_code == 201:
            self.grants[person.id] = answer.json()["id"]
            (self.model.granted if with_key else self.model.waiting).add(person.id)

    async def use_key(self, person: Person) -> None:
        if person.id in self.model.waiting:
            place = f"{self.place}/{self.grants[person.id]}"
            (await person.http.patch(place, json={"ssh_key_id": person.key_id})).raise_for_status()
            self.model.waiting.discard(person.id)
            self.model.granted.add(person.id)

    async def revoke(self, person: Person) -> None:
        if person.id in self.model.granted | self.model.waiting:
            by = self.source.choice([self.world.ada, person])
            (await by.http.delete(f"{self.place}/{self.grants[person.id]}")).raise_for_status()
            self.model.granted.discard(person.id)
            self.model.waiting.discard(person.id)

    async def leave(self, person: Person) -> None:
        """And come back at once, with nothing."""
        members = f"/api/v1/projects/{self.world.ada.project_id}/members"
        (await person.http.delete(f"{members}/{person.id}")).raise_for_status()
        self.model.granted.discard(person.id)
        self.model.waiting.discard(person.id)
        sent = (await self.world.http.post(members, json={"email": person.email})).raise_for_status().json()
        (await person.http.post(f"/api/v1/invitations/{sent['id']}/accept")).raise_for_status()

    async def seen(self) -> set[str]:
        await self.world.nodes.settle()
        node = self.world.node_of(await self.world.get(self.id))
        return {key.user_id for key in node.environments[self.id].keys.keys}


async def live_through(folder: Path, seed: int, steps: int) -> None:
    async with furnished(folder) as world:
        people = {}
        for name in ("bob", "cyd", "dan"):
            line = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
            people[name] = await world.sign_up(name, key=line)
            await world.join(people[name], world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
        history = History(world, people, await world.allocation(), random.Random(seed))
        told: list[str] = []
        for number in range(steps):
            told.append(await history.step())
            if number % 3 == 2:
                assert await history.seen() == history.model.admitted, told
        assert await history.seen() == history.model.admitted, told


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_random_history_leaves_exactly_who_was_granted(tmp_path: Path, seed: int) -> None:
    await live_through(tmp_path, seed, 24)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
async def test_random_histories_leave_exactly_who_was_granted(tmp_path: Path, seed: int) -> None:
    await live_through(tmp_path, seed, 60)
