"""The console's rules that its other linters cannot know; `// house: RULE because …` opts a line out."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "console" / "src"
MOST_LINES = {"pages": 200}
MOST_LINES_ELSEWHERE = 400
GENERATED = {"api/schema.d.ts"}
OPT_OUT = re.compile(r"// house: ([a-z-]+) because \S")
# rule: what is looked for, the folders that may have it, and what to do instead
RULES = {
    "fetch": (
        re.compile(r"\bfetch\(|\bclient\.(GET|POST|PUT|PATCH|DELETE)\(|new (EventSource|WebSocket)\("),
        ("api/",),
        "ask the server in api/ only, and use a query",
    ),
    "effect": (
        re.compile(r"\buse(Layout|Insertion)?Effect\("),
        ("frame/",),
        "effects are for sockets and terminals; derive, or use an event handler or a query",
    ),
    "chunk": (
        re.compile(r"(?<!load\(\(\) => )\bimport\("),
        (),
        'load(() => import("./Page")): a chunk that fails to load is tried again',
    ),
    "component-index": (
        re.compile(r'from "@cloudscape-design/components"'),
        (),
        'import one component: "@cloudscape-design/components/table"',
    ),
    "inner-html": (re.compile(r"dangerouslySetInnerHTML|\.innerHTML\b"), (), "render text as text"),
    "role": (
        re.compile(
            r"""\b(\w+_)?role\??\s*[!=]==?|[!=]==?\s*([\w?]+\.)*(\w+_)?role\b|[!=]==?\s*"(owner|member|viewer|ops)\""""
            r"""|\bcase "(owner|admin|member|viewer|ops)"|\b(has|includes|indexOf)\(([\w?]+\.)*(\w+_)?role\b"""
            r"""|\bplatform_role\s*(&&|\|\||\)|\?(?![?.]))"""
        ),
        (),
        "ask may(resource, permission) of what the server sent; roles are only shown",
    ),
    "storage-of-secrets": (
        re.compile(r"(localStorage|sessionStorage)\.setItem\([^)]*(token|secret|password)", re.IGNORECASE),
        (),
        "a secret is not kept in the browser",
    ),
}


def findings(root: Path = ROOT) -> Iterator[str]:
    for path in sorted([*root.rglob("*.ts"), *root.rglob("*.tsx")]):
        name = path.relative_to(root).as_posix()
        if name not in GENERATED and not name.endswith((".test.ts", ".test.tsx")):
            yield from look(name, path.read_text().splitlines())


def look(name: str, lines: list[str]) -> Iterator[str]:
    most = MOST_LINES.get(name.partition("/")[0], MOST_LINES_ELSEWHERE)
    if len(lines) > most:
        yield f"{name}: length: {len(lines)} lines, {most} at most here; split it by what it shows"
    for number, line in enumerate(lines, 1):
        claimed = {found[1] for found in OPT_OUT.finditer(line)}
        for rule, (sought, allowed, instead) in RULES.items():
            is_there = bool(sought.search(line)) and not name.startswith(allowed)
            if is_there and rule not in claimed:
                yield f"{name}:{number}: {rule}: {instead}"
            elif rule in claimed and not is_there:
                yield f"{name}:{number}: {rule}: an opt-out that nothing needs"


if __name__ == "__main__":
    found = list(findings())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
