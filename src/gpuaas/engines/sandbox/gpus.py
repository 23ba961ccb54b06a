"""Whether the GPUs of an environment answer from inside it: asked of its pid 1, and of NVML where they are real."""

from gpuaas.engines.base import EngineError
from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.sandbox import etc
from gpuaas.engines.sandbox.inside import Inside
from gpuaas.wire.environments import EnvironmentSpec

VISIBLE = ("GPUAAS_SLOTS", "CUDA_VISIBLE_DEVICES")


async def check(inside: Inside, spec: EnvironmentSpec, nvml: Nvml | str) -> str:
    """What was seen, in words; EngineError when a GPU that was asked for is not there. No process is started."""
    wanted, seen = etc.variables(spec, ""), await inside.variables()
    if seen is None:
        return "booted by an older agent: checked at its next boot"
    for name in VISIBLE:
        if seen.get(name) != wanted[name]:
            detail = f"{name} is {seen.get(name)!r} inside, {wanted[name]!r} was asked for"
            raise EngineError("its GPUs are not visible inside", detail)
    told = f"{len(spec.slots)} visible inside as slots {wanted['GPUAAS_SLOTS'] or 'none'}"
    return f"{told}; simulated" if spec.simulated else f"{told}; {_answers(spec, nvml)}"


async def used_inside(inside: Inside) -> tuple[str, ...] | None:
    """UUIDs of the GPUs that a running environment was given, as its pid 1 has them; None when it cannot say."""
    try:
        seen = await inside.variables()
    except (EngineError, OSError):
        return None
    return None if seen is None else tuple(filter(None, seen.get("CUDA_VISIBLE_DEVICES", "").split(",")))


def _answers(spec: EnvironmentSpec, nvml: Nvml | str) -> str:
    if isinstance(nvml, str):
        raise EngineError("its GPUs cannot be checked", nvml)
    told = []
    for slot in spec.slots:
        try:
            state = nvml.state(slot.gpu_uuid)
        except NvmlError as error:
            raise EngineError(f"GPU {slot.index} does not answer", f"{slot.gpu_uuid}: {error}") from error
        told.append(f"{slot.gpu_uuid} {state.memory_total_bytes >> 20} MiB {state.temperature_celsius} °C")
    return f"NVML: {', '.join(told)}"
