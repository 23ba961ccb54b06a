"""Routes of skus. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.capacity import Sku
from gpuaas.wire.common import Page


class SkusRoutes(Resource[R_co]):
    @Call
    def get(self, sku: str) -> Request[Sku]:
        """One SKU."""
        return get(path("skus", sku), Sku)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Sku]]:
        """The SKUs with their prices and current availability."""
        return get(path("skus"), Page[Sku], limit=limit)
