"""Rotates the key of a node. The server refuses the old key as soon as it has the new one."""

import base64
import binascii
import secrets
from datetime import datetime, timedelta

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Problem
from gpuaas.core.secrets import token_hash
from gpuaas.domain.capacity import store
from gpuaas.domain.capacity.contests import settle_contest
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.links import store as links
from gpuaas.domain.timeline.store import NewEntry, Subject, audit, record
from gpuaas.wire.capacity import EnrolmentToken, Intent
from gpuaas.wire.link import RotateKey, rotation_proof

KEY_BYTES = 32
TOKEN_LIFE = timedelta(minutes=10)
ROTATE_KEY = "rotate_key"


class RotationRefused(Problem):
    status, code = 403, "rotation_refused"


async def create_rotation_token(tx: Tx, caller: Caller, node_id: str, *, reason: str, now: datetime) -> EnrolmentToken:
    """A token for one rotation, valid for minutes. A person types it on the node, so a thief of the key does not have
    it.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.node(tx, node_id)
    if row.public_key is None or row.intent is Intent.RETIRED:
        raise Conflict("This node has no key to rotate, because it is not enrolled or is retired. Enrol it instead.")
    token, expires_at = "gpr_" + secrets.token_urlsafe(32), now + TOKEN_LIFE
    await store.add_enrolment_token(
        tx, token_hash(token), node_id, created_by=caller.actor, expires_at=expires_at, purpose=ROTATE_KEY
    )
    subject = Subject(kind="node", id=node_id)
    await record(tx, subject, NewEntry(phase="key_rotation_asked", at=now, actor=caller.actor, note=reason), None)
    await audit(tx, subject, "node.key_rotation_token", actor=caller.actor, at=now, facts={"reason": reason})
    return EnrolmentToken(token=token, node_id=node_id, expires_at=expires_at)


async def rotate_key(tx: Tx, data: RotateKey, *, now: datetime) -> str:
    """Rotate the key and return the node. Its links end, and the old key cannot open another. A repeated request with
    the same new key, after a lost answer, changes nothing.
    """
    new, old_proof, new_proof = (_bytes(each) for each in (data.public_key, data.old_proof, data.new_proof))
    if len(new) != KEY_BYTES:
        raise RotationRefused(f"The new key must be {KEY_BYTES} bytes of Ed25519.")
    node_id = await store.use_rotation_token(tx, token_hash(data.token), new)
    if node_id is None:
        raise RotationRefused("This token is unknown, used or expired. Ask an operator for a new one.")
    row = await store.node(tx, node_id, lock=True)
    signed = rotation_proof(data.token, new)
    if not _is_signed(new, new_proof, signed):
        raise RotationRefused("The new key did not sign this request.")
    if row.public_key == new:
        return node_id
    if row.public_key is None or not _is_signed(row.public_key, old_proof, signed):
        raise RotationRefused("The current key of this node did not sign this request. Was it rotated before?")
    await store.set_key(tx, node_id, new, now)
    await settle_contest(tx, node_id)
    await links.end_links(tx, node_id)
    subject = Subject(kind="node", id=node_id)
    await record(tx, subject, NewEntry(phase="key_rotated", at=now, actor=node_id), None)
    await audit(tx, subject, "node.key_rotated", actor=node_id, at=now)
    return node_id


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise RotationRefused("Keys and proofs are base64.") from error


def _is_signed(key: bytes, signature: bytes, body: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, body)
    except InvalidSignature:
        return False
    return True
