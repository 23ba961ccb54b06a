"""What operators and token holders do."""

import pytest
from msgspec.structs import replace

from gpuaas.wire.allocations import Allocation, CleanupProof, InspectedAllocation, NodeTask
from gpuaas.wire.capacity import EnrolmentToken, Fit, Placement, Unavailable
from gpuaas.wire.identity import NewToken, Scope
from gpuaas.wire.images import CurrentImage
from tests.cli.conftest import Terminal
from tests.cli.test_volumes import volume
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page

NODE = f"/admin/nodes/{samples.NODE}"
STUCK: Allocation = samples.allocation()
WORKER = samples.worker().worker

ACTS = {
    "admin nodes drain gpu-01 --yes --reason r": (f"{NODE}/drain", samples.node()),
    "admin nodes undrain gpu-01 --reason r": (f"{NODE}/undrain", samples.node()),
    "admin nodes quarantine gpu-01 --yes --reason r": (f"{NODE}/quarantine", samples.node()),
    "admin nodes unquarantine gpu-01 --reason r": (f"{NODE}/unquarantine", samples.node()),
    "admin nodes retire gpu-01 --yes --reason r": (f"{NODE}/retire", samples.node()),
    "admin nodes lost gpu-01 --yes --reason r": (f"{NODE}/lost", samples.node()),
    "admin slots approve gpu-01 3 --reason r": (f"{NODE}/slots/3/approve", samples.slot(3)),
    "admin slots disable gpu-01 3 --yes --reason r": (f"{NODE}/slots/3/disable", samples.slot(3)),
    "admin slots enable gpu-01 3 --reason r": (f"{NODE}/slots/3/enable", samples.slot(3)),
    "admin unknown-environments adopt gpu-01 alloc_x --reason r": (
        f"{NODE}/unknown-environments/alloc_x/adopt",
        STUCK,
    ),
    "admin unknown-environments remove gpu-01 alloc_x --yes --reason r": (
        f"{NODE}/unknown-environments/alloc_x/remove",
        samples.unknown_environment(),
    ),
    "admin unknown-volumes adopt gpu-01 vol_x --reason r": (f"{NODE}/unknown-volumes/vol_x/adopt", volume()),
    "admin unknown-volumes remove gpu-01 vol_x --yes --reason r": (
        f"{NODE}/unknown-volumes/vol_x/remove",
        samples.unknown_volume(),
    ),
    f"admin allocations force-release {STUCK.id} --yes --reason r": (
        f"/admin/allocations/{STUCK.id}/force-release",
        STUCK,
    ),
    f"admin allocations force-cleanup {STUCK.id} --yes --reason r": (
        f"/admin/allocations/{STUCK.id}/force-cleanup",
        STUCK,
    ),
    "admin task-keys rotate --reason r": ("/admin/task-keys", samples.task_key(2)),
    "admin task-keys retire 1 --force --yes --reason r": ("/admin/task-keys/1/retire", samples.task_key(1)),
    f"admin workers disable {WORKER} --yes --reason r": (f"/admin/workers/{WORKER}/disable", samples.worker()),
    f"admin workers enable {WORKER} --reason r": (f"/admin/workers/{WORKER}/enable", samples.worker()),
}


@pytest.mark.parametrize("line", ACTS)
def test_every_act_of_an_operator_reaches_its_route(terminal: Terminal, api: FakeApi, line: str) -> None:
    path, thing = ACTS[line]
    api.on("GET", "/admin/nodes", page(samples.node()))
    api.on("GET", "/admin/task-keys", page(samples.task_key(2, "gpu-01"), samples.task_key(1)))
    api.on("POST", path, Answer(thing))
    ran = terminal.run(*line.split())
    assert (ran.code, ran.out != "") == (0, True)
    (seen,) = api.asked("POST", path)
    assert seen.body["reason"] == "r"
    assert seen.key


@pytest.mark.parametrize("line", [line for line in ACTS if "--yes" in line])
def test_disruptive_acts_ask_first(terminal: Terminal, api: FakeApi, line: str) -> None:
    api.on("GET", "/admin/nodes", page(samples.node()))
    api.on("GET", "/admin/task-keys", page(samples.task_key(2, "gpu-01"), samples.task_key(1)))
    ran = terminal.run(*line.replace("--yes ", "").split())
    assert ran.code == 1
    assert "Lost: " in ran.err
    assert "Kept: " in ran.err
    assert not [one for one in api.seen if one.method == "POST"]


def test_force_cleanup_frees_slots_only_when_somebody_looked(terminal: Terminal, api: FakeApi) -> None:
    path = f"/admin/allocations/{STUCK.id}/force-cleanup"
    api.on("POST", path, Answer(STUCK))
    terminal.run("admin", "allocations", "force-cleanup", STUCK.id, "--reason", "r", "-y")
    terminal.run("admin", "allocations", "force-cleanup", STUCK.id, "--reason", "r", "-y", "--verified-absent")
    assert [one.body["runtime_verified_absent"] for one in api.seen] == [False, True]


def test_an_enrolment_token_is_printed_alone(terminal: Terminal, api: FakeApi) -> None:
    made = EnrolmentToken(token="enrol-me", node_id=samples.NODE, expires_at=samples.NOON)
    api.on("POST", "/admin/enrolment-tokens", Answer(made, 201))
    ran = terminal.run("admin", "nodes", "enrol-token", "gpu-07", "--region", "eu-1")
    assert (ran.code, ran.out) == (0, "enrol-me\n")
    assert f"gpuaas agent enrol --server {api.url}" in ran.err
    assert "enrol-me" not in ran.err


def test_a_personal_token_is_printed_alone_and_once(terminal: Terminal, api: FakeApi) -> None:
    api.on("POST", "/auth/tokens", Answer(NewToken(token="tok-secret", details=samples.token()), 201))
    ran = terminal.run("tokens", "create", "nightly", "--scope", "read", "--scope", "write", "--days", "90")
    assert (ran.code, ran.out) == (0, "tok-secret\n")
    assert "tok-secret" not in ran.err
    assert api.seen[-1].body == {"title": "nightly", "scopes": [Scope.READ, Scope.WRITE], "expires_in_days": 90}


@pytest.mark.parametrize(("noun", "path"), [("tokens", "/auth/tokens"), ("sessions", "/auth/sessions")])
def test_tokens_and_sessions_can_be_revoked(terminal: Terminal, api: FakeApi, noun: str, path: str) -> None:
    thing = samples.token() if noun == "tokens" else samples.session()
    api.on("GET", path, page(thing))
    api.on("DELETE", f"{path}/{thing.id}", Answer(status=204))
    assert terminal.run(noun, "revoke", thing.id).code == 1
    assert terminal.run(noun, "revoke", thing.id, "--yes").code == 0


def test_placement_is_explained(terminal: Terminal, api: FakeApi) -> None:
    answer = Placement(
        fits=False,
        kind=Unavailable.NO_SINGLE_NODE_FITS,
        detail="No node has 8 free slots.",
        blocked={"draining": 4},
        would_fit=[Fit(gpu_count=4, count=2, region="local")],
    )
    api.on("POST", "/placement/explain", Answer(answer))
    out = terminal.run("placement", "explain", "--sku", "sim-h200-slice", "--gpus", "8").out
    assert "no single node fits" in out
    assert "4 draining" in out
    assert "2 of 4 GPU in local" in out
    assert api.seen[-1].key is None


def test_one_node_is_shown_whole(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/nodes", page(samples.node()))
    api.on("GET", NODE, Answer(samples.node(intent_reason="new disk", unknown_environments=["alloc_stranger"])))
    shown = terminal.run("admin", "nodes", "get", "gpu-01").out
    assert "new disk" in shown
    assert "alloc_stranger" in shown


def test_a_node_shows_its_base_image_and_why_it_is_outdated(terminal: Terminal, api: FakeApi) -> None:
    image = CurrentImage(
        version="bookworm-1",
        distribution="debian-12",
        python="3.11",
        sshd="1:9.2p1",
        built_at=samples.NOON,
        max_age_days=7,
    )
    api.on("GET", "/admin/nodes", page(samples.node()))

    def shown(image: CurrentImage) -> str:
        api.on("GET", NODE, Answer(samples.node(image=image)))
        return terminal.run("admin", "nodes", "get", "gpu-01").out

    assert "bookworm-1 (debian-12, Python 3.11)" in shown(image)
    assert "outdated" not in shown(image)
    late = replace(image, outdated_since=samples.NOON)
    assert "The agent rebuilds it within six hours." in shown(late)
    assert "The last rebuild failed: no network" in shown(replace(late, failure="no network"))


def test_an_operator_reads_the_whole_case_of_an_allocation(terminal: Terminal, api: FakeApi) -> None:
    task = NodeTask(
        id="task_1",
        kind="environment.remove",
        seq=2,
        boot=1,
        status="failed",
        attempt=3,
        created_at=STUCK.created_at,
        sent_at=None,
        ended_at=None,
        reason="not cleaned",
        detail="a mount is busy",
    )
    proof = CleanupProof(item="mounts", ok=False, evidence="/home is busy", at=STUCK.created_at)
    case = InspectedAllocation(
        allocation=STUCK, holder_email="ada@example.com", timeline=[], tasks=[task], proofs=[proof]
    )
    api.on("GET", f"/admin/allocations/{STUCK.id}", Answer(case))
    ran = terminal.run("admin", "allocations", "get", STUCK.id)
    assert ran.code == 0
    for word in (STUCK.name, "environment.remove", "a mount is busy", "/home is busy"):
        assert word in ran.out
