"""Reports what a quota leaves, and changes limits. The database enforces limits when a transaction commits."""

from collections.abc import Mapping
from datetime import datetime

import asyncpg
from msgspec import Struct, json

from gpuaas.core.db import Tx
from gpuaas.core.errors import Problem, ValidationError
from gpuaas.domain.identity.callers import Caller, Placed
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.quotas import store
from gpuaas.domain.quotas.store import DEFAULTS, Counted, Place
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.quotas import DIMENSIONS, LABELS, Dimension, Quota, QuotaLine, QuotaScope, SetQuotas

SQLSTATE = "GQ001"  # raised by quota_refuse()
WHOSE = {QuotaScope.TENANT: "the tenant", QuotaScope.PROJECT: "the project", QuotaScope.USER: "your account"}


class Refusal(Struct, frozen=True, kw_only=True):
    scope: QuotaScope
    scope_id: str
    dimension: Dimension
    limit: int
    used: int
    requested: int


class QuotaExceeded(Problem):
    status, code = 409, "quota_exceeded"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(
            f"The quota of {WHOSE[refusal.scope]} for {LABELS[refusal.dimension]} is {refusal.limit}: {refusal.used} "
            f"in use, {refusal.requested} more requested. Release or delete resources, or ask an operator for more.",
            scope=refusal.scope,
            scope_id=refusal.scope_id,
            dimension=refusal.dimension,
            limit=refusal.limit,
            used=refusal.used,
            requested=refusal.requested,
            raised_by="operator",
        )


def is_refusal(error: BaseException) -> bool:
    return isinstance(error, asyncpg.PostgresError) and error.sqlstate == SQLSTATE


def refused(error: asyncpg.PostgresError) -> QuotaExceeded:
    return QuotaExceeded(json.decode(error.as_dict()["detail"], type=Refusal))


async def check(tx: Tx, project: Placed, wanted: Mapping[Dimension, int]) -> None:
    """Report early everything that the commit would refuse. It takes no lock, so the commit decides."""
    for place in places(project):
        for line in await store.counted(tx, place):
            requested = wanted.get(line.dimension, 0)
            if requested and line.amount is not None and (line.used or 0) + requested > line.amount:
                raise QuotaExceeded(
                    Refusal(
                        scope=place.scope,
                        scope_id=place.id,
                        dimension=line.dimension,
                        limit=line.amount,
                        used=line.used or 0,
                        requested=requested,
                    )
                )


def places(project: Placed) -> tuple[Place, Place]:
    return (
        Place(scope=QuotaScope.TENANT, id=project.tenant_id, tenant_id=project.tenant_id),
        Place(scope=QuotaScope.PROJECT, id=project.project_id, tenant_id=project.tenant_id),
    )


async def of_project(tx: Tx, project: Placed) -> Quota:
    """The remaining quota of a project: for each dimension, the tighter limit of project and tenant."""
    of_tenant, of_project = places(project)
    above = {one.dimension: one for one in await store.counted(tx, of_tenant)}
    lines = [tightest(one, above[one.dimension]) for one in await store.counted(tx, of_project)]
    return Quota(scope=QuotaScope.PROJECT, scope_id=project.project_id, lines=lines)


def tightest(own: Counted, above: Counted) -> QuotaLine:
    """The project's usage with the tighter limit; if both leave the same, the project's own."""
    limits = [(one.amount - (one.used or 0), one) for one in (own, above) if one.amount is not None]
    left, by = min(limits, key=lambda limit: limit[0], default=(None, None))
    return QuotaLine(
        dimension=own.dimension,
        limit=by.amount if by else None,
        used=own.used,
        remaining=None if left is None else max(0, left),
        limited_by=source(by) if by else None,
    )


async def of_place(tx: Tx, place: Place) -> Quota:
    lines = [
        QuotaLine(
            dimension=one.dimension,
            limit=one.amount,
            used=one.used,
            remaining=None if one.amount is None or one.used is None else max(0, one.amount - one.used),
            limited_by=None if one.amount is None else source(one),
        )
        for one in await store.counted(tx, place)
    ]
    return Quota(scope=place.scope, scope_id=place.id, lines=lines)


def source(one: Counted) -> QuotaScope:
    return QuotaScope.PLATFORM if one.is_default else one.scope


async def change(tx: Tx, caller: Caller, scope: QuotaScope, id: str, data: SetQuotas, *, now: datetime) -> Place:
    caller.require_platform(Permission.FLEET_OPERATE)
    place = DEFAULTS if scope is QuotaScope.PLATFORM else await store.place(tx, scope, id)
    await _check_limits(tx, place, data)
    for dimension, amount in data.limits.items():
        await store.set_limit(tx, place, dimension, amount, by=caller.actor, reason=data.reason, now=now)
    facts = {"limits": {one.value: amount for one, amount in data.limits.items()}, "reason": data.reason}
    await audit(tx, subject_of(place), "quota.set", actor=caller.actor, at=now, facts=facts)
    return place


async def _check_limits(tx: Tx, place: Place, data: SetQuotas) -> None:
    if strange := sorted(set(data.limits) - DIMENSIONS[place.scope]):
        allowed = ", ".join(one for one in Dimension if one in DIMENSIONS[place.scope])
        raise ValidationError(
            f"A {place.scope} has no quota for {strange[0]}. Choose one of: {allowed}.",
            errors={"limits": f"not for a {place.scope}: {strange[0]}"},
        )
    if place.scope is not QuotaScope.PROJECT or place.tenant_id is None:
        return
    tenant = Place(scope=QuotaScope.TENANT, id=place.tenant_id, tenant_id=place.tenant_id)
    above = {one.dimension: one.amount for one in await store.counted(tx, tenant)}
    for dimension, amount in data.limits.items():
        most = above[dimension]
        if amount is not None and most is not None and amount > most:
            raise ValidationError(
                f"The tenant's quota for {dimension} is {most}; a project cannot have more. Raise that quota first.",
                errors={"limits": f"{dimension}: at most {most}"},
            )


async def clear(
    tx: Tx, caller: Caller, scope: QuotaScope, id: str, dimension: Dimension | None, *, now: datetime
) -> None:
    """Remove a limit, so that the default of the platform applies; for a project, only its tenant's limit."""
    caller.require_platform(Permission.FLEET_OPERATE)
    place = await store.place(tx, scope, id)
    wanted = [dimension] if dimension else list(Dimension)
    if await store.clear_limits(tx, place, wanted):
        facts = {"dimensions": [one.value for one in wanted]}
        await audit(tx, subject_of(place), "quota.clear", actor=caller.actor, at=now, facts=facts)


def subject_of(place: Place) -> Subject:
    project_id = place.id if place.scope is QuotaScope.PROJECT else None
    return Subject(kind=place.scope.value, id=place.id, tenant_id=place.tenant_id, project_id=project_id)
