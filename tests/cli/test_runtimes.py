"""Runtime bundles on the command line."""

import pytest
from msgspec.structs import replace

from gpuaas.sdk import recipes
from gpuaas.wire.runtimes import (
    AllocationRuntime,
    BundleState,
    ChosenBundle,
    Compatibility,
    RuntimeBundle,
    RuntimeFamily,
    RuntimeState,
    StagingStatus,
    SupportLevel,
)
from gpuaas.wire.timeline import OperationStatus
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page, problem

MACHINE = samples.allocation()
ROUTE = f"/allocations/{MACHINE.id}/runtime-bundles"
BUNDLE = RuntimeBundle(
    id=samples.id_of("rtb", 1),
    product_name="PyTorch",
    slug="pytorch",
    version="2.13.0-cpu",
    vendor="us",
    runtime_family=RuntimeFamily.CPU,
    gpu_families=[],
    driver_min=None,
    driver_max=None,
    support_level=SupportLevel.SUPPORTED,
    state=BundleState.PUBLISHED,
    digest="sha256:0",
    install_path="/opt/gpuaas/runtimes/pytorch/2.13.0-cpu",
    published_at=samples.NOON,
    compatibility=Compatibility(compatible=False, reason="it needs Python 3.11.", staged=False),
)
CHOSEN = ChosenBundle(id=BUNDLE.id, slug="pytorch", version="2.13.0-cpu", product_name="PyTorch")
RUNTIME = AllocationRuntime(
    allocation_id=MACHINE.id,
    state=RuntimeState.APPLIED,
    bundle=CHOSEN,
    observed_bundle=CHOSEN,
    previous_bundle=None,
    observed_boot=1,
    last_applied_at=samples.NOON,
    reason="",
    operation_id=None,
    staging=StagingStatus.STAGED,
    activate=". /opt/gpuaas/runtimes/pytorch/current/activate.sh",
    descriptor="/etc/gpuaas/runtime/allocations/x.env",
)
ACTS = {
    f"runtimes apply {MACHINE.id} pytorch@2.13.0-cpu": ("apply", "2.13.0-cpu"),
    f"runtimes switch {MACHINE.id} pytorch --yes": ("apply", None),
    f"runtimes upgrade {MACHINE.id} --yes": ("upgrade", None),
    f"runtimes rollback {MACHINE.id} --yes": ("roll_back", None),
    f"runtimes repair {MACHINE.id}": ("repair", None),
}


@pytest.mark.parametrize("line", ACTS)
def test_every_change_of_a_runtime_reaches_its_route(terminal: Terminal, api: FakeApi, line: str) -> None:
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("POST", ROUTE, Answer(RUNTIME))
    ran = terminal.run(*line.split())
    assert ran.code == 0, ran.err
    assert "pytorch 2.13.0-cpu" in ran.out
    (seen,) = api.asked("POST", ROUTE)
    assert (seen.body["action"], seen.body["version"]) == ACTS[line]


@pytest.mark.parametrize("line", [line for line in ACTS if "--yes" in line])
def test_a_switch_asks_first(terminal: Terminal, api: FakeApi, line: str) -> None:
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    ran = terminal.run(*line.replace(" --yes", "").split())
    assert ran.code == 1
    assert "Kept: what is running" in ran.err
    assert not api.asked("POST", ROUTE)


def test_a_bundle_that_failed_leaves_the_machine_as_it_was_and_says_why(terminal: Terminal, api: FakeApi) -> None:
    asked = replace(RUNTIME, state=RuntimeState.APPLYING, operation_id=samples.OPERATION)
    failed = samples.operation(OperationStatus.FAILED, reason="its check failed: no planets")
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("GET", f"/allocations/{MACHINE.id}/events", Events((event(samples.entry(1)),), then="stay"))
    api.on("POST", ROUTE, Answer(asked, 202))
    api.on("GET", ROUTE, Answer(RUNTIME))
    api.on("GET", f"/operations/{samples.OPERATION}", Answer(failed))
    ran = terminal.run("runtimes", "apply", MACHINE.id, "pytorch")
    assert ran.code == 2
    assert "train-a is as it was, without that bundle: its check failed: no planets" in " ".join(ran.err.split())
    assert "gpuaas allocations timeline train-a" in ran.err


def test_an_unknown_bundle_is_told_in_the_words_of_the_api(terminal: Terminal, api: FakeApi) -> None:
    words = "There is no runtime bundle nope on offer. See GET /runtime-bundles."
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("POST", ROUTE, problem(422, "validation_error", words))
    ran = terminal.run("runtimes", "apply", MACHINE.id, "nope")
    assert (ran.code, "no runtime bundle nope" in ran.err) == (1, True)


def test_what_a_machine_runs_with_is_shown(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("GET", ROUTE, Answer(RUNTIME))
    shown = terminal.run("runtimes", "get", MACHINE.id).out
    assert ("pytorch 2.13.0-cpu" in shown, "activate.sh" in shown) == (True, True)


def test_clearing_goes_back_to_raw_compute(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("DELETE", ROUTE, Answer(RUNTIME))
    assert terminal.run("runtimes", "clear", MACHINE.id, "--yes").code == 0
    assert api.asked("DELETE", ROUTE)


def test_bundles_are_listed_with_why_they_do_not_fit(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"/allocations/{MACHINE.id}", Answer(MACHINE))
    api.on("GET", "/runtime-bundles", page(BUNDLE))
    ran = terminal.run("runtimes", "list", MACHINE.id)
    assert "it needs Python 3.11." in ran.out


def test_an_operator_publishes_what_ships_by_name(terminal: Terminal, api: FakeApi) -> None:
    api.on("POST", "/admin/runtime-bundles", Answer(BUNDLE))
    assert terminal.run("admin", "runtimes", "publish", "pytorch").code == 0
    (seen,) = api.asked("POST", "/admin/runtime-bundles")
    assert len(seen.body["recipe"]["requirements"]) == len(recipes.read("pytorch").recipe.requirements)
    unknown = terminal.run("admin", "runtimes", "publish", "no-such-recipe")
    assert (unknown.code, "jupyter, python-data, pytorch" in unknown.err) == (1, True)
