"""Where a request would go, or why not and what would fit."""

from dataclasses import replace

from gpuaas.sdk.nouns import Call, Noun, R_co
from gpuaas.sdk.requests import Repeat, Request, path, post
from gpuaas.wire.capacity import AskPlacement, Placement


class Placements(Noun[R_co]):
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
        """Asks only: nothing is claimed, so it may be asked again freely."""
        body = AskPlacement(sku=sku, gpu_count=gpu_count, size=size, count=count, region=region, project_id=project_id)
        return replace(post(path("placement", "explain"), Placement, body), repeat=Repeat.FREELY)
