"""Growing delays after failed attempts to log in or sign up. An account is never locked completely.

An attempt counts as failed when it begins, and is taken back when it succeeds, so parallel guesses gain nothing.
Buckets are per (account, source) and per source. A person who knows the password and comes from another source is not
delayed. A person who logged in from this source within a day is not delayed either, whatever others do there.
"""

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from gpuaas.core.db import Database, Tx
from gpuaas.core.errors import RateLimitExceeded
from gpuaas.domain.identity import store

ATTEMPTS = 10  # of one source on one account, or on sign-up, before the first delay
SOURCE_ATTEMPTS = 50  # of one source on all accounts: an office may share one address
FIRST_SECONDS = 30  # the first delay; each further failure doubles it
LONGEST_SECONDS, LONGEST_SOURCE_SECONDS = 900, 300


@dataclass(frozen=True)
class Bucket:
    name: str
    free: int = ATTEMPTS
    longest: int = LONGEST_SECONDS


def source_of(address: str) -> str:
    """An owner of one IPv6 address usually has its whole /64, so that is the source."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


async def login_buckets(db: Database, account: str, address: str) -> list[Bucket]:
    """The source comes first: if it has to wait, the account's bucket is not charged."""
    source = source_of(address)
    own = Bucket(f"login:{source}:{account}")
    async with db.read() as tx:
        if await store.is_known_source(tx, own.name):
            return [own]
    return [Bucket(f"login-from:{source}", SOURCE_ATTEMPTS, LONGEST_SOURCE_SECONDS), own]


def sign_up_buckets(address: str) -> list[Bucket]:
    return [Bucket(f"signup:{source_of(address)}")]


async def begin(db: Database, buckets: list[Bucket]) -> None:
    """Count an attempt, or refuse it with the time to wait."""
    async with db.read() as tx:
        for bucket in buckets:
            wait = await store.begin_attempt(
                tx, bucket.name, free=bucket.free, first=FIRST_SECONDS, longest=bucket.longest
            )
            if wait:
                raise RateLimitExceeded(wait)


async def succeed(tx: Tx, buckets: list[Bucket]) -> None:
    """A success clears its own bucket, but takes only itself back from its source's bucket: an attacker with an
    account must not earn guesses by logging in to it.
    """
    *by_source, own = buckets
    for bucket in by_source:
        await store.take_back_attempt(tx, bucket.name)
    await store.clear_attempts(tx, own.name)
    await store.know_source(tx, own.name)
