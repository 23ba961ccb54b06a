"""Which bundle fits which node, on observed facts alone."""

from datetime import UTC, datetime

import pytest

from gpuaas.domain.runtimes.commands import judge
from gpuaas.domain.runtimes.compatibility import Declared, NodeRuntimeFacts, objection
from gpuaas.domain.runtimes.rows import BundleRow
from gpuaas.domain.runtimes.store import NodeOffer
from gpuaas.wire.runtimes import BundleState, Compatibility, RuntimeFamily, SupportLevel

NODE = NodeRuntimeFacts(gpu_families=["h200"], runtimes="3.11,3.12", nvidia_driver="550.54.15")
CPU = Declared(python="3.11", runtime_family=RuntimeFamily.CPU)
CUDA = Declared(python="3.11", runtime_family=RuntimeFamily.CUDA, driver_min="550", driver_max="560")


def cuda(*, driver_min: str | None = None, driver_max: str | None = None) -> Declared:
    return Declared(python="3.11", runtime_family=RuntimeFamily.CUDA, driver_min=driver_min, driver_max=driver_max)


@pytest.mark.parametrize(
    ("needs", "facts", "words"),
    [
        (CPU, NODE, ""),
        (CPU, NodeRuntimeFacts(), "not observed to offer runtime bundles"),
        (CPU, NodeRuntimeFacts(runtimes="none"), "not observed to offer runtime bundles"),
        (CPU, NodeRuntimeFacts(runtimes="3.12"), "it needs Python 3.11, and the node has 3.12"),
        (CUDA, NODE, ""),
        (CUDA, NodeRuntimeFacts(runtimes="3.11"), "it needs an NVIDIA driver, and none was observed on the node."),
        (CUDA, NodeRuntimeFacts(runtimes="3.11", simulated=True), "its GPUs are simulated"),
        (cuda(driver_min="550.54.16"), NODE, "it needs driver 550.54.16 or newer, and the node has 550.54.15"),
        (cuda(driver_max="550"), NODE, ""),
        (cuda(driver_max="549.99"), NODE, "it needs driver 549.99 or older"),
        (Declared(python="3.11", runtime_family=RuntimeFamily.ROCM), NODE, "it needs an AMD driver"),
        (
            Declared(python="3.11", runtime_family=RuntimeFamily.CPU, gpu_families=["a100", "h100"]),
            NODE,
            "it is for GPUs of a100, h100, and the node has h200",
        ),
        (Declared(python="3.11", runtime_family=RuntimeFamily.CPU, gpu_families=["h200"]), NODE, ""),
    ],
)
def test_a_bundle_fits_or_says_why_not(needs: Declared, facts: NodeRuntimeFacts, words: str) -> None:
    found = objection(needs, facts)
    assert words in found
    assert bool(found) is bool(words)


def test_among_several_nodes_one_that_fits_will_do_and_how_many_do_is_said() -> None:
    bundle = BundleRow(
        id="bundle-1",
        slug="data",
        version="1",
        product_name="Data",
        vendor="us",
        runtime_family=RuntimeFamily.CPU,
        gpu_families=[],
        driver_min=None,
        driver_max=None,
        support_level=SupportLevel.SUPPORTED,
        state=BundleState.PUBLISHED,
        digest="",
        python="3.11",
        published_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    ready, bare = NodeOffer(facts=NODE, staged=["bundle-1"]), NodeOffer(facts=NODE, staged=[])
    unfit = NodeOffer(facts=NodeRuntimeFacts(runtimes="3.12"), staged=[])
    assert judge(bundle, [ready]) == Compatibility(compatible=True, reason="", staged=True)
    assert judge(bundle, [ready, bare]).staged is False
    some = judge(bundle, [unfit, ready])
    assert (some.compatible, some.staged) == (True, True)
    assert some.reason.startswith("it fits 1 of 2 nodes")
    assert judge(bundle, [unfit]).reason == "it needs Python 3.11, and the node has 3.12."
