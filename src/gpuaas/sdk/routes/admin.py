"""Routes of admin. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.invariants import Invariant
from gpuaas.wire.overview import Overview


class AdminRoutes(Resource[R_co]):
    @Listing
    def invariants(self, *, limit: int | None = None) -> Request[Page[Invariant]]:
        """Each invariant with the time of its last check, and the violations that were seen at least twice in a row."""
        return get(path("admin", "invariants"), Page[Invariant], limit=limit)

    @Call
    def overview(self) -> Request[Overview]:
        """Queues, failures, latencies and the capacity of the fleet."""
        return get(path("admin", "overview"), Overview)
