"""Bad requests to machines that live, and to what lies over them: access, members, storage, runtimes, terminals.

`<noun>` stands for a thing of Ada's in the town; see tests/isolation/town.py.
"""

import json
from typing import Any

from tests.contracts.refusals import IDEM, Bad
from tests.isolation.town import publication
from tests.world import SLICE

MACHINE = "/allocations/<allocation>"
GRANTS, GRANT = f"{MACHINE}/access-grants", f"{MACHINE}/access-grants/<grant>"
MEMBERS, VOLUMES = "/projects/<project>/members", "/projects/<project>/volumes"
ATTACHMENTS, RUNTIME = f"{MACHINE}/storage-attachments", f"{MACHINE}/runtime-bundles"
BUNDLES = "/admin/runtime-bundles"
NOBODY, PAST, WHEN_ALL_ENDS = "user_00000000000000000000000000", "2020-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"
LONG = "r" * 501


def bad(says: str, path: str, body: dict[str, Any] | None = None, wrong: str = "", **changes: Any) -> Bad:
    who = "operator" if path.startswith("/admin/") else "ada"
    content = b"" if body is None else json.dumps(body).encode()
    return Bad(**{"says": says, "path": path, "body": content, "wrong": wrong, "headers": IDEM, "who": who, **changes})


def conflict(says: str, path: str, body: dict[str, Any] | None = None, code: str = "conflict", **changes: Any) -> Bad:
    return bad(says, path, body, status=409, code=code, **changes)


def missing(says: str, path: str, noun: str, body: dict[str, Any] | None = None, **changes: Any) -> Bad:
    return bad(says, path, body, status=404, code=f"{noun}_not_found", **changes)


def looked_at(says: str, path: str, wrong: str) -> Bad:
    return bad(says, path, None, wrong, method="GET")


def launched(says: str, wrong: str, code: str = "validation_error", **fields: Any) -> Bad:
    asked = {"sku": SLICE, "ssh_key_ids": ["<ssh_key>"], **fields}
    return bad(f"launched {says}", "/allocations", asked, wrong, code=code)


def mounted_at(path: str, code: str = "mount_path_refused") -> Bad:
    body = {"volume_id": "<volume>", "mount_path": path}
    return bad(f"mounted at {path[:40]!r}", ATTACHMENTS, body, "mount_path", code=code)


def applied(says: str, wrong: str, **body: Any) -> Bad:
    return bad(f"apply {says}", RUNTIME, body, wrong)


def published(says: str, wrong: str, **changes: Any) -> Bad:
    return bad(f"publish {says}", BUNDLES, publication("odd") | changes, wrong)


def recipe(**changes: Any) -> dict[str, Any]:
    return {**publication("odd")["recipe"], **changes}


ACCESS = [
    bad("no key of anybody's", f"{MACHINE}/ssh-keys", {"ssh_key_ids": ["key_x"]}, "ssh_key_ids", method="PUT"),
    bad("an empty key id", f"{MACHINE}/ssh-keys", {"ssh_key_ids": [""]}, "ssh_key_ids", method="PUT"),
    bad("own keys allowed perhaps", f"{MACHINE}/own-keys", {"allowed": "perhaps"}, "allowed", method="PUT"),
    bad("handed over to nobody", f"{MACHINE}/handover", {"user_id": NOBODY}, "user_id"),
    bad(
        "handed over with another's key",
        f"{MACHINE}/handover",
        {"user_id": "<mate>", "ssh_key_ids": ["<ssh_key>"]},
        "ssh_key_ids",
    ),
    bad("granted to nobody", GRANTS, {"user_id": NOBODY}, "user_id"),
    bad("granted with a key that there is not", GRANTS, {"user_id": "<owner>", "ssh_key_id": "key_x"}),
    bad("granted until yesterday", GRANTS, {"user_id": "<owner>", "expires_at": PAST}, "expires_at"),
    bad("granted until all ends", GRANTS, {"user_id": "<owner>", "expires_at": WHEN_ALL_ENDS}, "expires_at"),
    bad("granted until a time of no zone", GRANTS, {"user_id": "<owner>", "expires_at": "2030-01-01T00:00"}),
    conflict("granted to the holder", GRANTS, {"user_id": "<mate>"}),
    conflict("granted twice", GRANTS, {"user_id": "<owner>"}),
    conflict("asked for what one has", f"{MACHINE}/access-requests", {}),
    bad("asked with another's key", f"{MACHINE}/access-requests", {"ssh_key_id": "<mate_key>"}, "ssh_key_id"),
    bad("asked at length", f"{MACHINE}/access-requests", {"reason": LONG}, "reason"),
    bad("prolonged into the past", GRANT, {"expires_at": PAST}, "expires_at", method="PATCH"),
    bad("prolonged until all ends", GRANT, {"expires_at": WHEN_ALL_ENDS}, "expires_at", method="PATCH"),
    bad("another's key for a grant", GRANT, {"ssh_key_id": "<mate_key>"}, "ssh_key_id", method="PATCH"),
    missing("a grant that there is not", f"{GRANTS}/grant_x", "access_grant", {}, method="PATCH"),
    bad("revoked at length", f"{GRANT}?reason={LONG}", None, "reason", method="DELETE"),
    bad("ended at length", f"{MACHINE}/sessions/<live_session>?reason={LONG}", None, "reason", method="DELETE"),
    missing("ended that is not open", f"{MACHINE}/sessions/live_x", "session", method="DELETE"),
]
PEOPLE = [
    bad("invited without an at", MEMBERS, {"email": "bob"}, "email"),
    bad("invited with a line break", MEMBERS, {"email": "bob@example.com\n"}, "email"),
    bad("invited as king", MEMBERS, {"email": "bob@example.com", "role": "king"}, "role"),
    bad("recorded sometimes", "/projects/<project>", {"record_terminals": 1}, "record_terminals", method="PATCH"),
    bad("made king", f"{MEMBERS}/<mate>", {"role": "king"}, "role", method="PUT"),
    missing("a role for nobody", f"{MEMBERS}/{NOBODY}", "member", {"role": "member"}, method="PUT"),
    conflict("the last owner steps down", f"{MEMBERS}/<owner>", {"role": "member"}, "last_owner", method="PUT"),
    conflict("the last owner leaves", f"{MEMBERS}/<owner>", None, "last_owner", method="DELETE"),
    bad("an invitation without its secret", "/invitations/accept", {}, "secret"),
    looked_at("invitations of a huge project", f"/invitations?project_id={'p' * 65}", "project_id"),
]
LIVES = [
    bad("restarted at length", f"{MACHINE}/restart", {"reason": LONG}, "reason"),
    bad("restarted by force", f"{MACHINE}/restart", {"force": True}),
    bad("released at length", f"{MACHINE}/release", {"reason": LONG}, "reason"),
    bad("a group released at length", "/allocation-groups/<group>/release", {"reason": LONG}, "reason"),
    bad("resized to nothing", f"{MACHINE}/resize", {"gpu_count": 0}, "gpu_count"),
    bad("resized to what is not sold", f"{MACHINE}/resize", {"gpu_count": 3}, "gpu_count"),
    bad("resized beyond all", f"{MACHINE}/resize", {"gpu_count": 10**40}, "gpu_count"),
    bad("resized to an unknown size", f"{MACHINE}/resize", {"gpu_count": 1, "size": "no-such-size"}, "size"),
    conflict("resized to what it is", f"{MACHINE}/resize", {"gpu_count": 1}),
    bad("extended by no time", f"{MACHINE}/extend", {"hours": 0}, "hours"),
    bad("extended by less than none", f"{MACHINE}/extend", {"hours": -1}, "hours"),
    bad("extended for ever", f"{MACHINE}/extend", {"hours": 1e300}, "hours"),
    bad("extended in two ways", f"{MACHINE}/extend", {"hours": 1, "expires_at": "2030-01-01T00:00:00Z"}, "hours"),
    bad("extended into the past", f"{MACHINE}/extend", {"expires_at": PAST}, "expires_at"),
    bad("extended until all ends", f"{MACHINE}/extend", {"expires_at": WHEN_ALL_ENDS}, "expires_at"),
    bad("extended to a day that is not", f"{MACHINE}/extend", {"expires_at": "2030-02-30T00:00:00Z"}, "expires_at"),
    bad("idle for no time", f"{MACHINE}/extend", {"idle_minutes": 4}, "idle_minutes"),
    bad("idle for years", f"{MACHINE}/extend", {"idle_minutes": 43_201}, "idle_minutes"),
    launched("with an end that is past", "expires_at", expires_at=PAST),
    launched("until all ends", "expires_at", expires_at=WHEN_ALL_ENDS),
    launched("with a bundle nobody offers", "runtime_bundle_slug", runtime_bundle_slug="no-such-bundle"),
    launched("with two bundles", "runtime_bundle", runtime_bundle_slug="offered", runtime_bundle_id="<bundle>"),
    launched("with no volume", "storage_attachments", storage_attachments=[{"mount_path": "/data"}]),
    launched(
        "with a volume over the system",
        "mount_path",
        code="mount_path_refused",
        storage_attachments=[{"mount_path": "/etc", "new_volume": {"name": "v", "size_gib": 1}}],
    ),
    launched(
        "with volumes inside each other",
        "mount_path",
        code="mount_path_refused",
        storage_attachments=[
            {"mount_path": path, "new_volume": {"name": name, "size_gib": 1}}
            for path, name in (("/data", "v"), ("/data/x", "w"))
        ],
    ),
    looked_at("consequences of a dance", f"{MACHINE}/consequences?of=dance", "of"),
    *(looked_at(f"metrics of {span}", f"{MACHINE}/metrics?range={span}", "range") for span in ("2d", "-1h", "0s", "x")),
    *(looked_at(f"metrics by {span}", f"{MACHINE}/metrics?step={span}", "step") for span in ("0s", "1.5m", "ten")),
    looked_at("logs followed perhaps", f"{MACHINE}/logs?follow=perhaps", "follow"),
    looked_at("logs from nowhere", f"{MACHINE}/logs?cursor=!!!!", "cursor"),
    looked_at("too many logs of an operation", "/operations/<operation>/logs?limit=201", "limit"),
    bad("a terminal recorded perhaps", f"{MACHINE}/terminal-token", {"record": "yes"}, "record"),
    bad("a terminal of an empty name", f"{MACHINE}/terminal-token", {"session_id": ""}, "session_id"),
    missing("a terminal that there is not", f"{MACHINE}/terminal-token", "terminal", {"session_id": "term_x"}),
]
STORED = [
    bad("a volume of no size", VOLUMES, {"name": "v", "size_gib": 0}, "size_gib"),
    bad("a volume beyond all", VOLUMES, {"name": "v", "size_gib": 2**20 + 1}, "size_gib"),
    bad("a volume on tape", VOLUMES, {"name": "v", "size_gib": 1, "backend": "tape"}, "backend"),
    bad("a volume in capitals", VOLUMES, {"name": "Data", "size_gib": 1}, "name"),
    bad("a volume called like a path", VOLUMES, {"name": "../etc", "size_gib": 1}, "name"),
    missing(
        "a volume beside no machine",
        VOLUMES,
        "allocation",
        {"name": "v", "size_gib": 1, "backend": "local", "allocation_id": "alloc_x"},
    ),
    missing("a volume of no snapshot", VOLUMES, "snapshot", {"name": "v", "size_gib": 1, "snapshot_id": "snap_x"}),
    conflict("two volumes of a name", VOLUMES, {"name": "ada-data", "size_gib": 1}),
    conflict(
        "many writers unproven",
        VOLUMES,
        {"name": "v", "size_gib": 1, "write_policy": "multi_writer"},
        "multi_writer_unavailable",
    ),
    bad("a volume renamed to nothing", f"{VOLUMES}/<volume>", {"name": ""}, "name", method="PATCH"),
    bad("a volume protected perhaps", f"{VOLUMES}/<volume>", {"protected": "yes"}, "protected", method="PATCH"),
    conflict("a volume deleted while attached", f"{VOLUMES}/<volume>", None, method="DELETE"),
    looked_at("volumes of no status", f"{VOLUMES}?status=dancing", "status"),
    bad("a snapshot called like a path", "/volumes/<volume>/snapshots", {"name": "a/b"}, "name"),
    missing("a snapshot of nothing", "/volumes/vol_x/snapshots", "volume", {"name": "s"}),
    *(
        mounted_at(path)
        for path in (
            *("data", "/etc", "/etc/passwd", "/home", "/proc/self", "/data/", "/data//x", "/data/../etc", "/data/./x"),
            *("/data/.ssh", "/data/a b", "/data/a\tb", "/data/é", "/data/$(id)", "/data/\u202ex", "/opt/gpuaas", "//"),
            *("/data" + "/x" * 8, "/home/nobody/x", "/srv", "/mnt", "~/data"),
        )
    ),
    mounted_at("/", "validation_error"),
    mounted_at("/data/" + "x" * 250, "validation_error"),
    mounted_at("/data"),  # where it is already
    mounted_at("/data/below"),
    missing("nothing attached", ATTACHMENTS, "volume", {"volume_id": "vol_x", "mount_path": "/mnt/x"}),
    conflict(
        "a second writer",
        "/allocations/<spare>/storage-attachments",
        {"volume_id": "<volume>", "mount_path": "/data"},
        "volume_in_use",
    ),
    bad(
        "attached to be appended to",
        ATTACHMENTS,
        {"volume_id": "<volume>", "mount_path": "/mnt/x", "access_mode": "append"},
        "access_mode",
    ),
    bad(
        "detached by force perhaps", f"{ATTACHMENTS}/<storage_attachment>?force=perhaps", None, "force", method="DELETE"
    ),
    missing("tried on tape", "/admin/storage-backends/tape/conformance", "storage_backend", {"node_id": "<node>"}),
    missing("tried nowhere", "/admin/storage-backends/shared/conformance", "node", {"node_id": "node_x"}),
]
RUNTIMES = [
    applied("nothing", "runtime_bundle_slug"),
    applied("what nobody offers", "runtime_bundle_slug", runtime_bundle_slug="no-such-bundle"),
    applied("an id that there is not", "runtime_bundle_id", runtime_bundle_id="rtb_x"),
    applied("two at once", "runtime_bundle_slug", runtime_bundle_slug="offered", runtime_bundle_id="<bundle>"),
    applied("a version of an id", "version", runtime_bundle_id="<bundle>", version="1"),
    applied("a version that there is not", "version", runtime_bundle_slug="offered", version="99"),
    applied("a version called current", "version", runtime_bundle_slug="offered", version="current"),
    applied("a path for a version", "version", runtime_bundle_slug="offered", version="1/../../etc"),
    applied("an upgrade by name", "runtime_bundle_slug", action="upgrade", runtime_bundle_slug="offered"),
    applied("a dance", "action", action="dance"),
    conflict("an upgrade of nothing", RUNTIME, {"action": "upgrade"}),
    conflict("a roll back to nothing", RUNTIME, {"action": "roll_back"}),
    conflict("a repair of nothing", RUNTIME, {"action": "repair"}),
    bad("cleared at length", f"{RUNTIME}?reason={LONG}", None, "reason", method="DELETE"),
    looked_at("bundles for a huge machine", f"/runtime-bundles?allocation_id={'a' * 65}", "allocation_id"),
    published("in capitals", "slug", slug="PyTorch"),
    published("a path", "slug", slug="../x"),
    published("called current", "version", version="current"),
    published("with a line break", "version", version="1\n"),
    published("without packages", "requirements", recipe=recipe(requirements=[])),
    published("for a Python of old", "python", recipe=recipe(python="2.7")),
    published(
        "with an option for a package",
        "name",
        recipe=recipe(requirements=[{"name": "--index-url=x", "version": "1", "sha256": ["0" * 64]}]),
    ),
    published(
        "without a checksum",
        "sha256",
        recipe=recipe(requirements=[{"name": "x", "version": "1", "sha256": []}]),
    ),
    published("unchecked", "check", recipe=recipe(check=[])),
    published("of a family that is not", "runtime_family", runtime_family="abacus"),
    published("with a driver in words", "driver_min", driver_min="newest"),
    conflict("published twice", BUNDLES, publication("offered")),
    missing("staged on no node", f"{BUNDLES}/<bundle>/stage", "node", {"node_ids": ["node_x"]}),
    bad("staged on too many", f"{BUNDLES}/<bundle>/stage", {"node_ids": ["n"] * 1001}, "node_ids"),
    missing("staged that there is not", f"{BUNDLES}/rtb_x/stage", "runtime_bundle", {}),
    *(
        bad(f"a bundle {verb} at length", f"{BUNDLES}/<bundle>/{verb}", {"reason": LONG}, "reason")
        for verb in ("deprecate", "republish", "retire")
    ),
]
OVERCOMMIT = "/admin/nodes/<node>/disk-overcommit"
UNKNOWN = "/admin/nodes/<node>/unknown-environments/<unknown_environment>"
UNKNOWN_VOLUME = "/admin/nodes/<node>/unknown-volumes/<unknown_volume>"
PLATFORM = [
    bad(f"{verb} at length", f"/admin/nodes/<node>/{verb}", {"reason": LONG}, "reason")
    for verb in ("undrain", "quarantine", "unquarantine", "retire", "lost")
] + [
    *(
        bad(f"a slot {verb} at length", f"/admin/nodes/<node>/slots/0/{verb}", {"reason": LONG}, "reason")
        for verb in ("disable", "enable")
    ),
    *(
        bad(f"a worker {verb} at length", f"/admin/workers/allocations/{verb}", {"reason": LONG}, "reason")
        for verb in ("disable", "enable")
    ),
    bad("a task key rotated at length", "/admin/task-keys", {"reason": LONG}, "reason"),
    bad("a task key retired without a reason", "/admin/task-keys/1/retire", {"reason": ""}, "reason"),
    bad("adopted at length", f"{UNKNOWN}/adopt", {"reason": LONG}, "reason"),
    bad("removed without its id", f"{UNKNOWN}/remove", {"reason": "r", "confirm": "yes"}, "confirm"),
    bad("a volume adopted at length", f"{UNKNOWN_VOLUME}/adopt", {"reason": LONG}, "reason"),
    bad("a volume removed without its id", f"{UNKNOWN_VOLUME}/remove", {"reason": "r", "confirm": "yes"}, "confirm"),
    bad("forced at length", "/admin/allocations/<allocation>/force-release", {"reason": LONG}, "reason"),
]
QUOTAS = [
    *(
        bad(f"no quotas at {path}", f"/admin/{path}", {"limits": {}}, "limits", method="PUT")
        for path in ("quotas", "tenants/<tenant>/quotas", "projects/<project>/quotas", "users/<owner>/quotas")
    ),
    bad("a quota below nothing", "/admin/tenants/<tenant>/quotas", {"limits": {"gpus": -1}}, "limits", method="PUT"),
    bad("less disk than there is", OVERCOMMIT, {"overcommit": 0.5}, "overcommit", method="PUT"),
    bad("eleven times the disk", OVERCOMMIT, {"overcommit": 11}, "overcommit", method="PUT"),
    bad("a quota of nothing we know", "/admin/quotas", {"limits": {"moons": 1}}, "body", method="PUT"),
    bad(
        "projects of a project", "/admin/projects/<project>/quotas", {"limits": {"projects": 1}}, "limits", method="PUT"
    ),
    bad("GPUs of a person", "/admin/users/<owner>/quotas", {"limits": {"gpus": 1}}, "limits", method="PUT"),
    missing("quotas of no tenant", "/admin/tenants/ten_x/quotas", "tenant", {"limits": {"gpus": 1}}, method="PUT"),
]
SUSPENSIONS = [
    *(
        bad(f"{verb} at length: {path}", f"/admin/{path}/{verb}", {"reason": LONG}, "reason")
        for path in ("tenants/<tenant>", "projects/<project>", "users/<owner>")
        for verb in ("suspend", "unsuspend")
    ),
    bad("suspended for nothing", "/admin/tenants/<tenant>/suspend", {"reason": ""}, "reason"),
    missing("no tenant suspended", "/admin/tenants/ten_x/suspend", "tenant", {"reason": "r"}),
]
LIVING = [*ACCESS, *PEOPLE, *LIVES, *STORED, *RUNTIMES, *PLATFORM, *QUOTAS, *SUSPENSIONS]
