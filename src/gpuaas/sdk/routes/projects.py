"""Routes of projects. Generated from the OpenAPI description by `make sdk`; do not edit."""

from datetime import datetime

from msgspec import UNSET, UnsetType

from gpuaas.sdk.methods import Call, Following, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, given, patch, path, post
from gpuaas.wire.access import OwnKeyFile
from gpuaas.wire.common import Page
from gpuaas.wire.identity import ChangeProject, CreateProject, Project
from gpuaas.wire.timeline import AuditResult, AuditRow, Entry


class ProjectsRoutes(Resource[R_co]):
    @Listing
    def audit(
        self,
        id: str,
        *,
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        result: AuditResult | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> Request[Page[AuditRow]]:
        """Actions and refusals in the project, newest first."""
        return get(
            path("projects", id, "audit"),
            Page[AuditRow],
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=since,
            until=until,
            limit=limit,
        )

    @Call
    def change(
        self, id: str, *, record_terminals: bool | UnsetType | None = UNSET, idempotency_key: str | None = None
    ) -> Request[Project]:
        """Change settings of the project, such as recording of terminals."""
        body = ChangeProject(record_terminals=given(record_terminals))
        return patch(path("projects", id), Project, body, key=idempotency_key)

    @Call
    def create(
        self, slug: str, *, tenant_id: str | None = None, idempotency_key: str | None = None
    ) -> Request[Project]:
        """Create a project in your tenant; you become its owner."""
        body = CreateProject(slug=slug, tenant_id=tenant_id)
        return post(path("projects"), Project, body, key=idempotency_key)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """The events of a project as they happen; resume with Last-Event-ID."""
        return get(path("projects", id, "events"), Entry)

    @Call
    def get(self, id: str) -> Request[Project]:
        """One project."""
        return get(path("projects", id), Project)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Project]]:
        """The projects that you can access."""
        return get(path("projects"), Page[Project], limit=limit)

    @Listing
    def own_keys(self, id: str, *, limit: int | None = None) -> Request[Page[OwnKeyFile]]:
        """List the allocations that admit their own key file: who allowed it, since when, and the keys found in it."""
        return get(path("projects", id, "own-keys"), Page[OwnKeyFile], limit=limit)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """The timeline of the project, newest first; the events stream sends new entries."""
        return get(path("projects", id, "timeline"), Page[Entry], limit=limit)
