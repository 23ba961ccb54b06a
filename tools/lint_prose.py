"""Checks the language of documents, comments, docstrings and texts of the product; `make check` runs it.

It finds the phrases of `prose_rules.py`; reviewers judge style and facts. `prose_exceptions.txt` lists files with old
violations and their number. It may only shrink: a file with fewer violations fails until `--update` lowers its number.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.lint_docs import ROOT, prose, tracked
from tools.prose_rules import RULES

WORDS = 3  # of a sentence
SQL = re.compile(r"\s*(select|insert|update|delete|with|create|alter|drop|from|where|and|or|join|order|lock)\b")
COMMENT = re.compile(r"^\s*(?://|\*|/\*\*?)\s?(?P<text>.*)|(?<=\s)// (?P<after>.*)")
QUOTED = re.compile(r"\"([^\"\\]*(?:\\.[^\"\\]*)*)\"|`([^`]*)`|>([^<>{}]+)<")
LONE = re.compile(r"\s*[A-Z][\w ,.;:'-]+[.?!]?")  # a line of text between two elements
EXCEPTIONS = ROOT / "tools" / "prose_exceptions.txt"
# These name the phrases in order to ban or to test them, or are records of how things were.
EXEMPT = (
    "tools/prose_rules.py",
    "tools/lint_prose.py",
    "tests/tools/test_lint_prose.py",
    "tools/prose_exceptions.txt",
    "docs/reference/glossary.md",
    "CHANGELOG.md",
)
GENERATED = (
    "console/src/api/schema.d.ts",
    "docs/reference/cli.md",
    "docs/reference/proofs.md",
    *(f"docs/reference/{name}.md" for name in ("attacks", "authorization", "clients")),
    "migrations/",
    "src/gpuaas/sdk/routes/",
)


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: “{self.text}”; write: {RULES[self.rule].instead}"


def look(path: str, text: str) -> Iterator[Finding]:
    """The violations of one file."""
    for line, passage in passages(path, text):
        shown = re.sub(r"`[^`\n]*`|https?://\S+", lambda found: "`" * (len(found[0]) > 0), passage)
        for name, one in RULES.items():
            for found in one.pattern.finditer(shown):
                at = line + shown.count("\n", 0, found.start())
                yield Finding(path, at, name, " ".join(found[0].split())[:60])


def passages(path: str, text: str) -> Iterator[tuple[int, str]]:
    """What people read in this file: the first line of each passage, and its text."""
    if path.endswith(".md"):
        yield 1, re.sub(r"\]\([^)\n]*\)|src(?:set)?=\"[^\"\n]*\"", "]", prose(text))
    elif path.endswith(".py"):
        yield from of_python(path, text)
    elif path.endswith((".ts", ".tsx")):
        yield from of_typescript(text)
    else:
        lines = ((number, line.lstrip()) for number, line in enumerate(text.splitlines(), 1))
        yield from ((number, line.lstrip("# ")) for number, line in lines if line.startswith("#"))


def of_python(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Comments and docstrings; of the product also the other strings that hold a sentence."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
    docstrings = set[int]()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.add(id(node.value))
            yield node.lineno, node.value.value
    if not path.startswith("src/"):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):  # noqa: SIM102 - mypy
            if id(node) not in docstrings and is_sentence(node.value):
                yield node.lineno, node.value


def is_sentence(text: str) -> bool:
    """At least three words that are not SQL."""
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS and not SQL.match(text)


def of_typescript(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.search(line)
        if comment:
            yield number, (comment["text"] or comment["after"] or "").removesuffix("*/")
        elif not line.lstrip().startswith(("import ", "export * from")):
            strings = [next(each for each in found.groups() if each is not None) for found in QUOTED.finditer(line)]
            lone = line.strip() if LONE.fullmatch(line) else ""
            yield from ((number, each) for each in (*strings, lone) if " " in each.strip())


def findings(root: Path = ROOT) -> Iterator[Finding]:
    for path in tracked(root):
        is_prose = path.endswith((".md", ".py", ".ts", ".tsx", ".sh")) or path == "Makefile"
        if is_prose and path not in EXEMPT and not path.startswith(GENERATED):
            yield from look(path, (root / path).read_text())


def listed(text: str) -> dict[str, int]:
    """`12 path` on each line."""
    pairs = (line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {path: int(count) for count, path in pairs}


def judge(found: list[Finding], allowed: Mapping[str, int]) -> Iterator[str]:
    counts = Counter(one.path for one in found)
    for path in sorted(counts.keys() | allowed.keys()):
        count, most = counts[path], allowed.get(path, 0)
        if count > most:
            yield from (str(one) for one in found if one.path == path)
            yield f"{path}: {count} violations, {most} at most"
        elif count < most:
            yield f"{path}: {count} violations, {most} listed: run python -m tools.lint_prose --update"


def updated(found: list[Finding], allowed: Mapping[str, int], exists: frozenset[str]) -> dict[str, int]:
    """Lower numbers. New files may have as many violations as files that are gone had, because code moves."""
    counts = Counter(one.path for one in found)
    spare = sum(count for path, count in allowed.items() if path not in exists)
    kept = {path: min(counts[path], most) for path, most in allowed.items() if counts[path]}
    for path in sorted(counts.keys() - allowed.keys()):
        if counts[path] <= spare:
            spare -= counts[path]
            kept[path] = counts[path]
    return kept


HEAD = """# Files with violations of tools/lint_prose.py that are older than the check. Numbers may only shrink:
# `python -m tools.lint_prose --update` lowers them.
"""


def written(allowed: Mapping[str, int]) -> str:
    return HEAD + "".join(f"{count} {path}\n" for path, count in sorted(allowed.items()))


if __name__ == "__main__":
    everything = list(findings())
    exceptions = listed(EXCEPTIONS.read_text())
    if "--update" in sys.argv:
        exceptions = updated(everything, exceptions, frozenset(tracked(ROOT)))
        EXCEPTIONS.write_text(written(exceptions))
    if "--show" in sys.argv:
        print(*(one for one in everything if one.path.startswith(tuple(sys.argv[2:]))), sep="\n")
    problems = list(judge(everything, exceptions))
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))
