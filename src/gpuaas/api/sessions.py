"""The connections to an allocation, and ending one."""

from litestar import Router, delete, get

from gpuaas.api.deps import Context, Reason
from gpuaas.api.problems import problems
from gpuaas.core.errors import InsufficientPermissions, NotFound
from gpuaas.domain.sessions import commands
from gpuaas.wire.sessions import EndedSession, LiveSessions


@get("/allocations/{id:str}/sessions", responses=problems(NotFound))
async def list_live_sessions(id: str, context: Context) -> LiveSessions:
    """Live connections with person, source, time and key, as last reported by the node, and the age of that report."""
    return await commands.listed(context.tx, context.caller, id, now=context.now)


@delete(
    "/allocations/{id:str}/sessions/{session_id:str}",
    status_code=202,
    responses=problems(NotFound, InsufficientPermissions),
)
async def end_live_session(id: str, session_id: str, context: Context, reason: Reason = None) -> EndedSession:
    """End one connection; its person sees the reason. Their key still gives access: revoke the grant to end that."""
    return await commands.end(
        context.tx, context.caller, id, session_id, reason=reason or "", ids=context.ids, now=context.now
    )


ROUTER = Router("", tags=["sessions"], route_handlers=[list_live_sessions, end_live_session])
