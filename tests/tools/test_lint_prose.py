"""Each rule of the language finds what is planted, and exceptions only shrink."""

import pytest

from tools import lint_prose
from tools.lint_prose import EXCEPTIONS, Finding, findings, judge, listed, look, updated, written
from tools.prose_rules import RULES

PLANTED = {
    "machine": "Restart the machine.",
    "ssh-session": "An SSH session ends.",
    "terminal-session": "A terminal session ends.",
    "door": "The door of the node.",
    "link-connection": "The node connection is open.",
    "be-had": "No port can be had.",
    "opener": "Who arrives late gets an error.",
    "of-opener": "Of each node its first report.",
    "who-asks": "The answer for a client who asks again.",
    "what-is-left": "It erases what is left there.",
    "nothing-is-left": "Then nothing is left.",
    "whom": "The log says by whom.",
    "is-told": "The client is told why.",
    "speaks": "The node believes the server.",
    "knows-no": "The agent knows nothing of projects.",
    "own-words": "It shows the node's own words.",
    "stranger": "Any stranger can connect.",
    "eyes": "The file is for your eyes only.",
    "archaism": "It is rendered anew.",
    "for-ever": "It waits for ever.",
    "is-no": "A token is no password.",
    "goes-on": "The shell goes on.",
    "goes-round": "Two routes go round the router.",
    "lies": "The folder lies beside it.",
    "by-itself": "It ends by itself.",
    "of-its-own": "A process of its own.",
    "ones": "One's keys stay.",
    "neighbour-turns": "The new file is in its place.",
    "as-soon": "It is as good as new.",
    "never-opener": "Never is a lock held.",
    "let-in": "It lets nobody pass.",
    "gets-in": "The client gets in.",
    "theatre": "The mortals of this test.",
}


def rules_of(path: str, text: str) -> set[str]:
    return {found.rule for found in look(path, text)}


def test_every_rule_has_a_planted_sentence() -> None:
    assert PLANTED.keys() == RULES.keys()


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize(
    ("path", "around"),
    [
        ("docs/a.md", "# Title\n\n{}\n"),
        ("tests/a.py", '"""{}"""\n'),
        ("tools/a.py", "value = 1\n# {}\n"),
        ("src/gpuaas/a.py", 'raise ValueError("{}")\n'),
        ("src/gpuaas/a.py", 'raise ValueError(f"{} {{value}}")\n'),
        ("console/src/A.tsx", "// {}\n"),
        ("console/src/A.tsx", 'const text = "{}";\n'),
        ("console/src/A.tsx", "<p>{}</p>\n"),
        ("tools/a.sh", "# {}\n"),
    ],
)
def test_a_planted_sentence_is_found(name: str, path: str, around: str) -> None:
    assert rules_of(path, around.format(PLANTED[name])) == {name}


@pytest.mark.parametrize(
    "text",
    [
        "A state machine, a virtual machine and a machine id.",
        "What does it cost?",
        "The check has no effect, and there is no other way.",
        "`who asks` and https://example.com/machine",
        "It goes on the list.",
        "The request is no longer valid.",
        "Requests that arrive during a round trip join the next batch.",
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert rules_of("docs/a.md", text) == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/a.md", "```text\nthe machine goes on\n```\n"),
        ("src/gpuaas/a.py", "machine = door(anew)\n"),
        ("src/gpuaas/a.py", 'SQL = "select machine, door from anew"\n'),
        ("tests/a.py", 'text = "The machine goes on."\n'),
        ("console/src/a.ts", "const machine = door(anew);\n"),
    ],
)
def test_code_is_not_prose(path: str, text: str) -> None:
    assert rules_of(path, text) == set()


def of(path: str, count: int) -> list[Finding]:
    return [Finding(path, line, "machine", "machine") for line in range(count)]


def test_a_file_may_have_as_many_violations_as_listed_and_neither_more_nor_fewer() -> None:
    assert list(judge(of("a.py", 2), {"a.py": 2})) == []
    assert "3 violations, 2 at most" in list(judge(of("a.py", 3), {"a.py": 2}))[-1]
    assert "1 violations, 2 listed" in list(judge(of("a.py", 1), {"a.py": 2}))[-1]
    assert "0 violations, 2 listed" in list(judge([], {"a.py": 2}))[-1]
    assert "1 violations, 0 at most" in list(judge(of("new.py", 1), {}))[-1]


def test_an_update_lowers_numbers_and_never_raises_them() -> None:
    found = [*of("fewer.py", 1), *of("more.py", 5)]
    allowed = {"fewer.py": 2, "more.py": 3, "none.py": 4}
    assert updated(found, allowed, frozenset(allowed)) == {"fewer.py": 1, "more.py": 3}


def test_a_file_that_moved_takes_its_number_along_and_not_more() -> None:
    exists = frozenset({"new.py"})
    assert updated(of("new.py", 3), {"old.py": 3}, exists) == {"new.py": 3}
    assert updated(of("new.py", 4), {"old.py": 3}, exists) == {}


def test_the_list_is_read_as_it_is_written() -> None:
    assert listed(written({"b c.py": 12, "a.py": 1})) == {"b c.py": 12, "a.py": 1}


def test_the_repository_has_no_violation_beyond_the_list() -> None:
    assert list(judge(list(findings()), listed(EXCEPTIONS.read_text()))) == []
    assert lint_prose.HEAD in EXCEPTIONS.read_text()
