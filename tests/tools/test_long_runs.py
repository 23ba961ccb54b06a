"""The tables of long runs in docs/reference/proofs.md."""

from tests.soaking import COLUMNS, RUNS, with_row


def test_each_target_has_a_table_of_its_own_that_grows_at_its_end() -> None:
    chaos = "# Proofs\n\n## `make chaos`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    text = with_row(chaos, RUNS["soak"], "| first |\n")
    text = with_row(text, RUNS["interop"], "| of interop |\n")
    text = with_row(text, RUNS["soak"], "| second |\n")
    interop, soak, rest = text.split("## `make ")[1:]
    assert interop.endswith(f"{COLUMNS}| of interop |\n\n")
    assert soak.endswith(f"{COLUMNS}| first |\n| second |\n\n")
    assert f"## `make {rest}" == chaos.removeprefix("# Proofs\n\n")
    assert with_row("", RUNS["soak"], "| only |\n").endswith(f"{COLUMNS}| only |\n")
