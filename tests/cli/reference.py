"""The reference of the command line, drawn from the commands themselves: `python -m tests.cli.reference` writes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from gpuaas.main.cli import COMMANDS, app

FILE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
HEAD = """# `gpuaas`, command by command

Drawn from the commands themselves; a test keeps it complete. The same text is at `gpuaas … --help`.
"""
WIDTH = 80


def commands(command: Any, parent: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every command and its help, groups before their parts."""
    context = command.context_class(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield context.command_path, command.get_help(context)
    if isinstance(command, TyperGroup) and parent is not None:
        for part in command.list_commands(context):
            yield from commands(command.get_command(context, part), context, part)


def reference() -> str:
    root = get_command(app)
    context: Any = root.context_class(root, info_name="gpuaas")
    sections = list(commands(root, None, "gpuaas"))
    for name, lazy in COMMANDS.items():
        if lazy.module.startswith("gpuaas.cli."):  # processes are described where they are operated
            sections += commands(lazy.load(name), context, name)
    return HEAD + "".join(f"\n## {path}\n\n```text\n{text.strip()}\n```\n" for path, text in sections)


if __name__ == "__main__":
    FILE.write_text(reference())
