"""The engine's side of SSH access: the files that the gateway reads for each environment, and the node's lease."""

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
    """Writes `access.json` before it informs the gateway, so that a crash never restores older keys."""

    def __init__(self, gateway: GatewayClient, containers: Containers, *, root: Path, bind: str) -> None:
        self._gateway, self._containers = gateway, containers
        self._root, self._bind = root, bind

    def open(self) -> None:
        """The seccomp filters of sessions, compiled from the same profile as that of the runtime."""
        for init in Init:
            filter = seccomp.compile_bpf(seccomp.profile(config.held(init)))
            files.write_whole(self.filter(init), filter, durable=False)

    def filter(self, init: Init) -> Path:
        return self._root / f"seccomp-{init}.bpf"

    @staticmethod
    def port_of(folder: Path) -> int | None:
        """The port in its access file; None if the file is unreadable."""
        try:
            return msgspec.json.decode((folder / ACCESS_FILE).read_bytes(), type=EnvironmentAccess).port
        except (OSError, msgspec.DecodeError):
            return None

    async def close(self, folder: Path, reason: str) -> None:
        """Stop serving it, also by gateways that start later."""
        (folder / ACCESS_FILE).unlink(missing_ok=True)
        await self._gateway.close_environment(folder.name, reason)

    async def serve(self, folder: Path, record: Record, init: InitProcess, *, is_spare: bool = False) -> AccessState:
        """Write the access file; it is in force when this returns."""
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
            cgroups=cgroups.folders_of(init.pid),  # a session has the limits of pid 1
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
