"""`gpuaas quotas` and `gpuaas admin quotas`: what is left, and what operators set."""

import json

import pytest

from gpuaas.wire.quotas import Dimension, Quota, QuotaLimit, QuotaLine, QuotaScope
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page

TENANT, PROJECT, PERSON = samples.id_of("ten", 1), samples.id_of("proj", 1), samples.id_of("user", 1)
DEFAULT = QuotaLimit(
    scope=QuotaScope.PLATFORM,
    scope_id="",
    dimension=Dimension.GPUS,
    amount=4,
    set_by="platform",
    set_at=samples.NOON,
    reason="safe default",
)
PLACES = {"--tenant": ("tenants", TENANT), "--project": ("projects", PROJECT), "--user": ("users", PERSON)}


def quota(scope: QuotaScope, id: str, *lines: QuotaLine) -> Quota:
    return Quota(scope=scope, scope_id=id, lines=list(lines))


def line(dimension: Dimension, limit: int | None, used: int | None = 1) -> QuotaLine:
    left = None if limit is None or used is None else limit - used
    by = None if limit is None else QuotaScope.TENANT
    return QuotaLine(dimension=dimension, limit=limit, used=used, remaining=left, limited_by=by)


def test_quotas_show_the_projects_and_ones_own(terminal: Terminal, api: FakeApi) -> None:
    of_project = quota(QuotaScope.PROJECT, samples.PROJECT, line(Dimension.GPUS, 8), line(Dimension.STORAGE_GIB, None))
    own = quota(QuotaScope.USER, PERSON, line(Dimension.STREAMS, 20, None))
    api.on("GET", "/me", Answer(samples.me()))
    api.on("GET", f"/projects/{samples.PROJECT}/quota", Answer(of_project))
    api.on("GET", "/me/quota", Answer(own))
    shown = [row.split() for row in terminal.run("quotas").out.splitlines()[1:]]
    assert shown[0] == ["GPUs", "8", "1", "7", "tenant"]
    assert shown[1][:4] == ["storage", "(GiB)", "none", "1"]
    assert shown[2][:2] == ["streams", "20"]
    assert [one["scope"] for one in json.loads(terminal.run("quotas", "-o", "json").out)] == ["project", "user"]


@pytest.mark.parametrize("option", PLACES)
def test_limits_of_one_scope_are_shown_set_and_cleared(terminal: Terminal, api: FakeApi, option: str) -> None:
    collection, id = PLACES[option]
    path = f"/admin/{collection}/{id}/quotas"
    answer = Answer(quota(QuotaScope.TENANT, id, line(Dimension.GPUS, 64)))
    api.on("GET", path, answer)
    api.on("PUT", path, answer)
    api.on("DELETE", path, Answer(None, 204))
    assert "64" in terminal.run("admin", "quotas", "list", option, id).out
    ran = terminal.run("admin", "quotas", "set", "gpus=64", "storage-gib=none", option, id, "--reason", "contract 7")
    assert (ran.code, "64" in ran.out) == (0, True)
    (asked,) = api.asked("PUT", path)
    assert asked.body == {"limits": {"gpus": 64, "storage_gib": None}, "reason": "contract 7"}
    assert asked.key
    cleared = terminal.run("admin", "quotas", "clear", option, id, "--only", "gpus")
    assert (cleared.code, cleared.out) == (0, "")
    assert len(api.asked("DELETE", path)) == 1


def test_without_a_scope_the_defaults_are_meant_and_never_cleared(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/quotas", page(DEFAULT))
    api.on("PUT", "/admin/quotas", page(DEFAULT))
    assert "safe default" in terminal.run("admin", "quotas", "list").out
    assert terminal.run("admin", "quotas", "set", "gpus=4").code == 0
    (asked,) = api.asked("PUT", "/admin/quotas")
    assert asked.body["limits"] == {"gpus": 4}
    api.seen.clear()
    ran = terminal.run("admin", "quotas", "clear")
    assert (ran.code != 0, api.seen) == (True, [])
    assert "--tenant, --project or --user" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["gpus"],
        ["gpus="],
        ["gpus=-1"],
        ["gpus=4.5"],
        ["gpus=\u00b2"],  # a digit to Unicode, and no number
        ["gpus=" + "9" * 5000],
        ["hamsters=3"],
        ["gpus=4", "gpus=8"],
        ["ssh_keys=1", "ssh-keys=2"],
        ["gpus=1", "--tenant", TENANT, "--user", PERSON],
    ],
)
def test_what_is_not_one_limit_each_is_refused_before_anything_is_asked(
    terminal: Terminal, api: FakeApi, words: list[str]
) -> None:
    ran = terminal.run("admin", "quotas", "set", *words)
    assert (ran.code != 0, ran.out, api.seen) == (True, "", [])
    assert "Traceback" not in ran.err
