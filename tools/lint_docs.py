"""Checks of the documents; `make check` runs it.

Every code block names its language. tests/docs executes each block marked `sh`, unless a comment directly before it
gives a reason: `<!-- not executed: REASON -->`. Links, anchors, and files named in documents and source code exist;
so do names in files, such as `core/work.py:Loop`.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
# `sh` is executed in these; design notes and references show commands as examples.
EXECUTED = ("README.md", "docs/tutorial/", "docs/howto/", "docs/runbooks/")
BUILT = {"src/gpuaas/console"}  # by `make console`
PLANTED = ("tests/tools/test_lint_docs.py", "tests/tools/test_lint_prose.py")
FENCE = re.compile(r"^ {0,3}```(?P<language>\S*)")
COMMENT = re.compile(r"^ {0,3}<!--\s*(?P<text>.*?)\s*-->$")
MARKERS = {
    "not executed": "the test does not run the block",
    "executed as": "another person, by name, runs the block",
}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|(?:src|srcset)=\"(?P<image>[^\"]+)\"")
MENTION = re.compile(r"(?<![\w/.-])(?P<path>(?:docs|tests|tools|src/gpuaas|migrations|benchmarks)/[\w./-]*\w)")
# Of these, a name without its folder is a file of the package: `api/unit.py`.
PACKAGES = re.compile(r"`(?P<path>(?:api|links|cli|agent|core|domain|engines|gateway|main|sdk|wire)/[\w/]+\.py)`")
# A name in a file of the repository or of the package: `core/work.py:Loop`, `agent/loop.py:Agent.received`.
NAME = re.compile(r"`(?P<path>[\w./-]+\.(?P<suffix>py|sql|toml)):(?P<name>[A-Za-z_][\w.]*)`")


@dataclass(frozen=True)
class Block:
    """One fenced block of a document; `marker` and `reason` come from the comment directly before it."""

    document: str
    line: int
    language: str
    text: str
    marker: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(document: str, text: str) -> Iterator[Block]:
    comment, opened, kept = "", None, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            marker, _, reason = comment.partition(":")
            opened = Block(document, number, fence["language"], "", marker.strip(), reason.strip())
            kept = []
        elif opened is not None and fence and not fence["language"]:
            body = "".join(f"{each}\n" for each in kept)
            yield Block(document, opened.line, opened.language, body, opened.marker, opened.reason)
            opened, comment = None, ""
        elif opened is not None:
            kept.append(line)
        elif line.strip():
            found = COMMENT.match(line)
            comment = found["text"] if found else ""


def of_blocks(document: str, text: str) -> Iterator[str]:
    for block in blocks(document, text):
        if not block.language:
            yield f"{block}: language: name the language of the block, such as sh, json or text"
        if block.marker and block.marker not in MARKERS:
            yield f"{block}: marker: `{block.marker}` is none of {', '.join(MARKERS)}"
        elif block.marker and not block.reason:
            yield f"{block}: reason: `{block.marker}` needs text after a colon"
        elif block.marker and block.language != "sh":
            yield f"{block}: marker: only blocks marked sh are executed"
        elif block.marker and not document.startswith(EXECUTED):
            yield f"{block}: marker: the blocks of this document are not executed"


def prose(text: str) -> str:
    """Without fenced blocks; line numbers stay."""
    kept, is_inside = list[str](), False
    for line in text.splitlines():
        is_fence = bool(FENCE.match(line))
        kept.append("" if is_fence or is_inside else line)
        is_inside ^= is_fence
    return "\n".join(kept)


def anchors(text: str) -> set[str]:
    """As GitHub makes them from headings."""
    headings = re.findall(r"^#+ +(.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def of_links(document: str, text: str, root: Path) -> Iterator[str]:
    for number, line in enumerate(prose(text).splitlines(), 1):
        for found in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = found["target"] or found["image"]
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = (root / document).parent / name if name else root / document
            if not path.exists():
                yield f"{document}:{number}: link: {target} does not exist"
            elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
                yield f"{document}:{number}: link: {name} has no heading #{anchor}"


def of_mentions(name: str, text: str, root: Path) -> Iterator[str]:
    """A document names files of the repository; source code names documents."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in MENTION.finditer(line):
            path = found["path"]
            if (name.endswith(".md") or path.startswith("docs/")) and not is_there(root, path):
                yield f"{name}:{number}: file: {path} does not exist"
        for found in PACKAGES.finditer(line) if name.endswith(".md") else ():
            if not is_there(root, f"src/gpuaas/{found['path']}"):
                yield f"{name}:{number}: file: {found['path']} does not exist"


def of_names(document: str, text: str, root: Path) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in NAME.finditer(line):
            path = next(
                (each for each in (root / found["path"], root / "src/gpuaas" / found["path"]) if each.is_file()), None
            )
            if path is None:
                yield f"{document}:{number}: file: {found['path']} does not exist"
            elif found["name"] not in names(path):
                yield f"{document}:{number}: name: {found['path']} has no {found['name']}"


@cache
def names(path: Path) -> frozenset[str]:
    """The names that a file defines: members of a class behind its name; in SQL and TOML, every word."""
    text = path.read_text()
    if path.suffix != ".py":
        return frozenset(re.findall(r"[A-Za-z_]\w*", text))
    return frozenset(defined(ast.parse(text).body))


def defined(body: Iterable[ast.stmt]) -> Iterator[str]:
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield each.name
            yield from (f"{each.name}.{name}" for name in defined(each.body))
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each.name
        elif isinstance(each, ast.Assign):
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def is_there(root: Path, path: str) -> bool:
    """A migration may be named by its number, and a module without its suffix."""
    if path in BUILT:
        return True
    wanted = root / path
    return wanted.exists() or any(wanted.parent.glob(f"{wanted.name}[._]*"))


def documents(root: Path = ROOT) -> list[str]:
    """Every Markdown file that git knows or would add."""
    return [name for name in tracked(root) if name.endswith(".md")]


def tracked(root: Path) -> list[str]:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in sorted({*names} - {""}) if (root / name).is_file()]


def findings(root: Path = ROOT) -> Iterator[str]:
    for name in tracked(root):
        if name.endswith(".md"):
            text = (root / name).read_text()
            yield from of_blocks(name, text)
            yield from of_links(name, text, root)
            if name != "CHANGELOG.md":  # names files as they were
                yield from of_mentions(name, text, root)
                yield from of_names(name, text, root)
        elif name.endswith((".py", ".sql", ".ts", ".tsx", ".sh", "Makefile")) and name not in PLANTED:
            yield from of_mentions(name, (root / name).read_text(), root)


if __name__ == "__main__":
    found = list(findings())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
