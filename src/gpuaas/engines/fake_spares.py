"""Spares of the fake engine: the same bookkeeping as a real one, with nothing behind it."""

import itertools
from collections.abc import Callable, Iterable

from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.spares import Spare, SpareForm, SpareReport, form_of


class FakeSpares:
    def __init__(self, are_free: Callable[[tuple[str, ...]], bool], most: int) -> None:
        self._are_free, self._most = are_free, most
        self._wanted: tuple[SpareForm, ...] = ()
        self._ready: dict[SpareForm, str] = {}
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
                self._ready[form] = f"spare-{next(self._numbers)}"
                return True
        return False

    def use(self, spec: EnvironmentSpec) -> None:
        if self._ready.pop(form_of(spec), None):
            self._used += 1

    async def report(self) -> SpareReport:
        ready = (Spare(id=id, slots=tuple(slot.index for slot in form.slots)) for form, id in self._ready.items())
        return SpareReport(ready=tuple(sorted(ready, key=lambda one: one.slots)), used=self._used)
