"""Which keys admit to an environment at this moment: its key set, the node's lease, and the holder's own key file."""

from contextlib import suppress

from gpuaas.engines.leases import WITHDRAWN, Leases
from gpuaas.gateway import own_keys
from gpuaas.wire.environments import AuthorizedKey, KeySet
from gpuaas.wire.gateway import EnvironmentAccess


class Admission:
    def __init__(self, access: EnvironmentAccess, leases: Leases) -> None:
        self._access, self._leases = access, leases
        self._known = {key.fingerprint: key for key in access.keys.keys}

    @property
    def keys(self) -> KeySet:
        return self._access.keys

    def admitting(self) -> dict[str, AuthorizedKey]:
        """By fingerprint. An own key file that cannot be read now admits nobody."""
        found = {name: key for name, key in self._known.items() if not self._leases.objection(key)}
        if self.keys.admits_own:
            with suppress(OSError):
                for name, key in own_keys.read(self._access).items():
                    if name not in found and not self._own_objection(key):
                        found[name] = key
        return found

    def objection(self, key: AuthorizedKey) -> str:
        """Why a connection with this key must end; empty when it may stay. Judged by the set in force: the same key may
        be granted, the holder's own, or gone since it was proven."""
        if not key.user_id and self.keys.admits_own:
            return self._own_objection(key)
        current = self._known.get(key.fingerprint)
        return WITHDRAWN if current is None else self._leases.objection(current)

    def refusal(self, fingerprint: str) -> str:
        """Why this key, proven just now, does not admit."""
        known = self._known.get(fingerprint)
        return (self._leases.objection(known) if known else "") or WITHDRAWN

    def _own_objection(self, key: AuthorizedKey) -> str:
        return WITHDRAWN if key.fingerprint in self.keys.refused_own else self._leases.objection(key, is_own_file=True)

    def own_fingerprints(self) -> tuple[str, ...] | None:
        """Of the keys in the holder's own file that the platform does not know; None when the file is not read."""
        if not self.keys.admits_own:
            return None
        return tuple(sorted(name for name in own_keys.read(self._access) if name not in self._known))
