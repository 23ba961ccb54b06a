"""For those who do not care what is said along the way."""

from gpuaas.engines.base import OnPhase


class Quiet:
    """Phases are passed on; lines are not."""

    def __init__(self, on_phase: OnPhase) -> None:
        self._on_phase = on_phase

    async def __call__(self, phase: str, note: str, /) -> None:
        await self._on_phase(phase, note)

    def say(self, line: str) -> None:
        pass
