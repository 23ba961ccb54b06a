"""Routes of admin workers. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.work import SwitchWorker, WorkerStatus


class AdminWorkersRoutes(Resource[R_co]):
    @Call
    def disable(self, worker: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[WorkerStatus]:
        """Stop a worker on every replica, without a restart; for emergencies."""
        body = SwitchWorker(reason=reason)
        return post(path("admin", "workers", worker, "disable"), WorkerStatus, body, key=idempotency_key)

    @Call
    def enable(self, worker: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[WorkerStatus]:
        """Start a worker again; it catches up automatically."""
        body = SwitchWorker(reason=reason)
        return post(path("admin", "workers", worker, "enable"), WorkerStatus, body, key=idempotency_key)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[WorkerStatus]]:
        """Each worker with the number of rows that are due, in progress and failing, and whether it is disabled."""
        return get(path("admin", "workers"), Page[WorkerStatus], limit=limit)
