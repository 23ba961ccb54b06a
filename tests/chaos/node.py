"""A node's agent as a process, with a fake engine whose environments are on the disk: they survive kill -9 of it.

`python -m tests.chaos.node FOLDER SHARED`; FOLDER is that of an enrolled agent. What was removed is appended to
`removed`, and what is there lies in `environments`: the evidence that the harness reads.
"""

import asyncio
import pickle
import sys
from collections.abc import Callable, Iterator, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuaas.agent.loop import run_agent
from gpuaas.core import logs
from gpuaas.core.clock import SystemClock
from gpuaas.core.points import NoPoints
from gpuaas.engines.base import OnPhase
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.fake_environments import FakeEnvironment
from gpuaas.engines.fake_storage import FakeDisk, FakeMounts, FakeVolumes
from gpuaas.wire.environments import Environment, EnvironmentSpec, KeySet, ProofItem
from gpuaas.wire.storage import VolumeRef, WantedMount

GPUS = 8


class Shared(MutableMapping[str, dict[str, bytes]]):
    """Volumes that every node sees: a file for each in one folder. Nobody writes into them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, key: str) -> dict[str, bytes]:
        if not (self._folder / key).exists():
            raise KeyError(key)
        return {}

    def __setitem__(self, key: str, value: dict[str, bytes]) -> None:
        (self._folder / key).touch()

    def __delitem__(self, key: str) -> None:
        (self._folder / key).unlink()

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in self._folder.iterdir())

    def __len__(self) -> int:
        return sum(1 for _ in self)


class KeptMounts(FakeMounts):
    def __init__(self, volumes: FakeVolumes, environment: Callable[[str], Any], save: Callable[[], None]) -> None:
        super().__init__(volumes, environment)
        self._save = save

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        try:
            await super().attach(allocation_id, wanted, on_phase)
        finally:
            self._save()

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        try:
            return await super().detach(allocation_id, volume, mount_path, force=force, on_phase=on_phase)
        finally:
            self._save()


class KeptEngine(FakeEngine):
    """Nothing that it says is unsaved: a killed agent comes back to what it told of."""

    def __init__(self, folder: Path, shared: Path) -> None:
        self._file, self._removed = folder / "environments", folder / "removed"
        disk = FakeDisk()
        disk.files = Shared(shared)  # type: ignore[assignment]
        super().__init__(clock=lambda: datetime.now(UTC), gpus=GPUS, environments=environments_of(folder), disk=disk)
        self.mounts = KeptMounts(self.volumes, self.environments.get, self._save)

    def _save(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_bytes(pickle.dumps(self.environments))
        new.rename(self._file)

    async def observe(self) -> list[Environment]:
        found = await super().observe()
        self._save()
        return found

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        try:
            return await super().ensure(spec, on_phase)
        finally:
            self._save()

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        if allocation_id in self.environments:
            with self._removed.open("a") as file:
                file.write(f"{allocation_id}\n")
        try:
            return await super().remove(allocation_id, on_phase)
        finally:
            self._save()

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        try:
            await super().set_keys(allocation_id, keys)
        finally:
            self._save()


def environments_of(folder: Path) -> dict[str, FakeEnvironment]:
    file = folder / "environments"
    if not file.exists():
        return {}
    found: dict[str, FakeEnvironment] = pickle.loads(file.read_bytes())  # noqa: S301 - our own file
    return found


def removed_of(folder: Path) -> list[str]:
    file = folder / "removed"
    return file.read_text().split() if file.exists() else []


async def main(folder: Path, shared: Path) -> None:
    await run_agent(
        folder=folder,
        engine=KeptEngine(folder, shared),
        clock=SystemClock(),
        points=NoPoints(),
        stop=asyncio.Event(),
        stop_environments=lambda: False,
        agent_version="1",
    )


if __name__ == "__main__":
    logs.configure(level="warning")
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
