"""The registration of access to allocations: key sets, grants, and the key files of environments."""

from collections.abc import Mapping
from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.access.own_keys import store as own_keys
from gpuaas.domain.access.reconcile import GrantsWorker, KeysWorker
from gpuaas.domain.allocations.store import KEYS
from gpuaas.domain.tasks.registration import Overlay
from gpuaas.wire.link import Report
from gpuaas.wire.tasks import INSTALL_KEYS


async def observe(tx: Tx, reports: Mapping[str, Report], /, *, ids: Ids, now: datetime) -> None:  # noqa: ARG001 - the shape of an observer
    await own_keys.observe(tx, dict(reports))


ACCESS = Overlay(
    name="access",
    workers=(
        lambda parts: KeysWorker(parts.db, parts.ids, parts.clock),
        lambda parts: GrantsWorker(parts.db, parts.clock),
    ),
    tasks=(INSTALL_KEYS,),
    lanes={KEYS: KEYS},
    observe=observe,
    tables=("allocation_keysets", "access_grants"),
    actions=("grant", "revoke", "handover", "change_keys"),
)
