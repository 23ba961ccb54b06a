"""Passwords with argon2id, outside the event loop and few at a time: a hash takes tens of milliseconds and megabytes
of memory.
"""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

AT_ONCE = 2


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = asyncio.Semaphore(AT_ONCE)
        # Verified if the account does not exist, so that the response time does not reveal that.
        self._nobody = self._hasher.hash("nobody")

    async def hash(self, password: str) -> str:
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def matches(self, secret_hash: str | None, password: str) -> bool:
        async with self._room:
            right = await asyncio.to_thread(self._verify, secret_hash or self._nobody, password)
        return right and secret_hash is not None

    def _verify(self, secret_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(secret_hash, password)
        except (VerificationError, InvalidHashError):
            return False
