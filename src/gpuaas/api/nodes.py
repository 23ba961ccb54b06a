"""Routes for agents, outside the public contract: enrolment and rotation of the node's key."""

from litestar import Router, post

from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.domain.capacity import commands
from gpuaas.domain.capacity.commands import EnrolmentRefused
from gpuaas.domain.capacity.keys import RotationRefused, rotate_key
from gpuaas.domain.task_keys import store as task_keys
from gpuaas.wire.link import Enrol, Enrolled, RotatedKey, RotateKey
from gpuaas.wire.task_keys import Verifier


@post("/nodes/enrol", status_code=200, responses=problems(EnrolmentRefused), security=[])
async def enrol(data: Enrol, services: Services) -> Enrolled:
    """Enrol a computer as a node with its single-use token and its key."""
    async with services.worker_db.write() as tx:
        node_id = await commands.enrol(tx, data, ids=services.ids, now=services.clock.now())
        verifiers = await first_verifiers(tx, node_id, services)
    return Enrolled(node_id=node_id, verifiers=verifiers)


@post("/nodes/rotate-key", status_code=200, responses=problems(RotationRefused), security=[])
async def rotate_node_key(data: RotateKey, services: Services) -> RotatedKey:
    """Rotate a node's key with an operator's token and proofs of both keys."""
    async with services.worker_db.write() as tx:
        node_id = await rotate_key(tx, data, now=services.clock.now())
        verifiers = await first_verifiers(tx, node_id, services)
    await services.links.cut(node_id, "the key was changed")
    return RotatedKey(node_id=node_id, verifiers=verifiers)


async def first_verifiers(tx: Tx, node_id: str, services: Services) -> list[Verifier]:
    """The current task key. The node trusts it because it sent an operator's token to this server."""
    await task_keys.lock(tx, shared=True)
    current = (await task_keys.generations(tx)).current
    await task_keys.accepted(tx, {node_id: current})
    return [services.task_keys.signer(current).verifier]


ROUTER = Router("/internal/v1", route_handlers=[enrol, rotate_node_key], include_in_schema=False)
