"""Public keys, parsed: what ssh-keygen makes is taken, what it would not read is refused, and nothing is passed on."""

import base64
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gpuaas.domain.access.keys import MalformedKey, parse
from gpuaas.wire.allocations import Status
from tests.world import KEY, World

KINDS = {
    "ed25519": [],
    "ecdsa256": ["-b", "256"],
    "ecdsa384": ["-b", "384"],
    "ecdsa521": ["-b", "521"],
    "rsa": ["-b", "3072"],
}
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")


def ssh_keygen(*args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ssh-keygen", *args], input=text, capture_output=True, text=True, check=False)


def made(folder: Path, kind: str, bits: list[str]) -> str:
    file = folder / "key"
    done = ssh_keygen(
        "-q",
        "-t",
        kind.rstrip("0123456789") if kind != "ed25519" else kind,
        *bits,
        "-N",
        "",
        "-C",
        "ada@box",
        "-f",
        str(file),
    )
    assert done.returncode == 0, done.stderr
    return file.with_suffix(".pub").read_text()


@needs_ssh_keygen
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_ssh_keygen_makes_is_taken_with_its_fingerprint(tmp_path: Path, kind: str) -> None:
    line = made(tmp_path, kind, KINDS[kind])
    key = parse(line)
    assert key.comment == "ada@box"
    assert key.line == " ".join(line.split()[:2])
    assert key.fingerprint == ssh_keygen("-lf", "/dev/stdin", text=line).stdout.split()[1]


@needs_ssh_keygen
def test_a_short_rsa_key_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(MalformedKey, match=r"2048 bits.*better make an ed25519 key"):
        parse(made(tmp_path, "rsa", ["-b", "2048"]))


@needs_ssh_keygen
def test_a_certificate_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "ed25519", [])
    ssh_keygen("-q", "-s", str(tmp_path / "key"), "-I", "ada", str(tmp_path / "key.pub"))
    with pytest.raises(MalformedKey):
        parse((tmp_path / "key-cert.pub").read_text())


@needs_ssh_keygen
def test_a_private_key_is_refused_by_name(tmp_path: Path) -> None:
    made(tmp_path, "ed25519", [])
    text = (tmp_path / "key").read_text()
    with pytest.raises(MalformedKey):
        parse(text)
    with pytest.raises(MalformedKey, match="never send that"):
        parse(text.replace("\n", " "))


TYPE, BLOB = KEY.split()
RAW = base64.b64decode(BLOB)
BAD = {
    "nothing": "",
    "blanks": "   \n",
    "type alone": TYPE,
    "blob alone": BLOB,
    "options": f'command="rm -rf /" {KEY}',
    "an option without value": f"no-pty {KEY}",
    "two keys on two lines": f"{KEY}\n{KEY}",
    "a line break in the comment": f"{KEY} ada\nssh-rsa AAAA",
    "a carriage return": f"{KEY} ada\rroot",
    "NUL": f"{KEY} ada\x00",
    "DEL": f"{KEY} ada\x7f",
    "not base64": f"{TYPE} !!!!",
    "base64 with blanks inside": f"{TYPE} {BLOB[:20]} {BLOB[20:]}",
    "url-safe base64": f"{TYPE} {BLOB.replace('/', '_').replace('+', '-')[:-4]}-_-_",
    "cut short": f"{TYPE} {base64.b64encode(RAW[:-1]).decode()}",
    "trailing junk": f"{TYPE} {base64.b64encode(RAW + b'x').decode()}",
    "a trailing field": f"{TYPE} {base64.b64encode(RAW + struct.pack('>I', 1) + b'x').decode()}",
    "another type inside": f"ssh-rsa {BLOB}",
    "an unknown type": f"ssh-dss {BLOB}",
    "type in capitals": f"SSH-ED25519 {BLOB}",
    "a length beyond the end": f"{TYPE} {base64.b64encode(struct.pack('>I', 1 << 31) + b'x').decode()}",
    "PuTTY's format": "---- BEGIN SSH2 PUBLIC KEY ----",
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_one_plain_key_is_refused(case: str) -> None:
    with pytest.raises(MalformedKey):
        parse(BAD[case])


def test_blanks_around_a_key_do_no_harm() -> None:
    assert parse(f"  {KEY}  ada \n").line == KEY


def generated(source: random.Random) -> str:
    if source.random() < 0.5:
        seed = source.randbytes(32)
        public: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey
        public = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key()
    else:
        curve = source.choice([ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
        public = ec.derive_private_key(source.getrandbits(200) + 1, curve).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def damaged(source: random.Random, line: str) -> str:
    """One flipped byte or a cut, inside the blob."""
    kind, blob = line.split()
    raw = bytearray(base64.b64decode(blob))
    if source.random() < 0.3:
        raw = raw[: source.randrange(1, len(raw))]
    else:
        raw[source.randrange(len(raw))] ^= 1 << source.randrange(8)
    return f"{kind} {base64.b64encode(bytes(raw)).decode()}"


@needs_ssh_keygen
def test_we_take_nothing_that_ssh_keygen_would_not_read_and_agree_on_every_fingerprint(tmp_path: Path) -> None:
    source = random.Random(11)
    lines = [generated(source) for _ in range(150)]
    lines += [damaged(source, generated(source)) for _ in range(150)]
    taken = {}
    for line in lines:
        try:
            taken[line] = parse(line).fingerprint
        except MalformedKey:
            continue
    assert len(taken) >= 150
    file = tmp_path / "keys"
    file.write_text("".join(f"{line}\n" for line in taken))
    read = [told.split()[1] for told in ssh_keygen("-lf", str(file)).stdout.splitlines()]
    unread = set(taken.values()) - set(read)
    assert unread == set()


async def test_a_key_is_shown_as_we_write_it_and_never_as_it_was_sent(world: World) -> None:
    line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG8GUnmPEyUB28rr0TfRTKDB0XWcWvIsh7CEfRAdaxKC <script>@evil"
    added = await world.http.post("/api/v1/ssh-keys", json={"title": "box", "public_key": line})
    assert added.status_code == 201
    assert added.json()["public_key"] == " ".join(line.split()[:2])
    assert "script" not in (await world.http.get("/api/v1/ssh-keys")).text


async def test_the_same_key_twice_is_a_conflict_for_one_person_and_none_for_two(world: World) -> None:
    again = await world.http.post("/api/v1/ssh-keys", json={"title": "again", "public_key": f"{KEY} other-comment"})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert (await world.sign_up("eve")).key_id != world.ada.key_id


async def test_a_bad_key_is_refused_with_what_is_wrong(world: World) -> None:
    answer = await world.http.post("/api/v1/ssh-keys", json={"title": "x", "public_key": BAD["options"]})
    assert (answer.status_code, answer.json()["code"]) == (422, "ssh_key_invalid")
    assert answer.json()["errors"][0]["field"] == "public_key"


async def test_a_key_of_somebody_else_does_not_exist(world: World) -> None:
    eve = await world.sign_up("eve")
    for verb in ("GET", "DELETE"):
        answer = await eve.http.request(verb, f"/api/v1/ssh-keys/{world.ada.key_id}")
        assert (answer.status_code, answer.json()["code"]) == (404, "ssh_key_not_found")
    assert (await world.http.get(f"/api/v1/ssh-keys/{world.ada.key_id}")).status_code == 200


async def test_a_key_says_which_live_machines_it_opens(world: World) -> None:
    a, gone = await world.allocation(), await world.allocation()
    await world.bring(gone, Status.RELEASED)
    (key,) = (await world.http.get("/api/v1/ssh-keys")).json()["items"]
    opened = {"allocation_id": a, "name": (await world.get(a)).name, "project_id": world.ada.project_id}
    assert key["opens"] == [opened]
    assert (await world.http.get(f"/api/v1/ssh-keys/{key['id']}")).json() == key


async def test_a_removed_key_is_gone_from_the_machines_it_opened(world: World) -> None:
    a = await world.allocation()
    assert (await world.http.delete(f"/api/v1/ssh-keys/{world.ada.key_id}")).status_code == 204
    assert (await world.http.get("/api/v1/ssh-keys")).json()["items"] == []
    await world.nodes.settle()
    assert world.node_of(await world.get(a)).environments[a].keys.keys == ()
