"""What a node says, kept within what can be: a node whose key was stolen may say anything, and some of it is compared
with what comes later. A time in the future or a number near the end of its column would stop that for ever."""

from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from gpuaas.domain.allocations.observations import store as observations
from gpuaas.wire.environments import Connection, DiskReport, Environment, Fact, LoginEvent
from gpuaas.wire.images import ImageReport
from gpuaas.wire.link import Logins, LogLines, Progress, Report, Result, Sessions, TerminalReport
from gpuaas.wire.spares import SpareReport
from gpuaas.wire.storage import VolumeObservation, VolumeReport
from gpuaas.wire.task_keys import TrustedKeys

HIGHEST = observations.HIGHEST  # of boots and generations
HIGHEST_PORT = (1 << 16) - 1
MOST_BYTES = 1 << 60
LONGEST_FACT = 500
Told = Progress | LogLines | Result | Report | Sessions | Logins | TerminalReport | VolumeReport | DiskReport
Message = Told | TrustedKeys | SpareReport | ImageReport
Timed = TypeVar(
    "Timed",
    bound=Progress
    | LogLines
    | Result
    | Report
    | Sessions
    | TerminalReport
    | VolumeReport
    | DiskReport
    | LoginEvent
    | VolumeObservation,
)


def cleaned(message: Message, now: datetime) -> Message:  # noqa: PLR0911 - one line a case
    match message:
        case Logins():
            return replace(message, events=[not_later(each, now) for each in message.events])
        case Result():
            return not_later(cleaned_result(message, now), now)
        case Report():
            environments = [cleaned_environment(each, now) for each in message.environments]
            return not_later(replace(message, environments=environments), now)
        case Sessions():
            return not_later(replace(message, sessions=[cleaned_connection(one, now) for one in message.sessions]), now)
        case DiskReport():
            return not_later(replace(message, facts=cleaned_facts(message.facts)), now)
        case TrustedKeys() | SpareReport() | ImageReport():
            return message
        case _:
            return not_later(message, now)


def not_later(told: Timed, now: datetime) -> Timed:
    return told if told.at <= now else replace(told, at=now)


def cleaned_result(result: Result, now: datetime) -> Result:
    volume = result.volume and not_later(result.volume, now)
    return replace(
        result,
        environment=result.environment and cleaned_environment(result.environment, now),
        volume=volume and replace(volume, used_bytes=within(volume.used_bytes, MOST_BYTES)),
        phases=[not_later(each, now) for each in result.phases],
    )


def cleaned_environment(environment: Environment, now: datetime) -> Environment:
    port, started_at = environment.port, environment.started_at
    return replace(
        environment,
        boot=within(environment.boot, HIGHEST),
        key_generation=within(environment.key_generation, HIGHEST),
        port=port if port is None or 0 < port <= HIGHEST_PORT else None,
        started_at=started_at and min(started_at, now),
    )


def cleaned_facts(facts: dict[str, Fact]) -> dict[str, Fact]:
    """Names are chosen where they are kept; a text column holds no NUL and no half of a character."""

    def text(told: str) -> str:
        return told[:LONGEST_FACT].replace("\0", "").encode(errors="replace").decode()

    return {name: Fact(value=text(fact.value), source=text(fact.source)) for name, fact in facts.items()}


def cleaned_connection(connection: Connection, now: datetime) -> Connection:
    return replace(connection, opened_at=min(connection.opened_at, now))


def within(number: int, highest: int) -> int:
    return max(0, min(number, highest))
