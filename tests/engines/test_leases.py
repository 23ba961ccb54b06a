"""The holder lease survives the agent: restarting one that is cut off gives no more time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from gpuaas.engines.leases import CUT_OFF, CUT_OFF_HOLDER, Leases
from gpuaas.wire.environments import AuthorizedKey

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOLDERS = AuthorizedKey(type="ssh-ed25519", blob="", fingerprint="SHA256:a", user_id="user_ada")
GRANTED = AuthorizedKey(type="ssh-ed25519", blob="", fingerprint="SHA256:b", user_id="user_bob", granted=True)


def test_a_restarted_agent_goes_on_with_the_lease_of_the_one_before(tmp_path: Path) -> None:
    node_time = NOON + timedelta(days=3)  # wrong, but steady
    first = Leases(lambda: 0.0, file=tmp_path / "lease.json", clock=lambda: node_time)
    first.renew(NOON, 300, 3600)
    assert (first.objection(HOLDERS), first.objection(GRANTED)) == ("", "")

    later = node_time + timedelta(seconds=3000)
    again = Leases(lambda: 50.0, file=tmp_path / "lease.json", clock=lambda: later)
    again.restore()
    assert (again.objection(HOLDERS), again.objection(GRANTED)) == ("", CUT_OFF)

    too_late = node_time + timedelta(seconds=3600)
    last = Leases(lambda: 0.0, file=tmp_path / "lease.json", clock=lambda: too_late)
    last.restore()
    assert last.objection(HOLDERS) == CUT_OFF_HOLDER


def test_a_node_that_never_had_a_lease_admits_its_holder_alone(tmp_path: Path) -> None:
    fresh = Leases(lambda: 0.0, file=tmp_path / "lease.json", clock=lambda: NOON)
    fresh.restore()
    assert (fresh.objection(HOLDERS), fresh.objection(GRANTED)) == ("", CUT_OFF)
    (tmp_path / "lease.json").write_bytes(b"{")
    fresh.restore()
    assert fresh.objection(HOLDERS) == ""
