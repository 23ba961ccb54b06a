"""Zero is not a limit: an end or an idle time of zero is an error in the CLI, in the SDK and in the API."""

from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.cli.test_exact_names import NAMES, TREE, Leaf
from tests.sdk import samples
from tests.sdk.fake_api import FakeApi, page

TIMES = {"hours", "idle", "days", "minutes", "seconds"}
OPTIONS = [(leaf, one) for leaf in TREE for one in leaf.command.params if one.name in TIMES]


@pytest.fixture
def ready(api: FakeApi) -> FakeApi:
    api.on("GET", "/skus", page(samples.sku()))
    api.on("GET", "/ssh-keys", page(samples.ssh_key()))
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    return api


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
@pytest.mark.parametrize(("leaf", "option"), OPTIONS, ids=[f"{leaf.path} --{one.name}" for leaf, one in OPTIONS])
def test_the_cli_refuses_a_time_of_zero(
    terminal: Terminal, ready: FakeApi, leaf: Leaf, option: Any, value: str
) -> None:
    typed = [NAMES[one.name][0] if one.name in NAMES else "new" for one in leaf.command.params if one.required]
    ran = terminal.run(*leaf.path.split(), *typed, option.opts[0], value)
    assert (ran.code != 0, ready.seen) == (True, [])
    assert f"'{option.opts[0]}'" in ran.err


def test_every_time_of_the_command_tree_is_seen() -> None:
    seen = {f"{leaf.path} --{one.name}" for leaf, one in OPTIONS}
    assert {"allocations create --hours", "allocations extend --idle", "grants extend --hours"} <= seen
    assert len(seen) >= 8
