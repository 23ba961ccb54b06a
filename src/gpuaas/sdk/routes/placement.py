"""Routes of placement. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, R_co, Resource
from gpuaas.sdk.requests import Request, only_read, path, post
from gpuaas.wire.capacity import AskPlacement, Placement


class PlacementRoutes(Resource[R_co]):
    @Call
    def explain(
        self,
        sku: str,
        *,
        gpu_count: int = 1,
        size: str | None = None,
        count: int = 1,
        region: str | None = None,
        project_id: str | None = None,
    ) -> Request[Placement]:
        """Where a request would be placed; or why it cannot be, and what would fit. With a project, also its
        remaining quota."""
        body = AskPlacement(sku=sku, gpu_count=gpu_count, size=size, count=count, region=region, project_id=project_id)
        return only_read(post(path("placement", "explain"), Placement, body))
