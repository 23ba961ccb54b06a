"""The door that serves the console: pages for people, parts of them for their browsers, and all the rest to the API."""

from pathlib import Path

import pytest
from litestar.types import Receive, Scope, Send

from gpuaas.api.console import Asset, ConsoleDoor, load, named
from tests.isolation.asgi import Answer, Ask, send
from tests.world import World

PAGE = b"<!doctype html><title>GPUaaS</title>" + b"<!-- a page -->" * 100
SCRIPT = b"console.log('hello');" * 100
BROTLI, GZIP = b"as brotli would have it", b"as gzip would"  # what they say is the browser's business
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A console as it is built: a page, its script packed twice, a mark, a font, and marks of the builder."""
    built = tmp_path / "console"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_bytes(PAGE)
    (built / "build.json").write_bytes(b'{"build": "1a2b"}')
    (built / "mark.svg").write_bytes(b"<svg/>")
    (built / "assets" / "app-1a2b.js").write_bytes(SCRIPT)
    (built / "assets" / "app-1a2b.js.br").write_bytes(BROTLI)
    (built / "assets" / "app-1a2b.js.gz").write_bytes(GZIP)
    (built / "assets" / "inter-9f.woff2").write_bytes(b"wOF2")
    (built / ".built").write_text("of these sources")
    (tmp_path / "secret.html").write_text("not ours to serve")
    return built


async def beyond(scope: Scope, receive: Receive, send: Send) -> None:
    """What stands behind the door in these tests: says that it was asked."""
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"beyond", "more_body": False})


@pytest.fixture
def door(folder: Path) -> ConsoleDoor:
    return ConsoleDoor(beyond, load(folder))


async def ask(door: ConsoleDoor, target: str, method: str = "GET", **headers: str) -> Answer:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return await send(door, Ask(method=method, target=target, headers=told))


@pytest.mark.parametrize("target", ["/", "/login?next=%2F", "/projects/proj_1/allocations", "/platform/nodes", "/api"])
async def test_every_address_a_person_types_is_the_one_page(door: ConsoleDoor, target: str) -> None:
    answer = await ask(door, target, accept=BROWSER)
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize(
    ("target", "kind", "cached"),
    [
        ("/assets/app-1a2b.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"),
        ("/assets/inter-9f.woff2", "font/woff2", "public, max-age=31536000, immutable"),
        ("/mark.svg", "image/svg+xml", "no-cache"),
        ("/index.html", "text/html; charset=utf-8", "no-store"),
        ("/build.json", "application/json", "no-store"),
    ],
)
async def test_a_part_is_what_it_is_and_kept_for_ever_only_if_its_name_is_its_own(
    door: ConsoleDoor, target: str, kind: str, cached: str
) -> None:
    answer = await ask(door, target, accept="*/*")
    assert (answer.status, answer.header("content-type"), answer.header("cache-control")) == (200, kind, cached)
    assert int(answer.header("content-length")) == len(answer.body)


@pytest.mark.parametrize(
    ("accepted", "packing"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("gzip", "gzip"),
        ("gzip;q=0.0, br; q=0", ""),
        ("identity", ""),
        ("", ""),
    ],
)
async def test_a_browser_gets_the_smallest_packing_it_can_open(door: ConsoleDoor, accepted: str, packing: str) -> None:
    answer = await ask(door, "/assets/app-1a2b.js", accept_encoding=accepted)
    assert (answer.header("content-encoding"), answer.header("vary")) == (packing, "accept-encoding")
    assert answer.body == {"br": BROTLI, "gzip": GZIP, "": SCRIPT}[packing]
    assert int(answer.header("content-length")) == len(answer.body)


async def test_what_was_never_packed_is_sent_plain(door: ConsoleDoor) -> None:
    answer = await ask(door, "/mark.svg", accept_encoding="br, gzip")
    assert (answer.body, answer.header("content-encoding")) == (b"<svg/>", "")


@pytest.mark.parametrize("shape", ["{}", "W/{}", '"other", {}', 'W/{} , "other"'])
async def test_what_the_browser_has_is_not_sent_again(door: ConsoleDoor, shape: str) -> None:
    etag = (await ask(door, "/", accept=BROWSER)).header("etag")
    again = await ask(door, "/", accept=BROWSER, if_none_match=shape.format(etag))
    assert (again.status, again.body, again.header("etag"), again.header("content-length")) == (304, b"", etag, "")


async def test_a_new_build_is_sent_to_who_has_the_old_one(door: ConsoleDoor, folder: Path, tmp_path: Path) -> None:
    old = (await ask(door, "/", accept=BROWSER)).header("etag")
    newer = folder.rename(tmp_path / "newer")
    (newer / "index.html").write_bytes(PAGE + b"newer")
    answer = await ask(ConsoleDoor(beyond, load(newer)), "/", accept=BROWSER, if_none_match=old)
    assert (answer.status, answer.body) == (200, PAGE + b"newer")


@pytest.mark.parametrize("target", ["/", "/assets/app-1a2b.js", "/mark.svg"])
async def test_head_tells_the_same_and_sends_nothing(door: ConsoleDoor, target: str) -> None:
    got = await ask(door, target, accept=BROWSER)
    head = await ask(door, target, "HEAD", accept=BROWSER)
    assert (head.status, head.headers, head.body) == (200, got.headers, b"")


@pytest.mark.parametrize("target", ["/", "/projects/any", "/assets/app-1a2b.js", "/mark.svg"])
@pytest.mark.parametrize("known", ["", "yes"])
async def test_every_answer_says_what_a_browser_may_do_with_it(door: ConsoleDoor, target: str, known: str) -> None:
    etag = (await ask(door, target, accept=BROWSER)).header("etag") if known else "none"
    answer = await ask(door, target, accept=BROWSER, if_none_match=etag)
    policy = dict(rule.split(" ", 1) for rule in answer.header("content-security-policy").split("; "))
    assert (policy["default-src"], policy["frame-ancestors"], policy["base-uri"]) == ("'self'", "'none'", "'none'")
    assert "script-src" not in policy, "scripts are held to default-src"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "same-origin"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.html",
        "/..%2fsecret.html",
        "/%2e%2e/secret.html",
        "//secret.html",
        "/.built",
        "/assets",
    ],
)
async def test_nothing_but_the_parts_of_the_console_is_found_by_any_path(door: ConsoleDoor, target: str) -> None:
    assert (await ask(door, target, accept="*/*")).body == b"beyond"
    assert (await ask(door, target, accept=BROWSER)).body == PAGE


@pytest.mark.parametrize(
    "target",
    [
        "/assets/../../secret.html",
        "/assets/..%5c..%5csecret.html",
        "/assets/%00app-1a2b.js",
        "/assets/",
        "/assets/app-1a2b.js.br",
        "/assets/app-0000.js",
    ],
)
@pytest.mark.parametrize("accept", ["*/*", BROWSER])
async def test_a_file_of_another_build_is_a_404_that_nobody_keeps_and_never_a_page(
    door: ConsoleDoor, target: str, accept: str
) -> None:
    answer = await ask(door, target, accept=accept)
    assert (answer.status, answer.header("cache-control")) == (404, "no-store")
    assert (answer.header("content-type"), answer.json()["code"]) == ("application/problem+json", "asset_not_found")
    head = await ask(door, target, "HEAD", accept=accept)
    assert (head.status, head.headers, head.body) == (404, answer.headers, b"")


def test_a_door_that_looked_for_files_would_be_caught(folder: Path) -> None:
    assert (folder / "assets" / ".." / ".." / "secret.html").exists(), "the paths above do lead to it"
    assert not [path for path in load(folder) if ".." in path or "secret" in path]


@pytest.mark.parametrize(
    ("method", "target", "accept"),
    [
        ("GET", "/api/v1/me", BROWSER),
        ("GET", "/api/v1/no-such-route", BROWSER),
        ("GET", "/internal/v1/nodes/link", BROWSER),
        ("GET", "/healthz", BROWSER),
        ("GET", "/readyz", BROWSER),
        ("GET", "/metrics", BROWSER),
        ("POST", "/", BROWSER),
        ("POST", "/assets/app-1a2b.js", "*/*"),
        ("GET", "/", "application/json"),
        ("GET", "/no-such-thing.js", "*/*"),
    ],
)
async def test_what_is_not_a_page_goes_on(door: ConsoleDoor, method: str, target: str, accept: str) -> None:
    assert (await ask(door, target, method, accept=accept)).body == b"beyond"


async def test_the_apis_own_refusals_reach_a_browser_as_they_are(world: World, folder: Path) -> None:
    door = ConsoleDoor(world.app, load(folder))
    nowhere = await ask(door, "/api/v1/no-such-route", accept=BROWSER)
    assert (nowhere.status, nowhere.header("content-type")) == (404, "application/problem+json")
    unknown = await ask(door, "/api/v1/me", accept=BROWSER)
    assert (unknown.status, unknown.json()["code"]) == (401, "token_missing")
    assert (await ask(door, "/healthz", accept=BROWSER)).status == 200
    lost_part = await ask(door, "/assets/app-0000.js", accept="*/*")
    assert (lost_part.status, lost_part.header("content-type")) == (404, "application/problem+json")


async def test_without_a_build_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    door = ConsoleDoor(beyond, load(tmp_path))
    page = await ask(door, "/projects/any", accept=BROWSER)
    assert (page.status, b"make console" in page.body) == (200, True)
    assert page.header("cache-control") == "no-store"
    assert (await ask(door, "/assets/app-1a2b.js", accept="*/*")).status == 404


def test_a_packing_with_no_weight_left_is_refused() -> None:
    assert list(named(b"br;q=0.000, gzip ; q=0.5, identity;q=1.0, zstd")) == [b"gzip", b"identity", b"zstd"]


def test_a_part_keeps_its_bodies_out_of_logs(folder: Path) -> None:
    part: Asset = load(folder)["/assets/app-1a2b.js"]
    assert "hello" not in repr(part)
