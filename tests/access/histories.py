"""Random deeds of an owner and three members around one machine, kept in step with a model in plain words."""

import random
from dataclasses import dataclass, field

from gpuaas.wire.identity import Role
from tests.world import Person, World


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
        self.told: list[str] = []

    async def live(self, steps: int) -> None:
        for _ in range(steps):
            await self.step()

    async def step(self) -> None:
        person = self.source.choice(list(self.people.values()))
        deed = self.source.choice([self.grant, self.grant, self.revoke, self.revoke, self.use_key, self.leave])
        self.told.append(f"{deed.__name__} {person.email}")
        await deed(person)

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
        body = {"secret": sent["link"].rpartition("#")[2]}
        (await person.http.post("/api/v1/invitations/accept", json=body)).raise_for_status()


async def members(world: World, keys: dict[str, str]) -> dict[str, Person]:
    """Who works in Ada's project, each with a key of their own."""
    people = {}
    for name, line in keys.items():
        people[name] = await world.sign_up(name, key=line)
        await world.join(people[name], world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    return people
