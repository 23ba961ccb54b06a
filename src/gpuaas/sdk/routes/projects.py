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
        """Who did what in the project, or was refused, newest first."""
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
        """Change what holds for the whole project, such as that terminals on its machines are recorded."""
        body = ChangeProject(record_terminals=given(record_terminals))
        return patch(path("projects", id), Project, body, key=idempotency_key)

    @Call
    def create(
        self, slug: str, *, tenant_id: str | None = None, idempotency_key: str | None = None
    ) -> Request[Project]:
        """Make a project in your tenant; you own it."""
        body = CreateProject(slug=slug, tenant_id=tenant_id)
        return post(path("projects"), Project, body, key=idempotency_key)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """Everything that happens in a project, as it happens; resume with Last-Event-ID."""
        return get(path("projects", id, "events"), Entry)

    @Call
    def get(self, id: str) -> Request[Project]:
        """One project."""
        return get(path("projects", id), Project)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Project]]:
        """The projects you can reach."""
        return get(path("projects"), Page[Project], limit=limit)

    @Listing
    def own_keys(self, id: str, *, limit: int | None = None) -> Request[Page[OwnKeyFile]]:
        """List the allocations that admit their own key file: who allowed it, since when, and the keys found in it."""
        return get(path("projects", id, "own-keys"), Page[OwnKeyFile], limit=limit)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """What happened to anything in the project, newest first; the events stream tells what comes next."""
        return get(path("projects", id, "timeline"), Page[Entry], limit=limit)
