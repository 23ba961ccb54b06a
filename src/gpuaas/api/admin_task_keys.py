"""Operators: the keys that sign node tasks."""

from typing import Annotated

from litestar import Router, get, post
from litestar.params import PathParameter

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.domain.task_keys import commands
from gpuaas.domain.task_keys.commands import NodesMissing
from gpuaas.wire.common import Page
from gpuaas.wire.task_keys import MOST_GENERATIONS, RetireTaskKey, RotateTaskKey, TaskKey

Generation = Annotated[int, PathParameter(ge=1, le=MOST_GENERATIONS)]


@get("/admin/task-keys", responses=problems(InsufficientPermissions))
async def list_task_keys(context: Context) -> Page[TaskKey]:
    """Every generation, newest first, with the nodes that do not trust it yet."""
    keyring = context.services.task_keys
    return Page(items=await commands.list_keys(context.tx, context.caller, keyring))


@post("/admin/task-keys", responses=problems(InsufficientPermissions, Conflict))
async def rotate_task_key(data: RotateTaskKey, context: Context) -> TaskKey:
    """Start a new generation. Nodes accept it over their links; offline nodes when they return."""
    keyring = context.services.task_keys
    return await commands.rotate(context.tx, context.caller, keyring, reason=data.reason, now=context.now)


@post(
    "/admin/task-keys/{generation:int}/retire",
    status_code=200,
    responses=problems(NotFound, InsufficientPermissions, Conflict, NodesMissing),
)
async def retire_task_key(generation: Generation, data: RetireTaskKey, context: Context) -> TaskKey:
    """End this generation and every older one; refused while a node trusts no newer one, unless forced."""
    keyring = context.services.task_keys
    return await commands.retire(
        context.tx, context.caller, keyring, generation, reason=data.reason, force=data.force, now=context.now
    )


ROUTER = Router("", tags=["platform"], route_handlers=[list_task_keys, rotate_task_key, retire_task_key])
