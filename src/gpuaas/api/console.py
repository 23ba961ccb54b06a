"""Serves the web console: the files that `make console` built. Every page of the console is the same document."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from gpuaas.wire.common import ProblemDocument

FOLDER = Path(__file__).parent.parent / "console"
# Paths that a browser may open and that are not pages of the console.
NOT_PAGES = ("/api/", "/internal/", "/healthz", "/readyz", "/metrics")
FOREVER = b"public, max-age=31536000, immutable"  # for names that contain a hash of the content
ALWAYS_ASK = b"no-cache"
NEVER_KEEP = b"no-store"
NAMES_BUILD = {"index.html", "build.json"}  # files that name the current build
HASHED, READS = "/assets/", {"GET", "HEAD"}
PACKINGS = ((b"br", ".br"), (b"gzip", ".gz"))
# A fixed table, because the operating system's table could name another type for a font or a script.
KINDS = {
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".json": b"application/json",
    ".png": b"image/png",
    ".svg": b"image/svg+xml",
    ".woff2": b"font/woff2",
}
POLICY = (
    b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
NOT_BUILT = b"""<!doctype html><title>GPUaaS</title><p>The console is not built here. Run <code>make console</code>,
then start the server again. The API and the gpuaas command work without it."""


@dataclass(frozen=True)
class Asset:
    kind: bytes
    etag: bytes
    cache: bytes
    bodies: dict[bytes, bytes] = field(repr=False)  # by encoding; b"" is unencoded

    def pack(self, accepted: bytes) -> tuple[bytes, bytes]:
        wanted = set(named(accepted))
        return next(
            ((name, self.bodies[name]) for name, _ in PACKINGS if name in wanted & self.bodies.keys()), self.plain
        )

    @property
    def plain(self) -> tuple[bytes, bytes]:
        return b"", self.bodies[b""]


def named(accepted: bytes) -> Iterator[bytes]:
    """The encodings that a list accepts: `gzip` for `gzip, br;q=0`."""
    for each in accepted.split(b","):
        name, _, weight = each.partition(b";")
        if weight.replace(b" ", b"").rstrip(b"0.") != b"q=":
            yield name.strip()


@cache
def load(folder: Path = FOLDER) -> dict[str, Asset]:
    """Load all files into memory: they are two megabytes, and replacing the build must not mix old and new files."""
    files = [each for each in folder.rglob("*") if each.is_file() and each.suffix in KINDS]
    assets = {f"/{each.relative_to(folder)}": asset(each, folder) for each in files}
    if "/index.html" not in assets:
        return {"/index.html": Asset(b"text/html; charset=utf-8", b'"none"', NEVER_KEEP, {b"": NOT_BUILT})}
    return assets


def asset(path: Path, folder: Path) -> Asset:
    body = path.read_bytes()
    packed = {name: packing for name, end in PACKINGS if (packing := packed_body(path, end))}
    cache = FOREVER if path.parent == folder / "assets" else NEVER_KEEP if path.name in NAMES_BUILD else ALWAYS_ASK
    etag = f'"{blake2b(body, digest_size=12).hexdigest()}"'.encode()
    return Asset(KINDS[path.suffix], etag, cache, {b"": body, **packed})


def packed_body(path: Path, end: str) -> bytes:
    packed = path.with_name(path.name + end)
    return packed.read_bytes() if packed.exists() else b""


class ConsoleDoor:
    """Answers browsers that request the console; all other requests pass on to the API."""

    def __init__(self, app: ASGIApp, assets: dict[str, Asset]) -> None:
        self._app, self._assets = app, assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and (found := self._find(scope)):
            await answer(found, scope, send)
        elif scope["type"] == ScopeType.HTTP and scope["path"].startswith(HASHED) and scope["method"] in READS:
            await refuse(scope, send)
        else:
            await self._app(scope, receive, send)

    def _find(self, scope: HTTPScope) -> Asset | None:
        path = scope["path"]
        if scope["method"] not in READS or path.startswith(NOT_PAGES):
            return None
        if path in self._assets or path.startswith(HASHED):
            return self._assets.get(path)
        wants_page = b"text/html" in dict(scope["headers"]).get(b"accept", b"")
        return self._assets["/index.html"] if wants_page else None


async def refuse(scope: HTTPScope, send: Send) -> None:
    """The answer to a request for a file of another build. It must not be cached, because a rolling upgrade may soon
    serve that file.
    """
    document = ProblemDocument(
        type="/problems/asset_not_found",
        title="Not found",
        status=404,
        detail="This file is not part of the console that is served now. Load the page again.",
        code="asset_not_found",
        correlation_id="",
        errors=[],
        facts={},
    )
    body = msgspec.json.encode(document)
    told = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", NEVER_KEEP),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 404, "headers": told})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body, "more_body": False})


def known(told: bytes) -> set[bytes]:
    """A proxy that compresses again marks an etag as weak; the content is the same."""
    return {each.strip().removeprefix(b"W/") for each in told.split(b",")}


async def answer(found: Asset, scope: HTTPScope, send: Send) -> None:
    headers = dict(scope["headers"])
    is_known = found.etag in known(headers.get(b"if-none-match", b""))
    packing, body = found.pack(headers.get(b"accept-encoding", b""))
    told = [
        (b"content-type", found.kind),
        (b"cache-control", found.cache),
        (b"etag", found.etag),
        (b"vary", b"accept-encoding"),
        (b"content-security-policy", POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
    ]
    if packing:
        told.append((b"content-encoding", packing))
    if not is_known:
        told.append((b"content-length", str(len(body)).encode()))
    is_empty = is_known or scope["method"] == "HEAD"
    await send({"type": "http.response.start", "status": 304 if is_known else 200, "headers": told})
    await send({"type": "http.response.body", "body": b"" if is_empty else body, "more_body": False})
