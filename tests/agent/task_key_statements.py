"""Task keys of several generations and the statements about them, for tests of what a node trusts."""

from gpuaas.agent.verifiers import Verifiers
from gpuaas.core.secrets import MasterKey, TaskKeyring
from gpuaas.wire.task_keys import StatementBody, TaskKeyStatement
from tests.agent.world import SIGNER

KEYRING = TaskKeyring(MasterKey(b"m" * 32))
ATTACKER = TaskKeyring(MasterKey(b"a" * 32))


def statement(signed_by: int, generation: int, *, oldest: int = 1, names: TaskKeyring = KEYRING) -> TaskKeyStatement:
    """`names` has the key that the statement gives to this generation."""
    public_key = names.signer(generation).public_key
    return KEYRING.signer(signed_by).state(StatementBody(generation=generation, public_key=public_key, oldest=oldest))


def as_enrolled(type: type[Verifiers] = Verifiers) -> Verifiers:
    return type([SIGNER.verifier], [SIGNER.verifier.id])


def rotated(type: type[Verifiers] = Verifiers) -> Verifiers:
    """A node that went from generation 1 to 2 and to 3, and for which 1 and 2 are retired."""
    verifiers = as_enrolled(type)
    for each in (statement(1, 2), statement(2, 3), statement(3, 3, oldest=3)):
        verifiers = verifiers.after(each)
    return verifiers


def generations(verifiers: Verifiers) -> list[int]:
    return [one.generation for one in verifiers.trusted]
