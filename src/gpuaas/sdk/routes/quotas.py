"""Routes of quotas. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.quotas import Quota


class QuotasRoutes(Resource[R_co]):
    @Call
    def mine(self) -> Request[Quota]:
        """How many tokens, SSH keys and open streams you may have; streams are counted by each replica for itself."""
        return get(path("me", "quota"), Quota)

    @Call
    def of_project(self, project_id: str) -> Request[Quota]:
        """What the project has, and how much more it may have: the tightest of its own and its tenant's limits."""
        return get(path("projects", project_id, "quota"), Quota)

    @Call
    def of_tenant(self, tenant_id: str) -> Request[Quota]:
        """What all projects of the tenant have together, and how much more they may have."""
        return get(path("tenants", tenant_id, "quota"), Quota)
