"""Environments of the fake engine and their resource use."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from gpuaas.wire.environments import Connection, EnvironmentSpec, EnvironmentState, KeySet, Mount
from gpuaas.wire.images import BaseImage
from gpuaas.wire.metrics import GPU_METRICS, Metric, Reading, Sample


@dataclass(kw_only=True)
class FakeEnvironment:
    """Simulates the node's disk and process table."""

    spec: EnvironmentSpec
    state: EnvironmentState
    boot: int
    port: int
    host_key: str
    keys: KeySet
    image: BaseImage
    started_at: datetime | None = None
    removing: bool = False
    connections: list[Connection] = field(default_factory=list)
    mounts: dict[str, Mount] = field(default_factory=dict)
    own_file: set[str] = field(default_factory=set)  # fingerprints in the holder's ~/.ssh/authorized_keys


def host_key_of(id: str) -> str:
    """A well-formed, stable host key without a private key."""
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + hashlib.sha256(id.encode()).digest()
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


class FakeSamples:
    """The facet `engine.samples`: values in `used`, otherwise zero; no GPU values."""

    def __init__(self, environments: dict[str, FakeEnvironment]) -> None:
        self._environments = environments
        self.used: dict[tuple[str, Metric], float] = {}
        self.gpu_trouble = ""

    async def take(self, at: datetime) -> list[Sample]:
        return [
            self._sample(id, here, at)
            for id, here in sorted(self._environments.items())
            if here.state is EnvironmentState.RUNNING
        ]

    def _sample(self, id: str, here: FakeEnvironment, at: datetime) -> Sample:
        source, why = "simulated by the fake engine", self.gpu_trouble or "simulated GPU: there is nothing to measure"
        plain = [metric for metric in Metric if metric not in (*GPU_METRICS, Metric.SSH_SESSIONS)]
        free = {Metric.DISK_FREE: 1e12}
        readings = [
            *(Reading(metric=one, source=source, value=self.used.get((id, one), free.get(one, 0.0))) for one in plain),
            Reading(metric=Metric.SSH_SESSIONS, source=source, value=len(here.connections)),
            *(
                Reading(metric=one, source="simulated", device=str(slot.index), unavailable=why)
                for slot in here.spec.slots
                for one in GPU_METRICS
            ),
        ]
        return Sample(allocation_id=id, boot=here.boot, at=at, readings=tuple(readings))
