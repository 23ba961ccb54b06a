"""The states of a grant. A grant whose key was removed waits for another key."""

from gpuaas.core.states import Machine
from gpuaas.wire.access import GrantStatus

MACHINE = Machine(
    "access grant",
    {
        GrantStatus.ASKED: {GrantStatus.AWAITING_KEY, GrantStatus.ACTIVE, GrantStatus.REVOKED, GrantStatus.ENDED},
        GrantStatus.AWAITING_KEY: {GrantStatus.ACTIVE, GrantStatus.REVOKED, GrantStatus.ENDED},
        GrantStatus.ACTIVE: {GrantStatus.AWAITING_KEY, GrantStatus.REVOKED, GrantStatus.ENDED},
        GrantStatus.REVOKED: set(),
        GrantStatus.ENDED: set(),
    },
)

LIVE = frozenset(GrantStatus) - MACHINE.final
