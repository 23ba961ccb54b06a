"""Where a volume may be mounted: a table of paths, and what becomes of each."""

import pytest

from gpuaas.domain.storage.paths import MountPathRefused, check

GOOD = ["/data", "/data/sets", "/workspace", "/mnt/x", "/srv/a/b", "/home/gpu/sets", "/volumes/a-b_c.d", "/models/v1"]
BAD = [
    *("", "/", "data", "./data", "/data/", "//data", "/data//x", "/data/../etc", "/data/.", "/data/..", "/.."),
    *("/etc", "/etc/gpuaas", "/usr/local", "/opt/x", "/proc", "/sys/x", "/dev/shm", "/run/x", "/tmp/x", "/var/tmp/x"),  # noqa: S108
    *("/mnt", "/srv", "/home", "/home/gpu", "/home/eve/x", "/root/x", "/bin", "/lib/x", "/database", "/mntx/y"),
    *("/home/gpu/.ssh", "/home/gpu/.bashrc", "/data/.hidden", "/data/a b", "/data/a\nb", "/data/\x00", "/data/é"),
    *("/data/" + "a" * 64, "/data" + "/x" * 8, "/data/-x", "/data/$(id)", "/data/x;y", "/data/*"),
]


@pytest.mark.parametrize("path", GOOD)
def test_a_plain_path_is_taken_as_it_is(path: str) -> None:
    assert check(path, "gpu", []) == path


@pytest.mark.parametrize("path", BAD)
def test_any_other_is_refused_with_the_reason(path: str) -> None:
    with pytest.raises(MountPathRefused) as refusal:
        check(path, "gpu", [])
    assert refusal.value.errors["mount_path"]


@pytest.mark.parametrize("other", ["/data", "/data/sets/deep", "/data/sets"])
def test_volumes_do_not_lie_inside_each_other(other: str) -> None:
    with pytest.raises(MountPathRefused):
        check("/data/sets", "gpu", [other])


def test_neighbours_with_a_common_beginning_are_no_nest() -> None:
    assert check("/data/sets", "gpu", ["/data/set", "/data/sets2"]) == "/data/sets"
