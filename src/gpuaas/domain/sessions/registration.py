"""The registration of connections to allocations."""

from gpuaas.domain.sessions import store
from gpuaas.domain.sessions.reconcile import SessionsWorker
from gpuaas.domain.tasks.registration import Overlay
from gpuaas.wire.tasks import END_SESSION

CONNECTIONS = Overlay(
    name="connections",
    workers=(lambda parts: SessionsWorker(parts.db, parts.ids, parts.clock),),
    tasks=(END_SESSION,),
    lanes={store.SESSIONS: store.SESSIONS},
    tables=("session_ends",),
    actions=("end_session",),
)
