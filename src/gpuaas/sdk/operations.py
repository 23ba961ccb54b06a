"""Operations: long work, phase by phase, with its log."""

from gpuaas.sdk.methods import R_co, Watching
from gpuaas.sdk.requests import Watch, get, path
from gpuaas.sdk.routes.operations import OperationsRoutes
from gpuaas.wire.timeline import Entry, Operation, OperationStatus


class Operations(OperationsRoutes[R_co]):
    @Watching
    def watch(self, id: str, *, allocation_id: str | None = None, project_id: str | None = None) -> Watch[Operation]:
        """The operation now and after each of its phases, until it has ended.

        Its events come with those of the allocation or the project that it works on: name one of them.
        """
        if (allocation_id is None) == (project_id is None):
            raise TypeError("watch takes either allocation_id or project_id")
        place = ("allocations", allocation_id) if allocation_id is not None else ("projects", project_id or "")
        return Watch(
            look=get(path("operations", id), Operation),
            events=get(path(*place, "events"), Entry),
            is_settled=lambda seen: seen.status is not OperationStatus.RUNNING,
            concerns=lambda entry: entry.operation_id in {id, None},
        )
