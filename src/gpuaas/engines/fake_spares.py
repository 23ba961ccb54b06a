"""Spares of the fake engine: the bookkeeping of a real engine without environments."""

import itertools
from collections.abc import Callable, Iterable

from gpuaas.engines.fake_environments import host_key_of
from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.spares import SPARE_PREFIX, Spare, SpareForm, SpareReport, form_of, spare_of


class FakeSpares:
    def __init__(self, are_free: Callable[[tuple[str, ...]], bool], take_port: Callable[[], int], most: int) -> None:
        self._are_free, self._take_port, self._most = are_free, take_port, most
        self._wanted: tuple[SpareForm, ...] = ()
        self._ready: dict[SpareForm, Spare] = {}
        self._numbers = itertools.count(1)
        self._used = 0

    async def want(self, forms: Iterable[SpareForm]) -> None:
        self._wanted = tuple(dict.fromkeys(forms))

    async def keep(self) -> bool:
        if unwanted := next((form for form in self._ready if form not in self._wanted), None):
            del self._ready[unwanted]
            return True
        for form in self._wanted if len(self._ready) < self._most else ():
            if form not in self._ready and self._are_free(tuple(slot.gpu_uuid for slot in form.slots)):
                id = f"{SPARE_PREFIX}{next(self._numbers)}"
                self._ready[form] = spare_of(id, form, self._take_port(), host_key_of(id))
                return True
        return False

    @property
    def ready(self) -> tuple[Spare, ...]:
        return tuple(sorted(self._ready.values(), key=lambda one: one.slots))

    def use(self, spec: EnvironmentSpec) -> Spare | None:
        spare = self._ready.pop(form_of(spec), None)
        self._used += spare is not None
        return spare

    async def report(self) -> SpareReport:
        return SpareReport(ready=self.ready, used=self._used)
