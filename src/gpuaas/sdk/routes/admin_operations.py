"""Routes of admin operations. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Operation, OperationStatus


class AdminOperationsRoutes(Resource[R_co]):
    @Call
    def get(self, id: str) -> Request[Operation]:
        """Any operation with its phases, and the last log lines of the node in each."""
        return get(path("admin", "operations", id), Operation)

    @Listing
    def list(
        self,
        *,
        status: OperationStatus | None = None,
        kind: str | None = None,
        node_id: str | None = None,
        project_id: str | None = None,
        subject_id: str | None = None,
        limit: int | None = None,
    ) -> Request[Page[Operation]]:
        """Running and past operations of the whole fleet, newest first; without phases."""
        return get(
            path("admin", "operations"),
            Page[Operation],
            status=status,
            kind=kind,
            node_id=node_id,
            project_id=project_id,
            subject_id=subject_id,
            limit=limit,
        )
