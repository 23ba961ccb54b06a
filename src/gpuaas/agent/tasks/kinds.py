"""Every kind of task this agent knows; any other is refused without side effects."""

from gpuaas.agent.tasks import end_session, ensure, install_keys, probe, remove, stage_runtime, write_runtime
from gpuaas.agent.tasks.work import ReadWork
from gpuaas.wire.link import TaskKind

KINDS: dict[str, ReadWork] = {
    TaskKind.ENSURE: ensure.read,
    TaskKind.REMOVE: remove.read,
    TaskKind.INSTALL_KEYS: install_keys.read,
    TaskKind.END_SESSION: end_session.read,
    TaskKind.PROBE: probe.read,
    TaskKind.STAGE_RUNTIME: stage_runtime.read,
    TaskKind.WRITE_RUNTIME: write_runtime.read,
}
