"""The engine's side of SSH access: what the gateway reads of each environment, and the lease of the node."""

from pathlib import Path

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import capabilities, cgroups, files, seccomp
from gpuaas.engines.node.records import Record
from gpuaas.engines.oci import config
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.oci.gateway import GatewayClient
from gpuaas.engines.oci.ids import HOLDER
from gpuaas.wire.environments import EnvironmentSpec, Init
from gpuaas.wire.gateway import ACCESS_FILE, AccessState, EnvironmentAccess, InitProcess

SESSION_PATH = f"/opt/gpuaas/bin:{config.PATH}"


class Access:
    """Writes `access.json` before the gateway is told: what admits after a crash is never older than before it."""

    def __init__(self, gateway: GatewayClient, containers: Containers, *, root: Path, bind: str) -> None:
        self._gateway, self._containers = gateway, containers
        self._root, self._bind = root, bind

    def open(self) -> None:
        """The filters that sessions get, compiled from the same profile that the runtime has."""
        for init in Init:
            filter = seccomp.compile_bpf(seccomp.profile(config.held(init)))
            files.write_whole(self.filter(init), filter, durable=False)

    def filter(self, init: Init) -> Path:
        return self._root / f"seccomp-{init}.bpf"

    @staticmethod
    def port_of(folder: Path) -> int | None:
        """The port in its access file; none without a readable one."""
        try:
            return msgspec.json.decode((folder / ACCESS_FILE).read_bytes(), type=EnvironmentAccess).port
        except (OSError, msgspec.DecodeError):
            return None

    async def close(self, folder: Path, reason: str) -> None:
        """No gateway serves it from here on, also none that starts later."""
        (folder / ACCESS_FILE).unlink(missing_ok=True)
        await self._gateway.close_environment(folder.name, reason)

    async def serve(self, folder: Path, record: Record, init: InitProcess, *, is_spare: bool = False) -> AccessState:
        """In force when this answers."""
        image = self._containers.images.of(record.image)
        if image is None:
            raise EngineError("the base image of this environment is gone", record.image)
        spec = record.spec
        here = Folder(folder)
        wanted = EnvironmentAccess(
            allocation_id=spec.allocation_id,
            boot=record.boot,
            is_spare=is_spare,
            was_spare=here.container if here.container != folder.name else "",
            bind=self._bind,
            port=record.port,
            host_key=record.host_key,
            username=spec.username,
            keys=record.keys,
            first_id=self._containers.ids.first(record.index),
            uid=HOLDER,
            init=init,
            image=str(image.root),
            variables=_variables(spec),
            cgroups=cgroups.folders_of(init.pid),  # a session is limited as pid 1 is
            connection_cgroups=self._containers.connection_groups(here),
            capabilities=capabilities.numbers(config.held(spec.init)),
            seccomp=str(self.filter(spec.init)),
            open_files=config.OPEN_FILES,
            banner=str(here.facts / "storage"),
        )
        data = msgspec.json.encode(wanted)
        path = folder / ACCESS_FILE
        if not path.exists() or path.read_bytes() != data:
            files.write_whole(path, data)
        return await self._gateway.sync(spec.allocation_id)


def _variables(spec: EnvironmentSpec) -> dict[str, str]:
    return {**config.variables(spec), "GPUAAS_ALLOCATION_ID": spec.allocation_id, "PATH": SESSION_PATH}
