"""Volumes on the command line: what is asked of the API, what is shown meanwhile, and what is said before data goes."""

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import (
    AccessMode,
    Attachment,
    AttachmentStatus,
    Backend,
    Durability,
    Snapshot,
    SnapshotStatus,
    Usage,
    Volume,
    VolumeStatus,
    WritePolicy,
)
from gpuaas.wire.timeline import OperationStatus
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page, problem

VOLUMES = f"/projects/{samples.PROJECT}/volumes"
ID, SNAPSHOT_ID, ATTACHMENT_ID = samples.id_of("vol", 1), samples.id_of("snap", 1), samples.id_of("att", 1)
MACHINE = f"/allocations/{samples.ALLOCATION}"
ATTACHMENTS, OPERATION = f"{MACHINE}/storage-attachments", f"/operations/{samples.OPERATION}"


def volume(**changes: Any) -> Volume:
    made = Volume(
        id=ID,
        project_id=samples.PROJECT,
        name="datasets",
        status=VolumeStatus.AVAILABLE,
        status_since=samples.NOON,
        status_reason="",
        size_gib=100,
        backend=Backend.SHARED,
        write_policy=WritePolicy.SINGLE_WRITER,
        durability=Durability.SHARED,
        attaches_to="machines on every node",
        node_id=None,
        quota="measured",
        usage=Usage(used_bytes=5 << 20, at=samples.NOON),
        is_over_quota=False,
        protected=False,
        snapshot_id=None,
        created_at=samples.NOON - timedelta(days=1),
        created_by=samples.USER.id,
        deleted_at=None,
        deletion_proofs=[],
        attachments=[],
        operation_id=samples.OPERATION,
    )
    return replace(made, **changes)


def attachment(status: AttachmentStatus = AttachmentStatus.ATTACHED, reason: str = "") -> Attachment:
    return Attachment(
        id=ATTACHMENT_ID,
        allocation_id=samples.ALLOCATION,
        volume_id=ID,
        volume_name="datasets",
        mount_path="/data",
        access_mode=AccessMode.READ_WRITE,
        durability=Durability.SHARED,
        status=status,
        status_since=samples.NOON,
        status_reason=reason,
        observed_boot=1,
        observed_at=samples.NOON,
        created_at=samples.NOON,
        operation_id=samples.OPERATION,
    )


def snapshot() -> Snapshot:
    return Snapshot(
        id=SNAPSHOT_ID,
        volume_id=ID,
        project_id=samples.PROJECT,
        name="before",
        status=SnapshotStatus.READY,
        status_since=samples.NOON,
        status_reason="",
        size_bytes=5 << 20,
        consistency="nobody wrote meanwhile",
        created_at=samples.NOON,
        created_by=samples.USER.id,
        operation_id=samples.OPERATION,
    )


@pytest.fixture
def kept(api: FakeApi) -> FakeApi:
    """One volume and one machine; whatever is asked for succeeds."""
    done = samples.operation(OperationStatus.SUCCEEDED, samples.phase("volume_attaching", 0.1))
    api.on("GET", VOLUMES, page(volume()))
    api.on("GET", f"{VOLUMES}/{ID}", Answer(volume()))
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation(attachments=[attachment()])))
    api.on("GET", f"/projects/{samples.PROJECT}/events", Events((event(samples.entry(1)),), then="stay"))
    api.on("GET", OPERATION, Answer(done))
    api.on("GET", f"{ATTACHMENTS}/{ATTACHMENT_ID}", Answer(attachment()))
    api.on("GET", f"/volumes/{ID}/snapshots", page(snapshot()))
    return api


def test_a_volume_is_created_as_told_and_shown_when_it_is_there(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("POST", VOLUMES, Answer(volume(status=VolumeStatus.CREATING), 202))
    ran = terminal.run("volumes", "create", "datasets", "--size", "100", "--writers", "multi_writer")
    assert (ran.code, "datasets" in ran.out) == (0, True)
    body = kept.asked("POST", VOLUMES)[0].body
    assert [body[name] for name in ("name", "size_gib", "backend", "write_policy")] == [
        *("datasets", 100, "shared", "multi_writer")
    ]


def test_a_local_volume_stands_beside_its_machine(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("POST", VOLUMES, Answer(volume(backend=Backend.LOCAL), 202))
    assert terminal.run("volumes", "create", "cache", "--backend", "local", "--beside", "train-a").code == 0
    assert kept.asked("POST", VOLUMES)[0].body["allocation_id"] == samples.ALLOCATION


def test_a_volume_that_could_not_be_made_is_a_failure_with_a_next_step(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("POST", VOLUMES, Answer(volume(), 202))
    kept.on("GET", OPERATION, Answer(samples.operation(OperationStatus.FAILED, reason="the share is not mounted")))
    ran = terminal.run("volumes", "create", "datasets")
    assert ran.code == 2
    assert "the share is not mounted" in ran.err
    assert "gpuaas volumes get datasets" in ran.err


def test_volumes_are_listed_with_what_is_used(terminal: Terminal, kept: FakeApi) -> None:
    assert "5 MiB" in terminal.run("volumes", "list").out
    assert json.loads(terminal.run("volumes", "list", "-o", "json").out)[0]["usage"]["used_bytes"] == 5 << 20
    assert "machines on every node" in terminal.run("volumes", "get", "datasets").out
    kept.on("GET", VOLUMES, page())
    assert "gpuaas volumes create" in terminal.run("volumes", "list").err


@pytest.mark.parametrize(("flag", "mode"), [((), "read_write"), (("--read-only",), "read_only")])
def test_a_volume_is_attached_where_told(terminal: Terminal, kept: FakeApi, flag: tuple[str, ...], mode: str) -> None:
    kept.on("POST", ATTACHMENTS, Answer(attachment(AttachmentStatus.ATTACHING), 202))
    ran = terminal.run("volumes", "attach", "datasets", "train-a", "--at", "/data/sets", *flag)
    assert (ran.code, "attached" in ran.out) == (0, True)
    assert kept.asked("POST", ATTACHMENTS)[0].body == {
        "volume_id": ID,
        "mount_path": "/data/sets",
        "access_mode": mode,
    }


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("mount_path_refused", "A volume cannot be mounted at '/etc': it would hide a folder of the system."),
        ("volume_in_use", "The volume datasets has one writer, and it is another machine."),
    ],
)
def test_what_the_api_refuses_is_told_in_its_words(terminal: Terminal, kept: FakeApi, code: str, words: str) -> None:
    status = 422 if code == "mount_path_refused" else 409
    kept.on("POST", ATTACHMENTS, problem(status, code, words))
    ran = terminal.run("volumes", "attach", "datasets", "train-a", "--at", "/etc")
    assert ran.code != 0
    assert words.split(":", maxsplit=1)[0] in " ".join(ran.err.split())


def test_a_busy_volume_names_both_ways_out(terminal: Terminal, kept: FakeApi) -> None:
    path = f"{ATTACHMENTS}/{ATTACHMENT_ID}"
    kept.on("DELETE", path, Answer(attachment(AttachmentStatus.DETACHING), 202))
    kept.on("GET", OPERATION, Answer(samples.operation(OperationStatus.FAILED, reason="in use: python (pid 7)")))
    assert terminal.run("volumes", "detach", "datasets", "train-a").code == 1  # nobody to ask
    assert kept.asked("DELETE", path) == []
    ran = terminal.run("volumes", "detach", "datasets", "train-a", "--yes")
    assert (ran.code, "in use: python (pid 7)" in ran.err) == (2, True)
    assert "close what uses it, or: gpuaas volumes detach datasets train-a --force" in " ".join(ran.err.split())


def test_force_says_what_it_ends_and_asks(terminal: Terminal, kept: FakeApi) -> None:
    path = f"{ATTACHMENTS}/{ATTACHMENT_ID}"
    kept.on("DELETE", path, Answer(attachment(AttachmentStatus.DETACHING), 202))
    unsure = terminal.run("volumes", "detach", "datasets", "train-a", "--force")
    assert (unsure.code, "every process on train-a that uses it" in unsure.err) == (1, True)
    assert kept.asked("DELETE", path) == []
    assert terminal.run("volumes", "detach", "datasets", "train-a", "--force", "--yes").code == 0
    assert kept.asked("DELETE", path)[0].query == {"force": "true"}


def test_what_is_not_attached_cannot_be_detached(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    ran = terminal.run("volumes", "detach", "datasets", "train-a")
    assert (ran.code, "datasets is not attached to train-a" in ran.err) == (4, True)


def test_a_snapshot_is_taken_listed_and_restored_into_a_new_volume(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("POST", f"/volumes/{ID}/snapshots", Answer(snapshot(), 202))
    kept.on("POST", VOLUMES, Answer(volume(name="again"), 202))
    assert "nobody wrote meanwhile" in terminal.run("volumes", "snapshot", "datasets", "before").out
    assert kept.asked("POST", f"/volumes/{ID}/snapshots")[0].body == {"name": "before"}
    assert terminal.run("volumes", "restore", "datasets", "before", "again").code == 0
    body = kept.asked("POST", VOLUMES)[0].body
    assert (body["name"], body["snapshot_id"], body["size_gib"]) == ("again", SNAPSHOT_ID, 100)


def test_a_snapshot_is_deleted_after_a_yes(terminal: Terminal, kept: FakeApi) -> None:
    at = f"/volumes/{ID}/snapshots/{SNAPSHOT_ID}"
    kept.on("DELETE", at, Answer(snapshot(), 202))
    assert terminal.run("volumes", "delete-snapshot", "datasets", "before").code == 1
    assert kept.asked("DELETE", at) == []
    assert terminal.run("volumes", "delete-snapshot", "datasets", "before", "--yes").code == 0
    assert len(kept.asked("DELETE", at)) == 1
    nothing = terminal.run("volumes", "delete-snapshot", "datasets", "after", "--yes")
    assert (nothing.code, "gpuaas volumes snapshot datasets" in nothing.err) == (4, True)


def test_a_deleted_volume_is_shown_by_its_id_with_the_proof(terminal: Terminal, kept: FakeApi) -> None:
    proof = ProofItem(item="data", ok=True, evidence="no folder of it")
    gone = volume(status=VolumeStatus.DELETED, deleted_at=samples.NOON, deletion_proofs=[proof])
    kept.on("GET", f"{VOLUMES}/{ID}", Answer(gone))
    assert "ok data: no folder of it" in terminal.run("volumes", "get", ID).out


def test_a_volume_is_protected_and_freed(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("PATCH", f"{VOLUMES}/{ID}", Answer(volume(protected=True)))
    terminal.run("volumes", "protect", "datasets")
    terminal.run("volumes", "protect", "datasets", "--off")
    assert [one.body for one in kept.asked("PATCH", f"{VOLUMES}/{ID}")] == [{"protected": True}, {"protected": False}]


def test_deleting_says_what_is_lost_for_good_and_asks(terminal: Terminal, kept: FakeApi) -> None:
    kept.on("DELETE", f"{VOLUMES}/{ID}", Answer(volume(status=VolumeStatus.DELETING), 202))
    unsure = terminal.run("volumes", "delete", "datasets")
    assert (unsure.code, "everything on datasets (5 MiB). It cannot be undone." in unsure.err) == (1, True)
    assert kept.asked("DELETE", f"{VOLUMES}/{ID}") == []
    assert "proven gone" in terminal.run("volumes", "delete", "datasets", "--yes").err
