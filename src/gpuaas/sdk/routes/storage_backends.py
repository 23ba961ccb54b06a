"""Routes of storage backends. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.storage import ConformanceRun, RunConformance, StorageBackend


class StorageBackendsRoutes(Resource[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[StorageBackend]]:
        """What volumes can be kept on, how durable that is, and how it did when it was last tried."""
        return get(path("storage-backends"), Page[StorageBackend], limit=limit)

    @Call
    def run_conformance(
        self, backend: str, node_id: str, *, idempotency_key: str | None = None
    ) -> Request[ConformanceRun]:
        """Try on one node whether a backend keeps what it promises; the result is shown with the backend."""
        body = RunConformance(node_id=node_id)
        return post(
            path("admin", "storage-backends", backend, "conformance"), ConformanceRun, body, key=idempotency_key
        )
