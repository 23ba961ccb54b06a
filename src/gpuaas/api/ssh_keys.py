"""Personal SSH public keys."""

from litestar import Router, delete, get, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.access import commands, store
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.wire.access import AddSshKey, SshKey
from gpuaas.wire.common import Page


@get("/ssh-keys")
async def list_ssh_keys(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[SshKey]:
    """Your public keys."""
    paging = Paging.of(limit, cursor)
    rows = await store.list_of(context.tx, context.caller.user_id, paging)
    return paging.page([row.view() for row in rows], lambda key: key.id)


@post("/ssh-keys", responses=problems(Conflict, QuotaExceeded, InsufficientPermissions))
async def add_ssh_key(data: AddSshKey, context: Context) -> SshKey:
    """Add a public key: ed25519, ecdsa, rsa of 3072 bits or more, or a security key. Never send a private key."""
    return await commands.add_key(context.tx, context.caller, data, ids=context.ids, now=context.now)


@get("/ssh-keys/{id:str}", responses=problems(NotFound))
async def get_ssh_key(id: str, context: Context) -> SshKey:
    """One of your public keys."""
    return await commands.get_key(context.tx, context.caller, id)


@delete("/ssh-keys/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def remove_ssh_key(id: str, context: Context) -> None:
    """Remove a key from your account; it no longer gives access to any allocation."""
    await commands.remove_key(context.tx, context.caller, id, now=context.now)


ROUTER = Router("", tags=["ssh keys"], route_handlers=[list_ssh_keys, add_ssh_key, get_ssh_key, remove_ssh_key])
