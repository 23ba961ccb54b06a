"""Every kind of task that this agent knows; any other is refused without side effects."""

from gpuaas.agent.tasks import (
    end_session,
    ensure,
    install_keys,
    mounts,
    remove,
    remove_unknown,
    stage_runtime,
    unstage_runtime,
    volumes,
    write_runtime,
)
from gpuaas.agent.tasks.work import ReadWork
from gpuaas.wire.tasks import TaskKind

KINDS: dict[str, ReadWork] = {
    TaskKind.ENSURE: ensure.read,
    TaskKind.REMOVE: remove.read,
    TaskKind.REMOVE_UNKNOWN: remove_unknown.read,
    TaskKind.INSTALL_KEYS: install_keys.read,
    TaskKind.END_SESSION: end_session.read,
    TaskKind.STAGE_RUNTIME: stage_runtime.read,
    TaskKind.UNSTAGE_RUNTIME: unstage_runtime.read,
    TaskKind.WRITE_RUNTIME: write_runtime.read,
    TaskKind.VOLUME_ENSURE: volumes.read_ensure,
    TaskKind.VOLUME_DELETE: volumes.read_delete,
    TaskKind.VOLUME_REMOVE_UNKNOWN: volumes.read_remove_unknown,
    TaskKind.VOLUME_MEASURE: volumes.read_measure,
    TaskKind.VOLUME_SNAPSHOT: volumes.read_snapshot,
    TaskKind.VOLUME_ATTACH: mounts.read_attach,
    TaskKind.VOLUME_DETACH: mounts.read_detach,
    TaskKind.STORAGE_CONFORMANCE: volumes.read_conformance,
}
