"""Routes of storage backends. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.storage import ConformanceRun, RunConformance, StorageBackend


class StorageBackendsRoutes(Resource[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[StorageBackend]]:
        """The storage backends, their durability, and the result of their last conformance run."""
        return get(path("storage-backends"), Page[StorageBackend], limit=limit)

    @Call
    def run_conformance(
        self, backend: str, node_id: str, *, idempotency_key: str | None = None
    ) -> Request[ConformanceRun]:
        """Test on one node whether a backend has its declared properties; the result is shown with the backend."""
        body = RunConformance(node_id=node_id)
        return post(
            path("admin", "storage-backends", backend, "conformance"), ConformanceRun, body, key=idempotency_key
        )
