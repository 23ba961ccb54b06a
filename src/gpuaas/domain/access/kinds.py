"""Declares how a change of an access grant is written."""

from gpuaas.domain.access.states import MACHINE
from gpuaas.domain.timeline.kinds import Audit, Kind
from gpuaas.wire.timeline import Outcome

WRITES = {
    "status_since": ":now",
    "status_reason": ":note",
    "ssh_key_id": ":ssh_key_id",
    "key_fingerprint": "coalesce(key_fingerprint(:ssh_key_id, user_id), key_fingerprint)",
    "expires_at": ":expires_at",
}
AUDIT = Audit(
    action="access_grant.{status}",
    target_kind="access_grant",
    facts="""
        jsonb_build_object('allocation', allocation_id, 'user', user_id, 'note', status_reason, 'key', ssh_key_id,
            'fingerprint', key_fingerprint, 'expires_at', expires_at)
    """,
)

# Entries are on the timeline of the allocation. A change of key or end that keeps the status also adds an entry, so
# that older entries stay true.
GRANT = Kind(
    noun="access grant",
    table="access_grants",
    states=MACHINE,
    subject_kind="allocation",
    subject_id="allocation_id",
    writes=WRITES,
    facts=WRITES,
    phase="access_{status}",
    outcome=lambda _: Outcome.DONE,
    note="concat_ws(': ', (select u.email from users u where u.id = user_id), nullif(status_reason, ''))",
    evidence="jsonb_build_object('grant', id, 'user', user_id, 'fingerprint', key_fingerprint)",
    audit=AUDIT,
    operation="null",
)
