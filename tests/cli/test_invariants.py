"""`gpuaas admin invariants`: what is checked, what is violated, and an exit code for scripts."""

from gpuaas.wire.invariants import Violation
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import FakeApi, page

VIOLATION = Violation(
    kind="claim_leaked",
    subject="17",
    detail="slot_1 by alloc_1, released",
    first_seen_at=samples.NOON,
    last_seen_at=samples.NOON,
    looks=3,
)


def test_violations_are_listed_below_the_invariants(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/invariants", page(samples.invariant(VIOLATION)))
    ran = terminal.run("admin", "invariants")
    assert ran.code == 0
    assert "slot_1 by alloc_1" in ran.out


def test_a_script_learns_of_violations_by_the_exit_code(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/invariants", page(samples.invariant(VIOLATION)))
    assert terminal.run("admin", "invariants", "--violated").code == 1
    api.on("GET", "/admin/invariants", page(samples.invariant()))
    assert terminal.run("admin", "invariants", "--violated").code == 0
