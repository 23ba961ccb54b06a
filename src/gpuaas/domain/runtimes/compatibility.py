"""Decides whether a bundle fits a node, or an allocation on it, from the observed facts of the node. Pure."""

from msgspec import Struct
from msgspec.structs import replace

from gpuaas.core.errors import Problem
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import RuntimeFamily

DRIVERS = {
    RuntimeFamily.CUDA: ("nvidia_driver", "an NVIDIA driver"),
    RuntimeFamily.ROCM: ("amd_driver", "an AMD driver"),
}


class NodeRuntimeFacts(Struct, frozen=True, kw_only=True):
    gpu_families: list[str] = []
    simulated: bool = False
    runtimes: str | None = None  # Python of the current base image, such as `3.11` or `3.11,3.12`
    distribution: str | None = None  # of the current base image, such as debian-12
    nvidia_driver: str | None = None
    amd_driver: str | None = None


class Declared(Struct, frozen=True, kw_only=True):
    """The declared needs of a bundle."""

    python: str
    runtime_family: RuntimeFamily
    distribution: str | None = None  # None: any
    gpu_families: list[str] = []
    driver_min: str | None = None
    driver_max: str | None = None


class BundleIncompatible(Problem):
    status, code = 409, "bundle_incompatible"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name} does not fit this allocation: {reason} GET /runtime-bundles?allocation_id= lists those that fit.",
            bundle=name,
            reason=reason,
        )


class Inside(Struct, frozen=True, kw_only=True):
    """The images of an allocation: the base image that it started from, and the one in which its node staged the
    bundle.
    """

    image: BaseImage
    staged_in: str | None  # distribution; None: not staged; empty: staged before the distribution was recorded


def objection(needs: Declared, facts: NodeRuntimeFacts, inside: Inside | None = None) -> str:
    """The reason why it does not fit; empty if it fits. Without `inside`, for an environment that would be created
    now.
    """
    if inside is not None:
        own = replace(facts, runtimes=inside.image.python, distribution=inside.image.distribution)
        return _objection(needs, own, "the base image of this allocation") or _staging_objection(inside, facts)
    return _objection(needs, facts, "the node")


def _staging_objection(inside: Inside, facts: NodeRuntimeFacts) -> str:
    """A bundle uses the Python and libraries of the image in which it was built. A bundle that is not staged yet
    would be built in the node's current image.
    """
    image, built_in = inside.image, inside.staged_in
    if built_in is None:
        current = facts.distribution, facts.runtimes
        if None in current or current == (image.distribution, image.python):
            return ""
        return (
            f"it is not staged on the node, whose current base image has {facts.distribution} and Python "
            f"{facts.runtimes}. The base image of this allocation has {image.distribution} and Python {image.python}, "
            "and only a new allocation starts from the current one."
        )
    if built_in in ("", image.distribution):
        return ""
    return f"the node built it for {built_in}, and the base image of this allocation has {image.distribution}."


def _objection(needs: Declared, facts: NodeRuntimeFacts, where: str) -> str:
    pythons = (facts.runtimes or "none").split(",")
    if pythons == ["none"]:
        return "the node does not report support for runtime bundles."
    if needs.python not in pythons:
        return f"it needs Python {needs.python}, and {where} has {', '.join(pythons)}."
    if needs.distribution not in (None, facts.distribution):
        return (
            f"it needs {needs.distribution}, and {where} has {facts.distribution or 'not reported its distribution'}."
        )
    if needs.gpu_families and not set(needs.gpu_families) & set(facts.gpu_families):
        found = ", ".join(facts.gpu_families) or "none"
        return f"it is for GPUs of {', '.join(needs.gpu_families)}, and the node has {found}."
    if needs.runtime_family in DRIVERS:
        return _driver_objection(needs, facts)
    return ""


def _driver_objection(needs: Declared, facts: NodeRuntimeFacts) -> str:
    name, words = DRIVERS[needs.runtime_family]
    driver: str | None = getattr(facts, name)
    if driver is None:
        simulated = "; its GPUs are simulated" if facts.simulated else ""
        return f"it needs {words}, and the node does not report one{simulated}."
    found = _numbers(driver)
    if needs.driver_min and found < _numbers(needs.driver_min):
        return f"it needs driver {needs.driver_min} or newer, and the node has {driver}."
    if needs.driver_max and found[: len(_numbers(needs.driver_max))] > _numbers(needs.driver_max):
        return f"it needs driver {needs.driver_max} or older, and the node has {driver}."
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
