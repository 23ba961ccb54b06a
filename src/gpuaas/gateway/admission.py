"""Decides which keys can log in to an environment: its key set, the node's lease, and the holder's own key file."""

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
        """The accepted keys by fingerprint. An unreadable own key file adds none."""
        found = {name: key for name, key in self._known.items() if not self._leases.objection(key)}
        if self.keys.admits_own:
            with suppress(OSError):
                for name, key in own_keys.read(self._access).items():
                    if name not in found and not self._own_objection(key):
                        found[name] = key
        return found

    def objection(self, key: AuthorizedKey) -> str:
        """Why a connection with this key must end; empty if it may stay. The current key set decides: since the login,
        the key may have become a granted key or the holder's own key, or may have been removed."""
        if not key.user_id and self.keys.admits_own:
            return self._own_objection(key)
        current = self._known.get(key.fingerprint)
        return WITHDRAWN if current is None else self._leases.objection(current)

    def refusal(self, fingerprint: str) -> str:
        """Why the key that the client has just proven is refused."""
        known = self._known.get(fingerprint)
        return (self._leases.objection(known) if known else "") or WITHDRAWN

    def _own_objection(self, key: AuthorizedKey) -> str:
        return WITHDRAWN if key.fingerprint in self.keys.refused_own else self._leases.objection(key, is_own_file=True)

    def own_fingerprints(self) -> tuple[str, ...] | None:
        """Fingerprints of unknown keys in the holder's own key file; None if the file is not in use."""
        if not self.keys.admits_own:
            return None
        return tuple(sorted(name for name in own_keys.read(self._access) if name not in self._known))
