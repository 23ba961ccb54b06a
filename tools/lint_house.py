"""The rules of this house that no other linter knows; `make check` runs it.

An exception is claimed on the line itself: `# house: <rule> because <reason>`. One without a reason, or that nothing
needs, is an error too.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FOLDERS = ("src", "tests", "tools", "benchmarks")
CLIENTS = ("src/gpuaas/sdk", "src/gpuaas/cli")  # they show a status, they do not own one
JOURNAL = "src/gpuaas/agent/journal.py"  # the agent's own store, on SQLite
LONGEST_FILE, LONGEST_FUNCTION, MOST_ARGUMENTS = 400, 50, 5
VAGUE = {"utils", "util", "helpers", "helper", "manager", "managers", "common"}
SQL = re.compile(
    r"\s*(select\s+([\w.]+\(|.*\bfrom\b)|insert\s+into\b|update\s+\S+\s+(\w+\s+)?set\b|delete\s+from\b|truncate\s"
    r"|with\s+(recursive\s+)?\w+\s+as\s|(create|alter|drop)\s+(or\s+replace\s+)?(table|role|index|database|function)\b)",
    re.DOTALL,
)
# Compared with a parameter or the caller's fence; a join of two columns fences nothing.
FENCED = re.compile(
    r"\b((project|tenant|allocation|group|operation|subject|user)_id|id)\s*(=|in)\s*((any|some)?\s*\(\s*)*(select\b|\$|\w+\()"
)
OUTSIDE = {"httpx", "http", "subprocess", "driver", "engine", "link", "websocket", "socket"}
SLOW = {"asyncio.sleep", "asyncio.to_thread", "time.sleep"}
CLOCKS = re.compile(
    r"(datetime\.)?(datetime|date)\.(now|utcnow|today)|time\.time(_ns)?|uuid\.uuid[0-9]|uuid[147]|random\.[a-z]\w*"
)
OPT_OUT = re.compile(r"# house:(?P<claim>.*)")
CLAIM = re.compile(r"\s*(?P<rule>[a-z-]+) because \S.*")
Found = Iterator[tuple[ast.AST, str]]


@dataclass(frozen=True)
class File:
    """One file to judge. `tables` are those with a `project_id`."""

    path: PurePosixPath
    tree: ast.Module
    tables: frozenset[str] = frozenset()

    def within(self, *prefixes: str) -> bool:
        return any(self.path.is_relative_to(prefix) for prefix in prefixes)


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.rule} {self.message}"


def dotted(node: ast.AST) -> str:
    """`self.db.write` for the expression of that name, calls looked through; empty for anything else."""
    if isinstance(node, ast.Call):
        return dotted(node.func)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def statements(file: File) -> Iterator[tuple[ast.AST, str]]:
    """Every string that is SQL, with f-strings filled in from constants; parts of other strings are left out."""
    skip: set[int] = set()
    constants: dict[str, str] = {}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skip.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            skip |= {id(child) for child in ast.walk(node) if child is not node}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = text_of(node.value, constants)
    loaded = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    parts = {node.id for node in loaded if id(node) in skip} - {node.id for node in loaded if id(node) not in skip}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in parts:
                skip |= {id(child) for child in ast.walk(node)}
        elif id(node) not in skip and SQL.match(text := text_of(node, constants)):
            yield node, text


def text_of(node: ast.AST, constants: dict[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return constants.get(dotted(node.value), "?")
    return ""


def status(file: File) -> Found:
    if not file.within("src") or file.within(*CLIENTS) or file.path.name == "store.py":
        return
    for node in ast.walk(file.tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            answers = file.within("src/gpuaas/api") and target is not None and dotted(target) == "self.status"  # HTTP's
            if isinstance(target, ast.Attribute) and target.attr == "status" and not answers:
                yield node, "only store.move() writes a status"
        if isinstance(node, ast.Call) and "setattr" in dotted(node.func) and "'status'" in ast.dump(node):
            yield node, "only store.move() writes a status"


def sql(file: File) -> Found:
    if not file.within("src") or file.within("src/gpuaas/core", JOURNAL) or file.path.name == "store.py":
        return
    allowed = set()
    for node in ast.walk(file.tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "due":
            allowed |= {id(child) for child in ast.walk(node)}
    for node, _ in statements(file):
        if id(node) not in allowed:
            yield node, "SQL stands in store.py, in `due` or in a migration"


def project_filter(file: File) -> Found:
    if not file.within("src") or file.within(JOURNAL) or file.path.name == "reconcile.py":
        return
    for node, text in statements(file):
        asked = set(re.findall(r"\b(?:from|join)\s+(\w+)", text)) & file.tables
        if asked and re.match(r"\s*(select|with)\b", text) and not FENCED.search(text):
            yield node, f"a query on {', '.join(sorted(asked))} names no project, tenant or id"


def clock(file: File) -> Found:
    if not file.within("src") or file.within("src/gpuaas/core"):
        return
    steady = file.within(*(f"src/gpuaas/{name}" for name in ("agent", "engines", "sdk", "cli", "main")))
    defaults = {id(node.value) for node in ast.walk(file.tree) if isinstance(node, ast.AnnAssign)}
    for function in functions(file.tree):
        defaults |= {id(value) for value in [*function.args.defaults, *function.args.kw_defaults]}
    for node in ast.walk(file.tree):
        if id(node) in defaults:  # `chance: Callable[[], float] = random.random` can be passed in
            continue
        names = [dotted(node)] if isinstance(node, ast.Attribute) else []
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "random", "uuid"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if CLOCKS.fullmatch(name) or (name == "time.monotonic" and not steady):
                yield node, f"{name}: time, ids and randomness are passed in"


def open_transaction(file: File) -> Found:
    if not file.within("src"):
        return
    blocks: list[ast.AST] = [
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.AsyncWith)
        and any(re.search(r"\.(read|write|transaction)$", dotted(item.context_expr)) for item in node.items)
    ]
    blocks += [
        function
        for function in functions(file.tree)
        if any(argument.annotation and dotted(argument.annotation) == "Tx" for argument in arguments(function))
    ]
    for node in {child for block in blocks for child in ast.walk(block)}:
        if isinstance(node, ast.Call) and is_outside(dotted(node.func)):
            yield node, f"{dotted(node.func)} while a transaction is open"


def is_outside(name: str) -> bool:
    parts = {part.strip("_") for part in name.split(".")}
    return name in SLOW or name.startswith("asyncio.create_subprocess") or bool(parts & OUTSIDE and "." in name)


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def broad_except(file: File) -> Found:
    if file.path in (PurePosixPath("src/gpuaas/core/work.py"), PurePosixPath("src/gpuaas/agent/loop.py")):
        return
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if not passes_on and any(k is None or dotted(k) in ("Exception", "BaseException") for k in kinds):
                yield node, "catch the narrowest class; only the two loops catch everything"


def local_import(file: File) -> Found:
    if file.within("src/gpuaas/main"):
        return
    for function in functions(file.tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node, "only main/ imports inside functions"


def length(file: File) -> Found:
    for function in functions(file.tree):
        lines = (function.end_lineno or 0) - function.lineno + 1
        if lines > LONGEST_FUNCTION:
            yield function, f"{function.name} has {lines} lines, more than {LONGEST_FUNCTION}"


def positional(file: File) -> Found:
    if file.within("tests"):  # fixtures are asked for by position
        return
    for function in functions(file.tree):
        given = [
            argument.arg
            for argument in [*function.args.posonlyargs, *function.args.args]
            if not (argument.annotation and "typer.Option(" in ast.unparse(argument.annotation))  # given by name
        ]
        count = len(given) - (given[:1] in (["self"], ["cls"]))
        if count > MOST_ARGUMENTS:
            yield function, f"{function.name} takes {count} positional arguments, more than {MOST_ARGUMENTS}"


def name(file: File) -> Found:
    vague = VAGUE & {*file.path.parent.parts, file.path.stem}
    if vague and file.path != PurePosixPath("src/gpuaas/wire/common.py"):
        yield file.tree, f"{', '.join(vague)} says nothing; name the noun"


def safe_path(file: File) -> Found:
    """`python -m` and `python -c` put the working directory first in sys.path; root may stand in /tmp."""
    if not file.within("src", "tools"):
        return
    for node in ast.walk(file.tree):
        words = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        texts = [word.value if isinstance(word, ast.Constant) else ast.unparse(word) for word in words]
        for place, text in enumerate(texts):
            is_ours = any("sys.executable" in str(each) for each in texts[:place]) or (
                text == "-m" and str([*texts, ""][place + 1]).startswith("gpuaas")
            )
            if text in ("-m", "-c") and is_ours and not {"-P", "-I"} & set(texts[:place]):
                yield node, f"python {text} without -P before it imports from the working directory"


RULES: dict[str, Callable[[File], Found]] = {
    "status": status,
    "sql": sql,
    "project-filter": project_filter,
    "clock": clock,
    "open-transaction": open_transaction,
    "broad-except": broad_except,
    "local-import": local_import,
    "length": length,
    "positional": positional,
    "name": name,
    "safe-path": safe_path,
}


def check(path: PurePosixPath, text: str, tables: frozenset[str]) -> list[Finding]:
    """All that is wrong with one file, opt-outs taken into account."""
    file = File(path, ast.parse(text), tables)
    wrong, claims = comments(path, text)
    for finding in found(file, text.count("\n")):
        used = [key for key in claims if key in ((finding.line, finding.rule), (finding.last, finding.rule))]
        claims |= dict.fromkeys(used, True)
        if not used:
            wrong.append(finding)
    for (line, rule), was_used in claims.items():
        if not was_used:
            wrong.append(Finding(str(path), line, "opt-out", f"nothing here breaks {rule}", line))
    return sorted(set(wrong))


def found(file: File, lines: int) -> Iterator[Finding]:
    path = str(file.path)
    if lines > LONGEST_FILE:
        yield Finding(path, 1, "length", f"{lines} lines, more than {LONGEST_FILE}", 1)
    for rule, function in RULES.items():
        for node, message in function(file):
            yield Finding(path, getattr(node, "lineno", 1), rule, message, getattr(node, "end_lineno", None) or 1)


def comments(path: PurePosixPath, text: str) -> tuple[list[Finding], dict[tuple[int, str], bool]]:
    """What is wrong with the comments themselves, and the opt-outs they claim, none of them used yet."""
    wrong: list[Finding] = []
    claims: dict[tuple[int, str], bool] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if re.search(r"\b(TODO|FIXME|XXX)\b", token.string):
            wrong.append(Finding(str(path), line, "leftover", "do it, or open an issue", line))
        if opened := OPT_OUT.search(token.string):
            claim = CLAIM.fullmatch(opened["claim"])
            if claim is None or claim["rule"] not in RULES:
                wrong.append(Finding(str(path), line, "opt-out", "write `# house: <rule> because <reason>`", line))
            else:
                claims[line, claim["rule"]] = False
    return wrong, claims


def owned_tables(migrations: str) -> frozenset[str]:
    """Tables that have a `project_id`, read from the text of all migrations."""
    made = re.findall(r"create table (?:if not exists )?(\w+) \((.*?)\n\)", migrations, re.DOTALL)
    added = re.findall(r"alter table (\w+)\s+add (?:column )?project_id\b", migrations)
    return frozenset([*(table for table, columns in made if re.search(r"\bproject_id\b", columns)), *added])


def main(root: Path) -> int:
    tables = owned_tables("\n".join(path.read_text() for path in sorted(root.glob("migrations/*.sql"))))
    findings = [
        finding
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        for finding in check(PurePosixPath(path.relative_to(root).as_posix()), path.read_text(), tables)
    ]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent.parent))
