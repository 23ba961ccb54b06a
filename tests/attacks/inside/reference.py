"""The table of attacks, drawn from their declarations: `python -m tests.attacks.inside.reference` writes it."""

from itertools import groupby
from pathlib import Path

from tests.attacks.inside.probe import devices, files, kernel, mounts, network, processes
from tests.attacks.inside.probe.base import ATTACKS, Attack, Blocked

FILE = Path(__file__).parents[3] / "docs" / "reference" / "attacks.md"
MODULES = (mounts, devices, files, kernel, processes, network)
HEAD = """# Attacks from inside, and what blocks them

Root inside an environment of the oci engine tries each of these in `make test-lab` (`tests/attacks/inside`), with both
inits. The table is made from the declarations of the tests, and they fail when an attack ends otherwise.

- An outcome begins with what the attacker gets: an errno, `nothing` for a look in vain, or `done` for what is permitted
  because it gains nothing on the node and nothing of a neighbour's. The mechanism follows.
- *Without seccomp* is the outcome of the same attack in the same namespaces without the filter, *and with all
  capabilities* also with every capability in the environment's user namespace: what stands behind the first barrier.
  `=` is the same outcome. Alternatives depend on the node's kernel.

No attack here would harm the node if it succeeded: files of the node are opened and not written, and a socket to the
hypervisor is created and never connected.
"""


def cell(outcome: Blocked) -> str:
    return f"`{outcome.result.replace('|', '` or `')}`: {outcome.by}"


def behind(attack: Attack, mode: str) -> str:
    """What is in force with less protection; said for both inits, or for the one where it differs."""
    found = {
        init: "`" + "` or `".join(sorted(outcome.expected(mode))) + "`"
        for init, outcome in attack.outcomes.items()
        if outcome.expected(mode) != outcome.expected("session")
    }
    if len(found) == len(attack.outcomes) and len(set(found.values())) == 1:
        return found["plain"]
    return ", ".join(f"{init} {text}" for init, text in found.items()) or "="


def section(name: str, attacks: list[Attack]) -> str:
    rows = []
    for one in attacks:
        plain, systemd = one.outcomes["plain"], one.outcomes["systemd"]
        other = "the same" if cell(plain) == cell(systemd) else cell(systemd)
        rows.append(f"| {one.what} | {cell(plain)} | {other} | {behind(one, 'bare')} | {behind(one, 'full')} |")
    titles = "| attack | init `plain` | init `systemd` | without seccomp | and with all capabilities |"
    head = f"\n## {name}\n\n{titles}\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def reference() -> str:
    """By module and then as declared, whichever module was imported first."""
    modules = [module.__name__ for module in MODULES]
    ordered = sorted(ATTACKS.values(), key=lambda one: modules.index(one.module))
    return HEAD + "".join(section(name, list(found)) for name, found in groupby(ordered, key=lambda one: one.group))


if __name__ == "__main__":
    FILE.write_text(reference())
