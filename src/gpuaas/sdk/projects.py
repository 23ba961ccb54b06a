"""Projects: what allocations belong to."""

from typing import Unpack

from msgspec import UNSET, UnsetType

from gpuaas.sdk.audit import AuditQuery, rows
from gpuaas.sdk.nouns import Call, Following, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, get, patch, path, post
from gpuaas.wire.access import OwnKeyFile
from gpuaas.wire.common import Page
from gpuaas.wire.identity import ChangeProject, CreateProject, Project
from gpuaas.wire.timeline import AuditRow, Entry


class Projects(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Project]]:
        return get(path("projects"), Page[Project], limit=limit)

    @Call
    def get(self, id: str) -> Request[Project]:
        return get(path("projects", id), Project)

    @Call
    def create(
        self, slug: str, *, tenant_id: str | None = None, idempotency_key: str | None = None
    ) -> Request[Project]:
        return post(path("projects"), Project, CreateProject(slug=slug, tenant_id=tenant_id), key=idempotency_key)

    @Call
    def change(
        self, id: str, *, record_terminals: bool | UnsetType = UNSET, idempotency_key: str | None = None
    ) -> Request[Project]:
        """What is left out stays."""
        body = ChangeProject(record_terminals=record_terminals)
        return patch(path("projects", id), Project, body, key=idempotency_key)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """What happened to anything in it, newest first."""
        return get(path("projects", id, "timeline"), Page[Entry], limit=limit)

    @Listing
    def audit(self, id: str, **query: Unpack[AuditQuery]) -> Request[Page[AuditRow]]:
        """Who did what in it, newest first."""
        return rows(path("projects", id), query)

    @Listing
    def own_keys(self, id: str, *, limit: int | None = None) -> Request[Page[OwnKeyFile]]:
        """The allocations that admit keys of their own ~/.ssh/authorized_keys."""
        return get(path("projects", id, "own-keys"), Page[OwnKeyFile], limit=limit)

    @Following
    def events(self, id: str) -> Request[Entry]:
        """What happens to anything in the project."""
        return get(path("projects", id, "events"), Entry)
