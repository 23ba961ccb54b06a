"""Which bundle fits which node, on observed facts alone."""

import pytest
from msgspec.structs import replace

from gpuaas.domain.runtimes.commands import judge
from gpuaas.domain.runtimes.compatibility import Declared, Inside, NodeRuntimeFacts, objection
from gpuaas.domain.runtimes.store import NodeOffer
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import Compatibility, RuntimeFamily
from tests.runtimes.test_decide import BUNDLE_ROW, NOON

NODE = NodeRuntimeFacts(gpu_families=["h200"], runtimes="3.11,3.12", nvidia_driver="550.54.15")
CPU = Declared(python="3.11", runtime_family=RuntimeFamily.CPU)
BOOKWORM = Declared(python="3.11", runtime_family=RuntimeFamily.CPU, distribution="debian-12")
OLD_NODE = NodeRuntimeFacts(runtimes="3.11", distribution="debian-12")
NEW_NODE = NodeRuntimeFacts(runtimes="3.13", distribution="debian-13")
OLD_IMAGE = BaseImage(version="old", distribution="debian-12", python="3.11", built_at=NOON)
NEW_IMAGE = BaseImage(version="new", distribution="debian-13", python="3.13", built_at=NOON)
CUDA = Declared(python="3.11", runtime_family=RuntimeFamily.CUDA, driver_min="550", driver_max="560")


def cuda(*, driver_min: str | None = None, driver_max: str | None = None) -> Declared:
    return Declared(python="3.11", runtime_family=RuntimeFamily.CUDA, driver_min=driver_min, driver_max=driver_max)


@pytest.mark.parametrize(
    ("needs", "facts", "words"),
    [
        (CPU, NODE, ""),
        (CPU, NodeRuntimeFacts(), "does not report support for runtime bundles"),
        (CPU, NodeRuntimeFacts(runtimes="none"), "does not report support for runtime bundles"),
        (CPU, NodeRuntimeFacts(runtimes="3.12"), "it needs Python 3.11, and the node has 3.12"),
        (BOOKWORM, NEW_NODE, "it needs Python 3.11, and the node has 3.13"),
        (replace(BOOKWORM, python="3.13"), NEW_NODE, "it needs debian-12, and the node has debian-13"),
        (BOOKWORM, NODE, "it needs debian-12, and the node has not reported its distribution"),
        (CUDA, NODE, ""),
        (CUDA, NodeRuntimeFacts(runtimes="3.11"), "it needs an NVIDIA driver, and the node does not report one."),
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


@pytest.mark.parametrize(
    ("needs", "node", "image", "staged_in", "words"),
    [
        (CPU, OLD_NODE, OLD_IMAGE, None, ""),
        (BOOKWORM, OLD_NODE, OLD_IMAGE, "debian-12", ""),
        (CPU, NEW_NODE, OLD_IMAGE, "debian-12", ""),  # staged before the node got its new image
        (CPU, NEW_NODE, OLD_IMAGE, "", ""),  # and before that was recorded
        (replace(CPU, python="3.13"), NEW_NODE, OLD_IMAGE, None, "the base image of this allocation has 3.11"),
        (CPU, NEW_NODE, OLD_IMAGE, None, "it is not staged on the node, whose current base image has debian-13"),
        (CPU, replace(NEW_NODE, runtimes="3.11"), OLD_IMAGE, "debian-13", "the node built it for debian-13"),
        (
            replace(BOOKWORM, python="3.13"),
            OLD_NODE,
            NEW_IMAGE,
            None,
            "the base image of this allocation has debian-13",
        ),
    ],
)
def test_a_bundle_fits_the_base_image_of_an_allocation_or_says_why_not(
    needs: Declared, node: NodeRuntimeFacts, image: BaseImage, staged_in: str | None, words: str
) -> None:
    found = objection(needs, node, Inside(image=image, staged_in=staged_in))
    assert words in found
    assert bool(found) is bool(words)


def test_a_judge_that_looks_at_the_node_alone_takes_a_bundle_that_cannot_run_there() -> None:
    """The red twin: what fits the current image of the node does not fit an allocation from before it."""
    newer = replace(CPU, python="3.13")
    assert objection(newer, NEW_NODE) == ""
    assert objection(newer, NEW_NODE, Inside(image=OLD_IMAGE, staged_in=None))


def test_among_several_nodes_one_that_fits_will_do_and_how_many_do_is_said() -> None:
    ready, bare = NodeOffer(facts=NODE, staged={BUNDLE_ROW.id: "debian-12"}), NodeOffer(facts=NODE, staged={})
    unfit = NodeOffer(facts=NodeRuntimeFacts(runtimes="3.12"), staged={})
    assert judge(BUNDLE_ROW, [ready]) == Compatibility(compatible=True, reason="", staged=True)
    assert judge(BUNDLE_ROW, [ready, bare]).staged is False
    some = judge(BUNDLE_ROW, [unfit, ready])
    assert (some.compatible, some.staged) == (True, True)
    assert some.reason.startswith("it fits 1 of 2 nodes")
    assert judge(BUNDLE_ROW, [unfit]).reason == "it needs Python 3.11, and the node has 3.12."
