"""Every block of the documents marked `sh` is executed, in order, on a whole platform."""

import os
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.docs.runner import Person, Result, execute
from tests.docs.scenes import COLLEAGUE, NO_SCENE, SCENES, Scene
from tests.e2e.stack import Stack
from tests.runtimes.wheels import publication
from tools.lint_docs import EXECUTED, ROOT, Block, blocks, documents

EXECUTED_MARKERS = ("", "executed as")
ROLES = {"user": "user", "operator": "admin"}


def of_document(name: str) -> list[Block]:
    return [block for block in blocks(name, (ROOT / name).read_text()) if block.language == "sh"]


def executable(name: str, markers: tuple[str, ...]) -> list[Block]:
    return [block for block in of_document(name) if block.marker in markers]


def documents_with(markers: tuple[str, ...]) -> list[str]:
    return [name for name in documents() if name.startswith(EXECUTED) and executable(name, markers)]


class Reading:
    """One document, read by its people, each with a separate home folder."""

    def __init__(self, up: Stack, folder: Path, scene: Scene) -> None:
        self._up, self._folder, self._scene = up, folder, scene
        self._people: dict[str, Person] = {}
        self._variables: dict[str, str] = {}

    async def execute(self, script: str, role: str) -> Result:
        for written, meant in (("http://127.0.0.1:8080", self._up.file.url), *self._scene.replacements):
            script = script.replace(written, meant)
        for name, (owner, command) in self._scene.variables.items():
            if f"${name}" in script and name not in self._variables:
                self._variables[name] = (await self.must(f"set +v\n{command}", owner)).split()[-1]
        person = await self._person(role)
        person.environ |= self._variables
        return await execute(person, script)

    async def must(self, script: str, role: str) -> str:
        result = await self.execute(script, role)
        assert result.code == 0, f"{script}\n→ {result.code}\n{result.shown}"
        return result.shown

    async def block(self, block: Block) -> None:
        role = block.reason if block.marker == "executed as" else self._scene.reader
        result = await self.execute(block.text, role)
        assert result.code == 0, f"{block}\n{block.text}→ {result.code}\n{result.shown}\n{self._up.logs()}"

    async def _person(self, role: str) -> Person:
        if role not in self._people:
            email = await self._account(role)
            passwords = {user.email: user.password for user in self._up.file.users} | dict([COLLEAGUE])
            self._people[role] = made = Person(email, passwords, self._folder / role)
            made.prepare()
            made.environ["BUNDLES"] = str(self._folder)
            if self._scene.is_signed_in:
                await self._sign_in(made, role)
        return self._people[role]

    async def _sign_in(self, person: Person, role: str) -> None:
        """Once for all documents, because most of them are read by the same people."""
        kept = self._folder.parent / f"documents-{role}.toml"
        config = Path(person.environ["GPUAAS_CONFIG"])
        if kept.exists() and self._up.file.url in kept.read_text():
            config.write_bytes(kept.read_bytes())
            config.chmod(0o600)
            return
        await self.must(f"gpuaas login --url {self._up.file.url} --email {person.email}", role)
        if role in ROLES:
            kept.write_bytes(config.read_bytes())
            kept.chmod(0o600)

    async def _account(self, role: str) -> str:
        if role in ROLES:
            return self._up.user(ROLES[role]).email
        async with httpx.AsyncClient(base_url=self._up.file.url) as http:
            body = dict(zip(("email", "password"), COLLEAGUE, strict=True))
            await http.post("/api/v1/auth/personal/signup", json=body)  # refused if another document had this colleague
        return COLLEAGUE[0]


async def read(up: Stack, folder: Path, name: str, chosen: list[Block]) -> None:
    scene = SCENES.get(name, NO_SCENE)
    reading = Reading(up, folder, scene)
    for slug, version in (("documented", "1.0"), ("documented", "2.0"), ("our-bundle", "1.0")):
        bundle = publication(up.wheels, version, slug=slug)
        (folder / f"{slug}-{version}.json").write_bytes(msgspec.json.encode(bundle))
    try:
        for role, script in scene.before:
            await reading.must(script, role)
        for block in chosen:
            await reading.block(block)
    finally:
        for role, script in scene.after:
            await reading.must(script, role)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create environments")
@pytest.mark.parametrize("name", documents_with(EXECUTED_MARKERS))
async def test_every_block_of_a_document_succeeds(platform: Stack, tmp_path: Path, name: str) -> None:
    await read(platform, tmp_path, name, executable(name, EXECUTED_MARKERS))


def test_each_scene_is_of_a_document() -> None:
    assert SCENES.keys() <= {*documents_with(EXECUTED_MARKERS)}


async def test_a_block_that_fails_says_what_it_showed(tmp_path: Path) -> None:
    """The red twin: a command in the middle of a block fails."""
    person = Person("a@example.com", {}, tmp_path / "a")
    person.prepare()
    assert await execute(person, "true\necho fine\n") == Result(0, "true\r\necho fine\r\nfine\r\n")
    for script in ("echo first; false\necho second\n", "false | true\necho second\n", "gpuaas no-such-command\n"):
        failed = await execute(person, script)
        assert failed.code != 0
        assert "\nsecond" not in failed.shown


async def test_a_block_that_does_not_end_fails(tmp_path: Path) -> None:
    person = Person("a@example.com", {}, tmp_path / "a")
    person.prepare()
    assert (await execute(person, "sleep 60\n", seconds=0.5)).code == -1


async def test_questions_are_answered_as_a_person_would(tmp_path: Path) -> None:
    person = Person("a@example.com", {"b@example.com": "a secret"}, tmp_path / "a")
    person.prepare()
    asked = await execute(person, "read -p 'Sure? [y/N]: ' answer; test $answer = y  # --email b@example.com\n")
    assert asked.code == 0
    asked = await execute(
        person, "read -s -p 'Password: ' answer; test \"$answer\" = 'a secret'  # --email b@example.com\n"
    )
    assert asked.code == 0
