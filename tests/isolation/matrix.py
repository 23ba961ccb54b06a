"""Every probe by every part at own, other and missing things; and what it means for nothing to leak."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from litestar.types import ASGIApp

from tests.isolation.asgi import Answer, send
from tests.isolation.ledger import changes, ledger
from tests.isolation.probes import Probe, is_everybodys
from tests.isolation.town import PERSONAL, TENANTS, Part, Town

ALL_PARTS = 1_000
OTHER_OWNER = "other owner"


@dataclass(frozen=True)
class Finding:
    part: str
    probe: Probe
    why: str

    def __str__(self) -> str:
        return f"{self.part}: {self.probe}: {self.why}"


@dataclass
class Sweep:
    """What one pass over the matrix found, and how much it asked."""

    findings: list[Finding] = field(default_factory=list)
    asked: int = 0
    changed: list[str] = field(default_factory=list)

    def add(self, part: Part, probe: Probe, why: str) -> None:
        self.findings.append(Finding(part.name, probe, why))

    @property
    def leaking(self) -> set[Probe]:
        return {finding.probe for finding in self.findings}

    def __str__(self) -> str:
        return "\n".join([f"changed: {self.changed}", *map(str, self.findings)])


@dataclass(frozen=True)
class Matrix:
    town: Town
    app: ASGIApp
    probes: list[Probe]
    by_fence: bool = False  # the service's checks are off: a tenant's people see all of their tenant
    parts_per_probe: int = ALL_PARTS

    async def foreign(self) -> Sweep:
        """Nothing another tenant has can be told from what there is not, and nothing comes of asking."""
        sweep = Sweep()
        before = await ledger(self.town.world.dsn)
        for probe in self.probes:
            for part in self._parts(probe):
                await self._try_foreign(sweep, part, probe)
        sweep.changed = changes(before, await ledger(self.town.world.dsn))
        return sweep

    def _parts(self, probe: Probe) -> list[Part]:
        """All, or a sample that is the same in every run: the owner of another tenant, and some of the others."""
        others = [part for part in self.town.parts if part.name != OTHER_OWNER]
        if self.parts_per_probe > len(others):
            return self.town.parts
        chosen = random.Random(str(probe)).sample(others, self.parts_per_probe - 1)
        return [part for part in self.town.parts if part.name == OTHER_OWNER or part in chosen]

    async def _try_foreign(self, sweep: Sweep, part: Part, probe: Probe) -> None:
        """A route without an id shows only what is the part's own, whoever asks; changing it is no foreign matter."""
        if not probe.noun:
            if not probe.is_change:
                self._scan(sweep, part, probe, await self._answer(sweep, part, probe, ""))
            return
        if part.is_operator and is_everybodys(probe):
            return
        if self.by_fence and probe.noun == "worker":  # a name in our code, and no row that a fence could hide
            await self._answer(sweep, part, probe, self.town.things["", "worker"])
            return
        missing = await self._seen(sweep, part, probe, self._missing(probe))
        for id in self._foreign_things(part, probe):
            other = await self._seen(sweep, part, probe, id)
            if other != missing:
                sweep.add(part, probe, f"other is {other[0]}, missing is {missing[0]}: {other[2]!r} {missing[2]!r}")

    def _missing(self, probe: Probe) -> str:
        return "nobody" if probe.noun == "worker" else self.town.missing(probe.noun)

    def _foreign_things(self, part: Part, probe: Probe) -> Iterator[str]:
        if probe.noun in ("node", "worker", "bundle", "unknown_environment", "unknown_volume"):
            yield self.town.things["", probe.noun]
            return
        for tenant in TENANTS:
            if probe.is_admin or not self._is_own(part, probe.noun, tenant):
                yield self.town.things[tenant, probe.noun]

    def _is_own(self, part: Part, noun: str, tenant: str) -> bool:
        if noun in PERSONAL:
            return part.is_person and tenant == part.home
        wider = self.by_fence or noun == "tenant"
        return tenant == part.home or (wider and tenant == part.fence)

    async def _seen(
        self, sweep: Sweep, part: Part, probe: Probe, id: str
    ) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """All of an answer but its correlation id, and the id that was asked for itself."""
        answer = await self._answer(sweep, part, probe, id)
        self._scan(sweep, part, probe, answer, asked=id)
        headers = tuple(header for header in answer.headers if header[0] != "x-correlation-id")
        body = answer.body.replace(answer.header("x-correlation-id").encode(), b"")
        return answer.status, headers, body.replace(id.encode(), b"")

    async def _answer(self, sweep: Sweep, part: Part, probe: Probe, id: str) -> Answer:
        sweep.asked += 1
        answer = await send(self.app, probe.ask(self.town, part, id))
        if answer.status >= 500:
            sweep.add(part, probe, f"{answer.status}")
        return answer

    def _scan(self, sweep: Sweep, part: Part, probe: Probe, answer: Answer, asked: str = "") -> None:
        """Whatever was asked, no answer names what its reader may not know of."""
        if part.is_operator and probe.is_admin:
            return
        for mark in self._secret_to(part) - {asked}:
            if mark.encode() in answer.body:
                sweep.add(part, probe, f"tells of {mark}")

    def _secret_to(self, part: Part) -> set[str]:
        secret: set[str] = set()
        for tenant in TENANTS:
            if tenant != part.home and not (self.by_fence and tenant == part.fence):
                known = {self.town.things[tenant, "tenant"]} if tenant == part.fence else set()
                secret |= self.town.marks[tenant] - known
            elif not part.is_person:
                secret |= {self.town.things[tenant, noun] for noun in PERSONAL}
        return secret

    async def own(self) -> Sweep:
        """What is one's own answers as one's role says; so the matrix is not blind, and roles hold."""
        sweep = Sweep()
        gone: set[str] = set()
        for probe in self.probes:
            if probe.path in gone:  # what was removed cannot be again
                continue
            worked = False
            for part in sorted(self.town.parts, key=lambda part: expected(part, probe) == DONE):
                answer = await self._answer(sweep, part, probe, self._own_thing(part, probe))
                if answer.status not in expected(part, probe):
                    sweep.add(part, probe, f"{answer.status}: {answer.body[:200]!r}")
                worked = worked or answer.status in DONE
            if worked and probe.method == "DELETE" and "/members/" in probe.path:
                gone.add(probe.path)
            if not worked:
                sweep.findings.append(Finding("nobody", probe, "can ever use this"))
        return sweep

    def _own_thing(self, part: Part, probe: Probe) -> str:
        if not probe.noun:
            return ""
        things = self.town.things
        return things.get(("", probe.noun)) or things[part.home or "ada", probe.noun]


DONE = frozenset({200, 201, 202, 204, 409})
FOR_HOLDER_AND_LEADERS = ("/restart", "/resize", "/extend", "/audit")  # the owner is both; a mere member is neither
CONTROLLED = ("/release", "/runtime-bundles", "/storage-attachments")  # the same, for changes alone
UNKNOWN, REFUSED, HIDDEN = frozenset({401}), frozenset({403}), frozenset({404, 422})


def expected(part: Part, probe: Probe) -> frozenset[int]:
    """What the part's role makes of its own, or for parts with none, of Ada's."""
    if not part.token.startswith(("gps_", "gpt_")):
        return UNKNOWN
    if probe.is_admin:
        return DONE if part.is_operator else REFUSED
    if probe.place == "query":  # a filter: of what is not one's own it lets nothing through
        return DONE | HIDDEN
    if not sees(part, probe):
        return HIDDEN
    if not may(part, probe):
        return REFUSED
    return DONE if part.is_person or not probe.nouns & PERSONAL else HIDDEN


def sees(part: Part, probe: Probe) -> bool:
    """Of personal things only the person; of a tenant's its people; of the tenant itself also who has no project."""
    if not probe.nouns - {"sku"}:
        return True
    if probe.is_personal:
        return part.is_person
    return bool(part.home or (probe.nouns == {"tenant"} and part.fence))


def may(part: Part, probe: Probe) -> bool:
    if "tenant" in probe.nouns or probe.path.endswith(FOR_HOLDER_AND_LEADERS):
        return part.leads or (part.is_person and not probe.is_change)  # whoever reads may read, also by token
    if "tenant" in probe.nouns or probe.is_led or probe.path.endswith(FOR_HOLDER_AND_LEADERS):
        return part.leads
    if probe.is_change and any(part in probe.path for part in CONTROLLED):
        return part.leads
    if probe.body == "MintTerminalToken":  # the holder's alone
        return part.writes and part.is_person
    if probe.path.endswith("/recording"):
        return part.leads or part.is_person
    return part.writes or not probe.is_change or (not probe.nouns and part.name != "read-only token")
