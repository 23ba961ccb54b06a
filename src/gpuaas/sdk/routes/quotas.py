"""Routes of quotas. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.quotas import Quota


class QuotasRoutes(Resource[R_co]):
    @Call
    def mine(self) -> Request[Quota]:
        """Your limits on tokens, SSH keys and open streams. Each replica counts its own streams."""
        return get(path("me", "quota"), Quota)

    @Call
    def of_project(self, project_id: str) -> Request[Quota]:
        """The project's usage and what remains, by the tighter limit of project and tenant."""
        return get(path("projects", project_id, "quota"), Quota)

    @Call
    def of_tenant(self, tenant_id: str) -> Request[Quota]:
        """The usage of all projects of the tenant, and what remains."""
        return get(path("tenants", tenant_id, "quota"), Quota)
