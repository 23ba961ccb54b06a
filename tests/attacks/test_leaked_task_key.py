"""A leaked task key: whoever has one that the node trusts no more, or no longer as the newest, gets nothing done.

Each attack is seen to succeed against a node with one rule removed.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from gpuaas.agent.verifiers import StatementRefusedError, Verifiers
from gpuaas.wire.link import STREAM_PURPOSE, TASK_PURPOSE, OpenStream, Task
from gpuaas.wire.task_keys import TaskKeyStatement, Verifier
from tests.agent.task_key_statements import ATTACKER, KEYRING, as_enrolled, generations, rotated, statement


class TrustsRetiredKeys(Verifiers):
    def _retired(self, signer: str) -> str | None:
        return None


class FollowsOlderKeys(Verifiers):
    """Any trusted key may sign statements."""

    def _superseded(self, signer: str) -> str | None:
        return None


class FollowsEveryKnownKey(TrustsRetiredKeys, FollowsOlderKeys):
    pass


class TakesOldGenerations(FollowsEveryKnownKey):
    """A statement may name a generation that is not newer."""

    def _not_newer(self, stated: Verifier) -> str | None:
        return None


class IgnoresPurposes(Verifiers):
    def _objection(self, signed: Task | OpenStream | TaskKeyStatement, purpose: bytes) -> str | None:
        tries = (TASK_PURPOSE, STREAM_PURPOSE, purpose)
        return None if None in [super(IgnoresPurposes, self)._objection(signed, each) for each in tries] else "bad"


def follows_task_of(generation: int) -> Callable[[type[Verifiers]], bool]:
    return lambda node: rotated(node).objection(KEYRING.signer(generation).sign(b"any task")) is None


def follows_stream_of_retired_key(type: type[Verifiers]) -> bool:
    return rotated(type).objection(KEYRING.signer(1).sign_stream(b"open a shell")) is None


def trusts(verifiers: Verifiers, said: TaskKeyStatement, generation: int) -> bool:
    """Whether the statement made the node follow this generation."""
    with suppress(StatementRefusedError):
        verifiers = verifiers.after(said)
    return generation in generations(verifiers)


def retired_key_adds_a_generation(type: type[Verifiers]) -> bool:
    return trusts(rotated(type), statement(2, 9, names=ATTACKER), 9)


def superseded_key_adds_a_generation(type: type[Verifiers]) -> bool:
    """Generation 1 leaked and is not retired yet, but the node trusts 2 already."""
    return trusts(as_enrolled(type).after(statement(1, 2)), statement(1, 3, names=ATTACKER), 3)


def replay_brings_a_retired_generation_back(type: type[Verifiers]) -> bool:
    """The genuine statement that once announced generation 2 is sent again after 2 was retired."""
    announced = statement(1, 2)
    return trusts(rotated(type), announced, 2)


def superseded_key_replaces_the_newest(type: type[Verifiers]) -> bool:
    verifiers, own = as_enrolled(type).after(statement(1, 2)), ATTACKER.signer(2)
    with suppress(StatementRefusedError):
        verifiers = verifiers.after(statement(1, 2, names=ATTACKER))
    return verifiers.objection(own.sign(b"any task")) is None


def task_is_taken_for_a_statement(type: type[Verifiers]) -> bool:
    """The server signs tasks with contents that tenants choose; none of them may pass for a statement."""
    body = statement(1, 2, names=ATTACKER).body
    signed = KEYRING.signer(1).sign(body)
    return trusts(as_enrolled(type), TaskKeyStatement(body=body, signer=signed.signer, signature=signed.signature), 2)


ATTACKS: list[tuple[Callable[[type[Verifiers]], bool], type[Verifiers]]] = [
    (follows_task_of(1), TrustsRetiredKeys),
    (follows_task_of(2), TrustsRetiredKeys),
    (follows_stream_of_retired_key, TrustsRetiredKeys),
    (retired_key_adds_a_generation, FollowsEveryKnownKey),
    (superseded_key_adds_a_generation, FollowsOlderKeys),
    (replay_brings_a_retired_generation_back, TakesOldGenerations),
    (superseded_key_replaces_the_newest, TakesOldGenerations),
    (task_is_taken_for_a_statement, IgnoresPurposes),
]


@pytest.mark.parametrize(("attack", "careless"), ATTACKS)
def test_a_leaked_task_key_gets_nothing_done(
    attack: Callable[[type[Verifiers]], bool], careless: type[Verifiers]
) -> None:
    assert not attack(Verifiers)
    assert attack(careless), "the attack does not work against a node without the rule, so it proves nothing"


def test_a_node_that_follows_a_foreign_key_is_healed_by_an_operators_token() -> None:
    """Generation 1 leaked before the rotation, and its thief was first to name a generation 900."""
    robbed = as_enrolled().after(statement(1, 900, names=ATTACKER))
    assert robbed.objection(ATTACKER.signer(900).sign(b"any task")) is None
    healed = robbed.only([KEYRING.signer(2).verifier])
    assert generations(healed) == [2]
    assert healed.objection(ATTACKER.signer(900).sign(b"any task")) == "signed with a retired key"
    assert generations(healed.after(statement(2, 3))) == [2, 3]
