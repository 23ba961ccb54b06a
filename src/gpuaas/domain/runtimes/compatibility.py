"""Whether a bundle fits a node, judged on what the node was observed to be. Pure."""

from msgspec import Struct

from gpuaas.core.errors import Problem
from gpuaas.wire.runtimes import RuntimeFamily

DRIVERS = {
    RuntimeFamily.CUDA: ("nvidia_driver", "an NVIDIA driver"),
    RuntimeFamily.ROCM: ("amd_driver", "an AMD driver"),
}


class NodeRuntimeFacts(Struct, frozen=True, kw_only=True):
    gpu_families: list[str] = []
    simulated: bool = False
    runtimes: str | None = None  # the Pythons that bundles can be made with, as in `3.11,3.12`
    nvidia_driver: str | None = None
    amd_driver: str | None = None


class Declared(Struct, frozen=True, kw_only=True):
    """What a bundle says it needs."""

    python: str
    runtime_family: RuntimeFamily
    gpu_families: list[str] = []
    driver_min: str | None = None
    driver_max: str | None = None


class BundleIncompatible(Problem):
    status, code = 409, "bundle_incompatible"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name} does not fit this machine: {reason} See GET /runtime-bundles?allocation_id= for what does.",
            bundle=name,
            reason=reason,
        )


def objection(needs: Declared, facts: NodeRuntimeFacts) -> str:
    """Why it does not fit; empty when it does."""
    pythons = (facts.runtimes or "none").split(",")
    if pythons == ["none"]:
        return "the node was not observed to offer runtime bundles."
    if needs.python not in pythons:
        return f"it needs Python {needs.python}, and the node has {', '.join(pythons)}."
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
        return f"it needs {words}, and none was observed on the node{simulated}."
    found = _numbers(driver)
    if needs.driver_min and found < _numbers(needs.driver_min):
        return f"it needs driver {needs.driver_min} or newer, and the node has {driver}."
    if needs.driver_max and found[: len(_numbers(needs.driver_max))] > _numbers(needs.driver_max):
        return f"it needs driver {needs.driver_max} or older, and the node has {driver}."
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
