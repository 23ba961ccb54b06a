"""The checks of documents find what is planted, and the documents pass."""

from pathlib import Path

import pytest

from tools import lint_docs
from tools.lint_docs import blocks

FENCED = "```{}\ntrue\n```\n"
SH = FENCED.format("sh")
CODE = "RULES: int = 1\nclass Loop:\n    name = 'loop'\n    async def run(self) -> None: ...\ndef look() -> None: ...\n"


def of_blocks(text: str, document: str = "docs/howto/a.md") -> list[str]:
    return [found.split(": ")[1] for found in lint_docs.of_blocks(document, text)]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (SH, []),
        (FENCED.format(""), ["language"]),
        (f"<!-- not executed: it takes an hour -->\n{SH}", []),
        (f"<!-- not executed: it takes an hour -->\n\n{SH}", []),
        (f"<!-- not executed -->\n{SH}", ["reason"]),
        (f"<!-- not executed: -->\n{SH}", ["reason"]),
        (f"<!-- skipped: it takes an hour -->\n{SH}", ["marker"]),
        (f"<!-- not executed: it is an example -->\n{FENCED.format('json')}", ["marker"]),
        ("<!-- a remark -->\n\nText.\n\n" + SH, []),
    ],
)
def test_a_block_has_a_language_and_its_marker_a_reason(text: str, rules: list[str]) -> None:
    assert of_blocks(text) == rules


def test_markers_belong_to_documents_that_are_executed() -> None:
    assert of_blocks(f"<!-- not executed: it takes an hour -->\n{SH}", "docs/design/a.md") == ["marker"]


def test_a_marker_reaches_its_own_block_only() -> None:
    text = f"<!-- not executed: it takes an hour -->\n{SH}{SH}"
    assert [(block.line, block.marker) for block in blocks("a.md", text)] == [(2, "not executed"), (5, "")]


def test_a_block_in_a_list_ends_where_its_fence_does() -> None:
    found = list(blocks("a.md", "1. Step:\n   ```sh\n   echo '```sql'\n   ```\nText.\n"))
    assert [(block.language, block.text) for block in found] == [("sh", "   echo '```sql'\n")]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "b.py").write_text(CODE)
    (tmp_path / "docs" / "a.md").write_text("# First steps: `here`\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("See [a](a.md#first-steps-here).", False),
        ("See [a](a.md#second-steps).", True),
        ("See [a](gone.md).", True),
        ("See `[a](gone.md)` as an example.", False),
        ("See [a](https://example.com/gone.md).", False),
        ('<img src="gone.webp">', True),
        ("```text\n[a](gone.md)\n```", False),
    ],
)
def test_links_and_anchors_exist(repository: Path, text: str, *, is_found: bool) -> None:
    assert bool(list(lint_docs.of_links("docs/b.md", text, repository))) is is_found


@pytest.mark.parametrize(
    ("name", "text", "is_found"),
    [
        ("docs/b.md", "Run `tools/b.py`.", False),
        ("docs/b.md", "Run `tools/gone.py`.", True),
        ("docs/b.md", "It is in `core/gone.py`.", True),
        ("src/a.py", '"""See docs/a.md."""', False),
        ("src/a.py", '"""See docs/gone.md."""', True),
        ("src/a.py", "path = 'tests/made.py'", False),
    ],
)
def test_named_files_exist(repository: Path, name: str, text: str, *, is_found: bool) -> None:
    assert bool(list(lint_docs.of_mentions(name, text, repository))) is is_found


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("`tools/b.py:RULES`, `tools/b.py:Loop.run`, `tools/b.py:Loop.name`, `tools/b.py:look`", False),
        ("`tools/gone.py:look`", True),
        ("`tools/b.py:gone`", True),
        ("`tools/b.py:run`", True),  # of the class only
        ("`tools/b.py:Loop.gone`", True),
        ("`docs/c.sql:render`", False),
        ("`docs/c.sql:rend`", True),
    ],
)
def test_names_in_files_exist(repository: Path, text: str, *, is_found: bool) -> None:
    (repository / "docs" / "c.sql").write_text("create function render() returns text")
    assert bool(list(lint_docs.of_names("docs/b.md", text, repository))) is is_found


def test_the_documents_pass() -> None:
    assert list(lint_docs.findings()) == []
