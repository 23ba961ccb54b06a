"""Routes of operations. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Following, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import LogLine, Operation


class OperationsRoutes(Resource[R_co]):
    @Call
    def get(self, id: str) -> Request[Operation]:
        """One operation with its phases: start, end, duration, attempt, actor, and the last log lines of the node."""
        return get(path("operations", id), Operation)

    @Listing
    def list(
        self, *, project_id: str | None = None, subject_id: str | None = None, limit: int | None = None
    ) -> Request[Page[Operation]]:
        """Running and past operations of a project; without phases."""
        return get(path("operations"), Page[Operation], project_id=project_id, subject_id=subject_id, limit=limit)

    @Listing
    def logs(self, id: str, *, limit: int | None = None) -> Request[Page[LogLine]]:
        """The log lines of an operation, newest first. With `follow`: as server-sent events from the first line
        until the operation ends (`event: done`); resume with Last-Event-ID."""
        return get(path("operations", id, "logs"), Page[LogLine], limit=limit)

    @Following
    def follow_logs(self, id: str) -> Request[LogLine]:
        """The log lines of an operation, newest first. With `follow`: as server-sent events from the first line
        until the operation ends (`event: done`); resume with Last-Event-ID."""
        return get(path("operations", id, "logs"), LogLine, follow="true")
