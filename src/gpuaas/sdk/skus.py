"""What can be had: price, sizes, live availability."""

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.capacity import Sku
from gpuaas.wire.common import Page


class Skus(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Sku]]:
        return get(path("skus"), Page[Sku], limit=limit)

    @Call
    def get(self, sku: str) -> Request[Sku]:
        return get(path("skus", sku), Sku)
