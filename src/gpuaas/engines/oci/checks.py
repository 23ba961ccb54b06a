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
    """Names become paths and files: only plain ones."""
    for pattern, value in ((ID, spec.allocation_id), (HOSTNAME, spec.hostname), (USERNAME, spec.username)):
        if not pattern.fullmatch(value):
            raise EngineError("a name cannot be used on this node", value)
    if spec.username in ("root", "nobody"):
        raise EngineError("this username is the system's own", spec.username)


def check_keys(keys: KeySet) -> None:
    """Before anything is written: a set that cannot be read must not become the one in force."""
    for key in keys.keys:
        try:
            base64.b64decode(key.blob, validate=True)
        except binascii.Error as error:
            raise EngineError("a key cannot be read", f"{key.fingerprint}: {error}") from error


@contextlib.asynccontextmanager
async def os_errors_as_engine_errors(allocation_id: str) -> AsyncIterator[None]:
    """An OSError of the node becomes an EngineError with its text."""
    try:
        yield
    except OSError as error:
        raise EngineError("the node could not do it", f"{allocation_id}: {error}") from error


@contextlib.asynccontextmanager
async def halting_on_failure(
    halt: Callable[[], Awaitable[None]], but: tuple[type[Exception], ...] = ()
) -> AsyncIterator[None]:
    """An environment whose boot is reported as failed is not billed, so it must not run. `but` are errors that are a
    failed look at an environment that ran before, and no failure of its own."""
    try:
        yield
    except but:
        raise
    except Exception:
        await halt()
        raise
