"""Operations: long work, phase by phase, with its log."""

from gpuaas.sdk.nouns import Call, Following, Listing, Noun, R_co, Watching
from gpuaas.sdk.requests import Request, Watch, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Entry, LogLine, Operation, OperationStatus


class Operations(Noun[R_co]):
    @Listing
    def list(
        self, *, project_id: str | None = None, subject_id: str | None = None, limit: int | None = None
    ) -> Request[Page[Operation]]:
        return get(path("operations"), Page[Operation], project_id=project_id, subject_id=subject_id, limit=limit)

    @Call
    def get(self, id: str) -> Request[Operation]:
        """With its phases and how long each took."""
        return get(path("operations", id), Operation)

    @Listing
    def logs(self, id: str, *, limit: int | None = None) -> Request[Page[LogLine]]:
        return get(path("operations", id, "logs"), Page[LogLine], limit=limit)

    @Following
    def follow_logs(self, id: str) -> Request[LogLine]:
        """Every line from the first on, as it is said; ends with the operation."""
        return get(path("operations", id, "logs"), LogLine, follow="true")

    @Watching
    def watch(self, id: str, *, allocation_id: str | None = None, project_id: str | None = None) -> Watch[Operation]:
        """The operation now and after each of its phases, until it has ended.

        Its news come with the events of the allocation or the project that it works on: name one of them.
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
