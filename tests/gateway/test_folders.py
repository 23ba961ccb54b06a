"""What a gateway reads and writes in folders that others fill."""

from pathlib import Path

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.descriptors import Descriptors
from gpuaas.engines.leases import Leases
from gpuaas.engines.logins import Logins
from gpuaas.gateway import kernel
from gpuaas.gateway.limits import Limits
from gpuaas.gateway.node import Node
from gpuaas.gateway.records import Records
from gpuaas.wire.gateway import ACCESS_FILE


def node(root: Path) -> Node:
    clock = SystemClock()
    return Node(
        root=root,
        clock=clock,
        leases=Leases(clock.monotonic),
        records=Records(root / "connections"),
        logins=Logins(),
        descriptors=Descriptors(),
        limits=Limits(),
    )


def test_environments_and_spares_are_served_and_nothing_beside_them_is_looked_into(tmp_path: Path) -> None:
    """The mount of lxcfs lies beside them and may hang."""
    for folder in ("environments/a", "spares/spare-1", "lxcfs/mount", "gateway/b"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / ACCESS_FILE).touch()
    assert node(tmp_path).environment_ids() == ["a", "spare-1"]
    assert node(tmp_path).environment_folder("spare-1") == tmp_path / "spares" / "spare-1"


def test_a_group_that_root_inside_named_like_a_file_of_the_kernel_keeps_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "cgroup.procs").touch()
    kernel.join_cgroups([str(tmp_path)])
    assert (tmp_path / "cgroup.procs").read_text() == "0"


def test_a_process_moves_itself_as_a_thread_where_that_is_possible(tmp_path: Path) -> None:
    for name in ("tasks", "cgroup.procs"):
        (tmp_path / name).touch()
    kernel.join_cgroups([str(tmp_path)])
    assert ((tmp_path / "tasks").read_text(), (tmp_path / "cgroup.procs").read_text()) == ("0", "")


def test_a_group_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        kernel.join_cgroups([str(tmp_path / "gone")])
