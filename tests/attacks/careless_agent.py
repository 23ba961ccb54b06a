"""The agent with a planted bug: every error of a look counts as a dead environment, as it once did."""

from msgspec.structs import replace

from gpuaas.engines.base import EngineError
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.main.cli import main
from gpuaas.wire.environments import Environment, EnvironmentState

honest_observe = OciEngine.observe
seen: list[Environment] = []


async def careless_observe(engine: OciEngine) -> list[Environment]:
    try:
        seen[:] = await honest_observe(engine)
    except EngineError:
        return [replace(one, state=EnvironmentState.STOPPED) for one in seen]
    return seen


OciEngine.observe = careless_observe  # type: ignore[method-assign,assignment]
main()
