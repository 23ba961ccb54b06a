"""Operators: invariants of the running system, and their violations."""

from litestar import Router, get

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.core.errors import InsufficientPermissions
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.invariants import store
from gpuaas.wire.common import Page
from gpuaas.wire.invariants import Invariant


@get("/admin/invariants", responses=problems(InsufficientPermissions))
async def list_invariants(context: Context) -> Page[Invariant]:
    """Each invariant with the time of its last check, and the violations that were seen at least twice in a row."""
    context.caller.require_platform(Permission.FLEET_READ)
    return Page(items=await store.listed(context.tx))


ROUTER = Router("", tags=["platform"], route_handlers=[list_invariants])
