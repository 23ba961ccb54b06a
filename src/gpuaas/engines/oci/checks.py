"""Checks of a spec and a key set before the engine acts on them."""

import base64
import binascii
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import EnvironmentSpec, KeySet

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
HOSTNAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
USERNAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def check(spec: EnvironmentSpec) -> None:
    """Accept only plain names, because names become paths and files."""
    for pattern, value in ((ID, spec.allocation_id), (HOSTNAME, spec.hostname), (USERNAME, spec.username)):
        if not pattern.fullmatch(value):
            raise EngineError("a name cannot be used on this node", value)
    if spec.username in ("root", "nobody"):
        raise EngineError("this username is reserved by the system", spec.username)


def check_keys(keys: KeySet) -> None:
    """Check a key set before writing it, because an invalid set must not become effective."""
    for key in keys.keys:
        try:
            base64.b64decode(key.blob, validate=True)
        except binascii.Error as error:
            raise EngineError("a key cannot be read", f"{key.fingerprint}: {error}") from error


@contextlib.asynccontextmanager
async def os_errors_as_engine_errors(allocation_id: str) -> AsyncIterator[None]:
    """Convert an OSError of the node into an EngineError with its text."""
    try:
        yield
    except OSError as error:
        raise EngineError("the node could not do it", f"{allocation_id}: {error}") from error


@contextlib.asynccontextmanager
async def halting_on_failure(
    halt: Callable[[], Awaitable[None]], but: tuple[type[Exception], ...] = ()
) -> AsyncIterator[None]:
    """Stop an environment whose boot failed, because it is not billed. `but` lists errors that mean a failed
    observation of a running environment, not a failed boot."""
    try:
        yield
    except but:
        raise
    except Exception:
        await halt()
        raise
