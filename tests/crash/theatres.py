"""A stage that many tests share."""

from contextlib import AsyncExitStack

from tests.crash.stages import Stage, stage


class Theatre:
    """One stage for many plays; after one that went wrong the next finds a new one."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._stage: Stage | None = None

    async def stage(self) -> Stage:
        if self._stage is None:
            self._stage = await self._stack.enter_async_context(stage())
        return self._stage

    async def strike(self) -> None:
        self._stage = None
        await self._stack.aclose()
