"""Rows of personal public keys."""

from datetime import datetime

import asyncpg
from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.access.keys import PublicKey
from gpuaas.wire.access import SshKey
from gpuaas.wire.environments import AuthorizedKey


class SshKeyRow(Struct, frozen=True, kw_only=True):
    id: str
    user_id: str
    title: str
    type: str
    blob: str
    fingerprint: str
    created_at: datetime

    def view(self) -> SshKey:
        return SshKey(
            id=self.id,
            title=self.title,
            type=self.type,
            fingerprint=self.fingerprint,
            public_key=f"{self.type} {self.blob}",
            created_at=self.created_at,
        )

    def authorized(self) -> AuthorizedKey:
        return AuthorizedKey(type=self.type, blob=self.blob, fingerprint=self.fingerprint, user_id=self.user_id)


async def add(tx: Tx, id: str, user_id: str, title: str, key: PublicKey, *, now: datetime) -> SshKeyRow:
    try:
        return await tx.one(SshKeyRow, ADD, id, user_id, title, key.type, key.blob, key.fingerprint, now)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"You have this key already ({key.fingerprint}).", fingerprint=key.fingerprint) from error


async def get(tx: Tx, id: str) -> SshKeyRow:
    row = await tx.maybe(SshKeyRow, "select * from ssh_keys where id = $1", id)
    if row is None:
        raise NotFound("ssh_key")
    return row


async def list_of(tx: Tx, user_id: str, paging: Paging) -> list[SshKeyRow]:
    return await tx.all(SshKeyRow, LIST, user_id, paging.before, paging.limit + 1)


async def remove(tx: Tx, id: str) -> None:
    await tx.run("delete from ssh_keys where id = $1", id)


ADD = """
    insert into ssh_keys (id, user_id, title, type, blob, fingerprint, created_at)
    values ($1, $2, $3, $4, $5, $6, $7) returning *
"""
LIST = "select * from ssh_keys where user_id = $1 and id < $2 order by id desc limit $3"
