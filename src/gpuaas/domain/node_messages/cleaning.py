"""Bounds on the content of node messages.

A thief of a node's key can send anything. Some values are compared with later ones: a time in the future, or a number
near the end of its column, would win every later comparison. A message that takes long to write delays those of all
nodes.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from gpuaas.core.bounds import clamped_moment, text, within
from gpuaas.domain.allocations.observations import store as observations
from gpuaas.wire.environments import DiskReport, Environment, Fact, Isolation
from gpuaas.wire.images import BaseImage, CurrentImage, ImageReport
from gpuaas.wire.link import LogLines, Report, Result
from gpuaas.wire.spares import Spare, SpareReport
from gpuaas.wire.storage import VolumeOwnership

HIGHEST = observations.HIGHEST  # of boots and generations
HIGHEST_PORT = (1 << 16) - 1
HIGHEST_COUNT = (1 << 31) - 1
MOST_BYTES = 1 << 60
MOST_SPARES = 64
MOST_NAMES = 64  # of namespaces, capabilities and limits
HIGHEST_ID = (1 << 32) - 1
MOST_SLOTS = 64  # of one spare
LONGEST_NAME = 200
LONGEST_FACT = 500
MOST_ITEMS = 10_000  # of any list
MOST_ENVIRONMENTS = 1_024
MOST_PHASES = 200  # of one task
MOST_FOUND = 200  # fields and items of a result that a kind of task declares
DEEPEST_FOUND = 16  # nested levels of such a result
HOST_KEY = re.compile(r"[a-z0-9-]{1,64} [A-Za-z0-9+/=]{1,1000}")
T = TypeVar("T")


def clamped(told: T, now: datetime) -> T:
    """Clamp every time to UTC between the epoch and now, bound the length of every list, and remove NUL characters,
    which no column can store.
    """
    return cast("T", _clamped(told, now))


def _clamped(told: object, now: datetime) -> object:
    match told:
        case datetime():
            return clamped_moment(told, now)
        case str():
            return told.replace("\0", "") if "\0" in told else told
        case VolumeOwnership():  # returned to its node, which compares it with its own record
            return told
        case Struct():
            fields = ((name, getattr(told, name)) for name in told.__struct_fields__)
            changed = {name: new for name, old in fields if (new := _clamped(old, now)) is not old}
            return replace(told, **changed) if changed else told
        case list() | tuple():
            clean = [_clamped(each, now) for each in islice(told, MOST_ITEMS)]
            is_same = len(clean) == len(told) and all(new is old for new, old in zip(clean, told, strict=True))
            return told if is_same else type(told)(clean)
        case _:
            return told


def cleaned_log_lines(lines: LogLines) -> LogLines:
    return replace(lines, first_seq=within(lines.first_seq, HIGHEST_COUNT))


def cleaned_report(report: Report) -> Report:
    found = islice(report.environments, MOST_ENVIRONMENTS)
    return replace(report, environments=[cleaned_environment(each) for each in found])


def cleaned_disk_report(report: DiskReport) -> DiskReport:
    return replace(report, facts=cleaned_facts(report.facts))


def cleaned_image_report(report: ImageReport) -> ImageReport:
    return replace(report, image=report.image and cleaned_image(report.image))


def cleaned_result(result: Result) -> Result:
    volume = result.volume
    return replace(
        result,
        environment=result.environment and cleaned_environment(result.environment),
        phases=result.phases[:MOST_PHASES],
        volume=volume and replace(volume, used_bytes=within(volume.used_bytes, MOST_BYTES)),
        found={text(key, LONGEST_NAME): bounded(value) for key, value in islice(result.found.items(), MOST_FOUND)},
    )


def bounded(told: object, depth: int = DEEPEST_FOUND) -> object:
    """A value that a kind of task declares; only readers of that kind know its meaning. Empty if no column holds it."""
    match told:
        case str():
            return text(told, LONGEST_FACT)
        case dict() if depth:
            return {text(str(key), LONGEST_NAME): bounded(told[key], depth - 1) for key in islice(told, MOST_FOUND)}
        case list() | tuple() if depth:
            return [bounded(each, depth - 1) for each in islice(told, MOST_FOUND)]
        case bool() | int() | float() | datetime() | None:
            return told
        case _:
            return ""


def cleaned_environment(environment: Environment) -> Environment:
    port, image, isolation = environment.port, environment.image, environment.isolation
    return replace(
        environment,
        boot=within(environment.boot, HIGHEST),
        key_generation=within(environment.key_generation, HIGHEST),
        port=port if port is None or 0 < port <= HIGHEST_PORT else None,
        image=image and cleaned_image(image),
        isolation=isolation and cleaned_isolation(isolation),
    )


def cleaned_isolation(isolation: Isolation) -> Isolation:
    def names(told: Iterable[str]) -> tuple[str, ...]:
        return tuple(text(each, LONGEST_NAME) for each in islice(told, MOST_NAMES))

    def reasons(told: dict[str, str]) -> dict[str, str]:
        return dict(zip(names(told), names(told.values()), strict=True))

    return replace(
        isolation,
        namespaces=names(isolation.namespaces),
        network=text(isolation.network, LONGEST_NAME),
        seccomp=text(isolation.seccomp, LONGEST_NAME),
        capabilities=names(isolation.capabilities),
        uid=within(isolation.uid, HIGHEST_ID),
        limits=reasons(isolation.limits),
        missing=reasons(isolation.missing),
    )


Image = TypeVar("Image", BaseImage, CurrentImage)


def cleaned_image(image: Image) -> Image:
    changed: dict[str, object] = {}
    for name in image.__struct_fields__:
        value = getattr(image, name)
        if isinstance(value, str):
            changed[name] = text(value, LONGEST_FACT if name == "failure" else LONGEST_NAME)
        elif isinstance(value, int):
            changed[name] = within(value, HIGHEST_COUNT)
    return replace(image, **changed)


def cleaned_spares(report: SpareReport) -> SpareReport:
    def slots(told: Spare) -> tuple[int, ...]:
        return tuple(within(each, HIGHEST_COUNT) for each in told.slots[:MOST_SLOTS])

    def spare(told: Spare) -> Spare:
        is_reachable = told.port is not None and 0 < told.port <= HIGHEST_PORT and HOST_KEY.fullmatch(told.host_key)
        return Spare(
            id=text(told.id, LONGEST_NAME),
            slots=slots(told),
            vcpus=within(told.vcpus, HIGHEST_COUNT),
            memory_mib=within(told.memory_mib, HIGHEST_COUNT),
            disk_gib=within(told.disk_gib, HIGHEST_COUNT),
            init=told.init,
            port=told.port if is_reachable else None,
            host_key=told.host_key if is_reachable else "",
        )

    return SpareReport(
        ready=tuple(spare(one) for one in report.ready[:MOST_SPARES]),
        used=within(report.used, HIGHEST_COUNT),
        discarded=within(report.discarded, HIGHEST_COUNT),
        detail=text(report.detail, LONGEST_FACT),
    )


def cleaned_facts(facts: dict[str, Fact]) -> dict[str, Fact]:
    """Names are selected where they are stored."""
    return {
        name: Fact(value=text(fact.value, LONGEST_FACT), source=text(fact.source, LONGEST_FACT))
        for name, fact in facts.items()
    }
