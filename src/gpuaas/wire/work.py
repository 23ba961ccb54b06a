"""Workers as operators see them."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Reason


class WorkerStatus(Struct, frozen=True, kw_only=True):
    worker: str
    due: int
    leased: int
    failing: int
    oldest_due_seconds: float | None
    last_error: str | None
    disabled_at: datetime | None
    disabled_by: str | None
    disabled_reason: str | None


class SwitchWorker(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""
