"""The newcomer's guide: its diagrams are the import contracts, its references exist, its answers are short to find."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tools.lint_docs import ROOT, blocks, is_there, of_names

GUIDE = "docs/design/README.md"
TEXT = (ROOT / GUIDE).read_text()
QUESTIONS = 12
FILES = 4  # at most, that a reader opens for one answer
QUESTION = re.compile(
    r"^\*\*(?P<question>[^*]+\?)\*\* (?P<answer>.+?)\nPath: (?P<path>[^\n]+)$", re.MULTILINE | re.DOTALL
)
# In backticks, with a folder: `core/work.py`, `domain/registry.py:SWEEPS`, `tests/docs/`. `<noun>` stands for any.
FILE = re.compile(r"`(?P<path>[\w.-]+/[\w./-]*)(?::[\w.]+)?`")
PLANTED = "**Where is it?** Here.\nPath: {}\n"


@dataclass(frozen=True)
class Question:
    question: str
    answer: str
    files: frozenset[str]


def questions(text: str) -> list[Question]:
    return [
        Question(found["question"], found["answer"], frozenset(each["path"] for each in FILE.finditer(found["path"])))
        for found in QUESTION.finditer(text)
    ]


def missing(text: str) -> Iterator[str]:
    """Files that do not exist; what follows a colon is checked as a name."""
    for found in FILE.finditer(text):
        path = found["path"].rstrip("/")
        if not (is_there(ROOT, path) or is_there(ROOT, f"src/gpuaas/{path}")):
            yield path
    yield from of_names(GUIDE, text, ROOT)


def layers(container: str) -> list[set[str]]:
    """Without those that are still empty: their names are in parentheses."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = [each for each in contracts if each["type"] == "layers" and each["containers"] == [container]]
    split = [{name.strip() for name in layer.split("|")} for layer in found["layers"]]
    named = [{name for name in layer if not name.startswith("(")} for layer in split]
    return [layer for layer in named if layer]


def drawn(text: str) -> list[list[set[str]]]:
    """Diagrams, their lines, and the packages on a line: names separated by `|`, before two spaces and the meaning."""
    found = [block.text.splitlines() for block in blocks(GUIDE, text) if block.language == "text"]
    return [[set(re.split(r" {2,}", line)[0].split(" | ")) for line in lines] for lines in found]


def test_the_diagrams_show_the_import_contracts() -> None:
    assert drawn(TEXT)[:2] == [layers("gpuaas"), layers("gpuaas.domain")]


def test_a_package_that_moves_is_missed_in_a_diagram() -> None:
    assert drawn("```text\nmain    processes\ncli | api    HTTP\n```\n") == [[{"main"}, {"cli", "api"}]], "the red twin"


def test_all_that_the_guide_names_exists() -> None:
    assert len(FILE.findall(TEXT)) > 60
    assert list(missing(TEXT)) == []


@pytest.mark.parametrize("planted", ["core/gone.py", "core/work.py:Gone", "domain/gone/", "tests/gone"])
def test_a_name_that_is_gone_is_found(planted: str) -> None:
    assert list(missing(f"See `{planted}`."))


def test_every_question_is_answered_after_four_files_at_most() -> None:
    found = questions(TEXT)
    assert len(found) == QUESTIONS
    assert [each.question for each in found if not 1 <= len(each.files) <= FILES] == []
    assert [each.question for each in found if len(re.findall(r"[.;](?:\s|$)", each.answer)) > FILES] == []


def test_an_answer_in_five_files_is_found() -> None:
    (five,) = questions(PLANTED.format(" → ".join(f"`core/{name}.py:x`" for name in "abcde")))
    (none,) = questions(PLANTED.format("see the code"))
    assert (len(five.files), len(none.files)) == (5, 0), "the red twin"
