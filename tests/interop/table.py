"""The table of real clients, docs/reference/clients.md: each line was asserted by a test that passed.

Lines are kept below `.cache/interop`, so that a run that resumes still writes the whole table.
"""

from datetime import UTC, datetime

import msgspec

from tests.soaking import CLIENTS, ROOT, commit

KEPT = ROOT / ".cache" / "interop" / "clients.json"
HEAD = """# Real clients

Written by `make interop`: each line is a test against the SSH gateway and an environment of the oci engine. A line that
says what does not work was tested as well: the client is refused, and the connection goes on.

| client | version | what | result | commit | date |
|---|---|---|---|---|---|
"""
FOOT = """
## What this does not show

- **VS Code.** Microsoft's Remote - SSH extension and its server are not in a package registry, so they were not run.
  `code-server` is the same editor server by another vendor. It shows that a server of this kind installs inside, starts
  and is reached through `-L` and `-D`, the two ways that the extension uses. Its terminal, extensions and the
  extension's own installer were not tried.
- **mosh** speaks UDP with a server inside; nothing from outside reaches an environment but SSH
  ([network](../design/oci.md#network)). Use `tmux` inside over `ssh`.
- Clients for other systems (PuTTY, WinSCP, JetBrains Gateway) were not run.
"""


class Line(msgspec.Struct):
    client: str
    version: str
    what: str
    result: str
    commit: str
    date: str


def record(client: str, version: str, what: str, result: str = "works") -> None:
    """Replaces the line of the same client and subject."""
    lines = kept()
    found = Line(client, version, what, result, commit(), f"{datetime.now(UTC):%Y-%m-%d}")
    number = next((n for n, one in enumerate(lines) if (one.client, one.what) == (client, what)), len(lines))
    lines[number : number + 1] = [found]
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_bytes(msgspec.json.encode(lines))


def kept() -> list[Line]:
    return msgspec.json.decode(KEPT.read_bytes(), type=list[Line]) if KEPT.exists() else []


def write() -> None:
    lines = sorted(kept(), key=lambda one: one.client.lower())
    rows = "".join(f"| {' | '.join(msgspec.structs.astuple(one))} |\n" for one in lines)
    CLIENTS.write_text(HEAD + rows + FOOT)
