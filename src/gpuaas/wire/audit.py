"""The sealed audit log as exported, and its verification, which needs no database.

A seal covers the audit rows committed since the previous seal, in commit order. Its hash covers the hash of the
previous seal, its own fields and the hash of each row. Its signature uses a key derived from the master key.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct, structs

if TYPE_CHECKING:
    from gpuaas.wire.signatures import PublicKey

PURPOSE = b"gpuaas-audit-seal-v1"
START = "0" * 64  # the hash before the first seal


class AuditRecord(Struct, frozen=True, kw_only=True, tag_field="kind", tag="row"):
    """An audit row with all sealed fields."""

    id: int
    at: datetime
    tenant_id: str | None
    project_id: str | None
    actor: str
    acted_as: str
    action: str
    target_kind: str
    target_id: str
    result: str
    repeats: int
    correlation_id: str
    facts: dict[str, object]


class Seal(Struct, frozen=True, kw_only=True, tag_field="kind", tag="seal"):
    number: int
    epoch: int  # rises with every failover and restore of the database
    rows: int
    sealed_at: datetime
    prev_hash: str
    hash: str
    signature: str
    signer: str


class ChainKey(Struct, frozen=True, kw_only=True, tag_field="kind", tag="key"):
    """The first line of an export: the public key of the signatures."""

    signer: str
    public_key: str
    exported_at: datetime


ExportLine = AuditRecord | Seal | ChainKey


class AuditVerification(Struct, frozen=True, kw_only=True):
    """The result of verifying some seals on the server. `errors` is evidence of tampering; `notes` name restores."""

    seals: int
    rows: int
    errors: list[str]
    notes: list[str]
    head: Seal | None  # the last verified seal: repeat with its number until the verification is complete
    is_complete: bool


def row_hash(row: AuditRecord) -> bytes:
    fields = structs.asdict(row)
    fields["at"] = stamp(row.at)
    return hashlib.sha256(canonical(fields)).digest()


def seal_hash(*, prev_hash: str, number: int, epoch: int, sealed_at: datetime, rows: Sequence[bytes]) -> str:
    head = canonical([prev_hash, number, epoch, stamp(sealed_at), len(rows)])
    return hashlib.sha256(PURPOSE + head + b"".join(rows)).hexdigest()


def canonical(value: object) -> bytes:
    """The same bytes from the database and from an export."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


class Verification:
    """Verifies an export line by line. `errors` is evidence of tampering; `notes` name failovers and restores."""

    def __init__(self, known: Iterable[Seal] = (), public_key: str | None = None, *, after: Seal | None = None) -> None:
        """`after` is a seal that was verified before; the next seal must continue it."""
        self._key: PublicKey | None = _read_key(public_key) if public_key else None
        self._is_pinned = public_key is not None
        self._known = {seal.number: seal for seal in known}
        self._pending: list[bytes] = []
        self._last: Seal | None = after
        self.errors: list[str] = []
        self.notes: list[str] = []
        self.rows = self.seals = 0

    @property
    def unsealed(self) -> int:
        return len(self._pending)

    @property
    def head(self) -> Seal | None:
        return self._last

    def take(self, line: ExportLine) -> None:
        match line:
            case AuditRecord():
                self._pending.append(row_hash(line))
                self.rows += 1
            case Seal():
                self._check(line)
                self._last, self._pending = line, []
                self.seals += 1
            case ChainKey():
                self._take_key(line)

    def finish(self) -> None:
        """Compare the end with seals that are known from elsewhere, such as an earlier export or the server's log."""
        last = self._last.number if self._last else 0
        missing = [number for number in self._known if number > last]
        if missing:
            self.errors.append(
                f"the log ends at seal {last}, and seal {max(missing)} is known: "
                "its end was cut off, or the database was restored from a backup"
            )

    def _take_key(self, line: ChainKey) -> None:
        given = _read_key(line.public_key)
        if not self._is_pinned:
            self._key = given
        elif self._key is None or given.raw != self._key.raw:
            self.errors.append("the export names a key that differs from the one you trust")

    def _check(self, seal: Seal) -> None:
        before = self._last
        expected_number, expected_prev = (before.number + 1, before.hash) if before else (1, START)
        if seal.number != expected_number:
            self.errors.append(f"seal {expected_number} is expected, and seal {seal.number} follows")
        elif seal.prev_hash != expected_prev:
            self.errors.append(f"seal {seal.number} does not continue seal {expected_number - 1}")
        if before and seal.epoch != before.epoch:
            self.notes.append(
                f"gap after seal {before.number} ({stamp(before.sealed_at)}): the database failed over or was restored "
                f"(epoch {before.epoch} → {seal.epoch}); rows that were lost with it are not in this log"
            )
        self._check_rows(seal)
        self._check_signature(seal)
        self._check_known(seal)

    def _check_rows(self, seal: Seal) -> None:
        made = seal_hash(
            prev_hash=seal.prev_hash,
            number=seal.number,
            epoch=seal.epoch,
            sealed_at=seal.sealed_at,
            rows=self._pending,
        )
        if len(self._pending) != seal.rows:
            self.errors.append(f"seal {seal.number} covers {seal.rows} rows, but {len(self._pending)} are present")
        elif made != seal.hash:
            self.errors.append(f"a row under seal {seal.number}, or the seal, was changed or moved")

    def _check_signature(self, seal: Seal) -> None:
        if self._key is None or not self._key.has_signed(PURPOSE + seal.hash.encode(), seal.signature):
            self.errors.append(f"the signature of seal {seal.number} is not valid")

    def _check_known(self, seal: Seal) -> None:
        known = self._known.get(seal.number)
        if known is None or known.hash == seal.hash:
            return
        if seal.epoch > known.epoch:
            self.notes.append(
                f"seal {seal.number} differs from the known seal of {stamp(known.sealed_at)}: "
                "the database was restored to an earlier state, and the log continues from there"
            )
        else:
            self.errors.append(f"seal {seal.number} differs from the known seal of that number")


def _read_key(text: str) -> "PublicKey":
    """Deferred import: the structs of this module need no extra, but verification needs the extra `audit`."""
    key: PublicKey = import_module("gpuaas.wire.signatures").PublicKey(text)
    return key
