"""Routes of admin task keys. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.task_keys import RetireTaskKey, RotateTaskKey, TaskKey


class AdminTaskKeysRoutes(Resource[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[TaskKey]]:
        """Every generation, newest first, with the nodes that do not trust it yet."""
        return get(path("admin", "task-keys"), Page[TaskKey], limit=limit)

    @Call
    def retire(
        self, generation: int, *, reason: str, force: bool = False, idempotency_key: str | None = None
    ) -> Request[TaskKey]:
        """End this generation and every older one; refused while a node trusts no newer one, unless forced."""
        body = RetireTaskKey(reason=reason, force=force)
        return post(path("admin", "task-keys", generation, "retire"), TaskKey, body, key=idempotency_key)

    @Call
    def rotate(self, *, reason: str = "", idempotency_key: str | None = None) -> Request[TaskKey]:
        """Start a new generation. Nodes accept it over their links; offline nodes when they return."""
        body = RotateTaskKey(reason=reason)
        return post(path("admin", "task-keys"), TaskKey, body, key=idempotency_key)
