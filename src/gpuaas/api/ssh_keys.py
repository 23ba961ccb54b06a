"""Personal SSH public keys."""

from datetime import datetime

from litestar import Router, delete, get, post

from gpuaas.api.problems import problems
from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.access import commands, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.access import AddSshKey, SshKey
from gpuaas.wire.common import Page


@get("/ssh-keys")
async def list_ssh_keys(tx: Tx, caller: Caller, paging: Paging) -> Page[SshKey]:
    """Your public keys."""
    rows = await store.list_of(tx, caller.user_id, paging)
    return paging.page([row.view() for row in rows], lambda key: key.id)


@post("/ssh-keys", responses=problems(Conflict, InsufficientPermissions))
async def add_ssh_key(data: AddSshKey, tx: Tx, caller: Caller, ids: Ids, now: datetime) -> SshKey:
    """Add a public key: ed25519, ecdsa, rsa of 3072 bits or more, or a security key. Never a private one."""
    return await commands.add_key(tx, caller, data, ids=ids, now=now)


@get("/ssh-keys/{id:str}", responses=problems(NotFound))
async def get_ssh_key(id: str, tx: Tx, caller: Caller) -> SshKey:
    """One of your public keys."""
    return await commands.get_key(tx, caller, id)


@delete("/ssh-keys/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def remove_ssh_key(id: str, tx: Tx, caller: Caller, now: datetime) -> None:
    """Remove a key from your account; machines made with it keep it."""
    await commands.remove_key(tx, caller, id, now=now)


ROUTER = Router("", tags=["ssh keys"], route_handlers=[list_ssh_keys, add_ssh_key, get_ssh_key, remove_ssh_key])
