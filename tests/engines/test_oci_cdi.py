"""GPUs through the Container Device Interface: specs as NVIDIA and AMD write them, bad ones, and merges."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuaas.engines.oci import cdi, cdi_specs, facts
from gpuaas.engines.oci.cdi import Selected
from gpuaas.engines.oci.cdi_specs import CdiError, ContainerEdits, Device, DeviceNode, Hook, Mount, Spec, SpecFile, load
from gpuaas.wire.environments import SlotDevice
from tests.residue import RUN

UUID = "GPU-955ef018-3bd9-5f27-80b3-fa20ee8d19c5"
NVIDIA = f"""
---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      major: 195
      minor: 0
- name: {UUID}
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      major: 195
      minor: 0
    hooks:
    - hookName: createContainer
      path: /usr/bin/env
      args: [nvidia-cdi-hook, create-symlinks, --link, ../card0::/dev/dri/by-path/pci-0000:01:00.0-card]
- name: all
  containerEdits:
    deviceNodes:
    - {{path: /dev/nvidia0, major: 195, minor: 0}}
    - {{path: /dev/nvidia1, major: 195, minor: 1}}
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  deviceNodes:
  - {{path: /dev/nvidiactl, major: 195, minor: 255}}
  - {{path: /dev/nvidia-uvm, major: 508, minor: 0, permissions: rw}}
  hooks:
  - hookName: createContainer
    path: /usr/bin/env
    args: [nvidia-cdi-hook, update-ldcache, --folder, /usr/lib/x86_64-linux-gnu]
    env: [NVIDIA_CTK_DEBUG=false]
  mounts:
  - hostPath: /usr/bin/env
    containerPath: /usr/bin/nvidia-smi
    options: [ro, nosuid, nodev, rbind, rprivate]
  - hostPath: /run/nvidia-persistenced/socket
    containerPath: /run/nvidia-persistenced/socket
    options: [nosuid, nodev, rbind, rprivate, noexec]
"""
AMD = {
    "cdiVersion": "0.6.0",
    "kind": "amd.com/gpu",
    "devices": [
        {
            "name": str(index),
            "containerEdits": {
                "deviceNodes": [
                    {"path": f"/dev/dri/card{index}", "major": 226, "minor": index},
                    {"path": f"/dev/dri/renderD{128 + index}", "major": 226, "minor": 128 + index},
                ]
            },
        }
        for index in range(2)
    ],
    "containerEdits": {
        "deviceNodes": [{"path": "/dev/kfd", "major": 234, "minor": 0}],
        "additionalGids": [44, 109],
    },
}
BASE: dict[str, Any] = {
    "process": {"env": ["PATH=/usr/bin"], "user": {"uid": 0, "additionalGids": [44]}},
    "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/etc/gpuaas"}],
    "linux": {"resources": {"devices": [{"allow": False, "access": "rwm"}]}},
}
NO_EDITS = ContainerEdits()


def slot(uuid: str = UUID, pci: str = "0000:01:00.0", index: int = 0) -> SlotDevice:
    return SlotDevice(index=index, gpu_uuid=uuid, gpu_pci=pci)


def write(folder: Path, name: str, spec: str | dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(spec if isinstance(spec, str) else json.dumps(spec))
    path.chmod(0o644)
    return path


def selected(edits: ContainerEdits, common: ContainerEdits = NO_EDITS) -> Selected:
    device = Device(name="0", container_edits=edits)
    spec = Spec(cdi_version="0.5.0", kind="nvidia.com/gpu", devices=(device,), container_edits=common)
    return Selected(file=SpecFile(path=Path("/x.json"), precedence=0, spec=spec), device=device)


def test_an_nvidia_gpu_is_found_by_its_uuid_and_merged_with_what_its_spec_shares(tmp_path: Path) -> None:
    write(tmp_path, "nvidia.yaml", NVIDIA)
    config = cdi.apply(BASE, cdi.select(cdi_specs.discover([tmp_path]), [slot()]))
    assert [device["path"] for device in config["linux"]["devices"]] == [
        *("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"),
    ]
    assert config["linux"]["resources"]["devices"] == [
        {"allow": False, "access": "rwm"},
        {"allow": True, "type": "c", "major": 195, "minor": 255, "access": "rw"},
        {"allow": True, "type": "c", "major": 508, "minor": 0, "access": "rw"},
        {"allow": True, "type": "c", "major": 195, "minor": 0, "access": "rw"},
    ]
    assert config["process"]["env"] == ["PATH=/usr/bin", "NVIDIA_VISIBLE_DEVICES=void"]
    assert [hook["args"][1] for hook in config["hooks"]["createContainer"]] == ["update-ldcache", "create-symlinks"]
    socket = config["mounts"][-1]
    assert socket["destination"] == "/run/nvidia-persistenced/socket"
    assert set(socket["options"]) == {"ro", "nosuid", "nodev", "noexec", "rbind", "rprivate"}
    assert len(BASE["mounts"]) == 2, "the base was changed"


def test_an_amd_gpu_named_by_an_index_is_found_by_its_pci_address(tmp_path: Path) -> None:
    write(tmp_path, "amd.json", AMD)
    specs = cdi_specs.discover([tmp_path])
    addresses = {0: "0000:03:00.0", 128: "0000:03:00.0", 1: "0000:43:00.0", 129: "0000:43:00.0"}
    # The index of the slot is 0, the spec calls the GPU at that address 1: the address decides.
    wanted = slot("0xabcdef", "00000000:43:00.0")
    (found,) = cdi.select(specs, [wanted], lambda node: addresses.get(node.minor or 0))
    assert found.device.name == "1"
    config = cdi.apply(BASE, [found])
    assert config["process"]["user"]["additionalGids"] == [44, 109]
    assert [device["path"] for device in config["linux"]["devices"]] == [
        *("/dev/kfd", "/dev/dri/card1", "/dev/dri/renderD129"),
    ]


def test_an_index_alone_is_no_identity(tmp_path: Path) -> None:
    write(tmp_path, "amd.json", AMD)
    with pytest.raises(CdiError, match="no CDI spec has the GPU 0xabcdef"):
        cdi.select(cdi_specs.discover([tmp_path]), [slot("0xabcdef", index=1)], lambda _: None)


def test_a_device_that_is_all_gpus_is_never_the_one_of_a_slot(tmp_path: Path) -> None:
    write(tmp_path, "nvidia.yaml", NVIDIA.replace(UUID, "GPU-other"))
    addresses = {0: "0000:01:00.0", 1: "0000:02:00.0"}
    with pytest.raises(CdiError, match="no CDI spec"):
        cdi.select(cdi_specs.discover([tmp_path]), [slot(pci="0000:02:00.0")], lambda node: addresses[node.minor or 0])


def test_two_specs_of_one_folder_with_the_same_gpu_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", NVIDIA)
    write(tmp_path, "b.yaml", NVIDIA)
    with pytest.raises(CdiError, match=r"more than one CDI spec: \S+/a.yaml, \S+/b.yaml"):
        cdi.select(cdi_specs.discover([tmp_path]), [slot()])


def test_a_spec_of_the_running_system_has_precedence_over_one_that_was_configured(tmp_path: Path) -> None:
    write(tmp_path / "etc", "nvidia.yaml", NVIDIA)
    newer = write(tmp_path / "run", "nvidia.yaml", NVIDIA)
    (found,) = cdi.select(cdi_specs.discover([tmp_path / "etc", tmp_path / "run"]), [slot()])
    assert found.file.path == newer


def test_a_spec_that_cannot_be_read_is_named_when_its_gpu_is_missing(tmp_path: Path) -> None:
    write(tmp_path, "broken.yaml", "a: [")
    write(tmp_path, "unknown.json", AMD | {"surprise": True})
    with pytest.raises(CdiError, match=r"broken.yaml cannot be read.*unknown.json cannot be read: .*`surprise`"):
        cdi.select(cdi_specs.discover([tmp_path]), [slot()])


def test_management_specs_are_not_for_environments(tmp_path: Path) -> None:
    write(tmp_path, "m.yaml", NVIDIA.replace("kind: nvidia.com/gpu", "kind: management.nvidia.com/gpu"))
    with pytest.raises(CdiError, match="no CDI spec"):
        cdi.select(cdi_specs.discover([tmp_path]), [slot()])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("cdiVersion: 0.5.0", "cdiVersion: 9.0.0", "version '9.0.0'"),
        ("kind: nvidia.com/gpu", "kind: gpu", "kind 'gpu'"),
        ("hostPath: /usr/bin/env", "hostPath: /etc/shadow", "unsafe to mount"),
        ("hostPath: /usr/bin/env", "hostPath: /usr/bin/../../etc/shadow", "unsafe to mount"),
        ("hostPath: /usr/bin/env", "hostPath: /usr", "unsafe to mount"),
        ("hostPath: /usr/bin/env", "hostPath: usr/bin/env", "unsafe to mount"),
        ("containerPath: /usr/bin/nvidia-smi", "containerPath: /", "mount destination '/'"),
        ("containerPath: /usr/bin/nvidia-smi", "containerPath: /usr//bin", "mount destination"),
        ("rbind, rprivate]", "rbind, rshared]", "mount options"),
        ("rbind, rprivate]", "rbind, suid]", "mount options"),
        ("path: /dev/nvidiactl", "path: /dev/../etc/passwd", "below /dev"),
        ("path: /dev/nvidiactl", "hostPath: /etc/passwd, path: /dev/nvidiactl", "below /dev"),
        ("path: /dev/nvidiactl", "type: b, path: /dev/nvidiactl", "only character devices"),
        ("permissions: rw", "permissions: rwx", "device permissions"),
        ("NVIDIA_VISIBLE_DEVICES=void", "=void", "environment variable"),
        ("path: /usr/bin/env\n    args", "path: /tmp/x\n    args", "unsafe to run"),
        ("hookName: createContainer", "hookName: later", "hook 'later'"),
        ("name: all", "name: '0'", "two devices with the same name"),
        ("name: all", "name: ../all", "device name"),
    ],
)
def test_unsafe_specs_are_refused(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert old in NVIDIA
    with pytest.raises(CdiError, match=reason):
        load(write(tmp_path, "nvidia.yaml", NVIDIA.replace(old, new)))


def test_a_spec_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "nvidia.yaml", NVIDIA)
    path.chmod(0o666)
    with pytest.raises(CdiError, match="writable by users other than root"):
        load(path)


@pytest.mark.skipif(not Path("/usr/lib/ssl/openssl.cnf").is_symlink(), reason="Debian has this link, to /etc")
def test_a_host_path_that_leads_out_of_the_driver_s_folders_is_refused() -> None:
    mount = Mount(host_path="/usr/lib/ssl/openssl.cnf", container_path="/usr/lib/libcuda.so.1")
    with pytest.raises(CdiError, match="leads to /etc/ssl"):
        cdi.apply(BASE, [selected(ContainerEdits(mounts=(mount,)))])


@pytest.mark.parametrize("place", ["/etc/gpuaas", "/etc", "/proc/driver", "/sys/module"])
def test_a_mount_that_would_hide_another_or_the_kernel_s_files_is_refused(place: str) -> None:
    mount = Mount(host_path="/usr/bin/env", container_path=place)
    with pytest.raises(CdiError, match=r"would hide|kernel's own"):
        cdi.apply(BASE, [selected(ContainerEdits(mounts=(mount,)))])


def test_a_variable_of_the_platform_is_not_replaced() -> None:
    config = cdi.apply(BASE, [selected(ContainerEdits(env=("PATH=/tmp", "A=1")))])
    assert config["process"]["env"] == ["PATH=/usr/bin", "A=1"]


def test_a_node_without_a_number_gets_that_of_the_host() -> None:
    config = cdi.apply({}, [selected(ContainerEdits(device_nodes=(DeviceNode(path="/dev/zero"),)))])
    assert config["linux"]["devices"] == [{"path": "/dev/zero", "type": "c", "major": 1, "minor": 5}]
    for path, reason in (("/dev/none-of-this", "not on this node"), ("/dev/pts", "not a character device")):
        with pytest.raises(CdiError, match=reason):
            cdi.apply({}, [selected(ContainerEdits(device_nodes=(DeviceNode(path=path),)))])


def test_the_memory_of_the_node_is_no_device_for_anybody() -> None:
    node = DeviceNode(path="/dev/nvidia0", major=1, minor=1)
    with pytest.raises(CdiError, match="memory of the node"):
        cdi.apply({}, [selected(ContainerEdits(device_nodes=(node,)))])


def test_simulated_gpus_have_a_spec_in_the_engine_s_own_folder(tmp_path: Path) -> None:
    gpus = facts.gpus(2, "test")
    path = cdi.write_simulated(tmp_path / "cdi", gpus)
    specs = cdi_specs.discover([path.parent])
    slots = [slot(gpu.gpu_uuid, gpu.gpu_pci, gpu.index) for gpu in gpus]
    config = cdi.apply(BASE, cdi.select(specs, slots))
    assert config["process"]["env"][1:] == [
        "GPUAAS_SIMULATED_GPUS=true",
        *(f"GPUAAS_SIMULATED_GPU_{gpu.index}={gpu.gpu_uuid}" for gpu in gpus),
    ]
    assert [mount["destination"] for mount in config["mounts"][2:]] == [f"/dev/gpuaas-simulated{n}" for n in range(2)]
    with pytest.raises(CdiError, match="do not belong in /etc/cdi"):
        cdi.write_simulated(Path("/etc/cdi"), gpus)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("runc"), reason="needs root and runc")
def test_runc_shows_a_simulated_gpu_in_a_user_namespace() -> None:
    folder = Path(os.environ["TMPDIR"]) / "cdi-runc"  # every part of the path must be open to the ids inside
    gpus = facts.gpus(1, "test")
    spec = cdi.write_simulated(folder / "cdi", gpus)
    for name in ("usr", "proc", "dev"):
        (folder / "root" / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (folder / "root" / name).symlink_to(f"usr/{name}")
    mapping = [{"containerID": 0, "hostID": 100_000, "size": 65_536}]
    container_id = f"cdi-{os.environ[RUN]}"
    script = "import os; s = os.stat('/dev/gpuaas-simulated0'); print(os.major(s.st_rdev), os.minor(s.st_rdev)); "
    script += "open('/dev/gpuaas-simulated0', 'w').write('x'); print(os.environ['GPUAAS_SIMULATED_GPU_0'])"
    base: dict[str, Any] = {
        "ociVersion": "1.0.2",
        "root": {"path": "root"},
        "process": {"cwd": "/", "args": ["/usr/bin/python3", "-c", script], "user": {"uid": 0, "gid": 0}},
        "mounts": [
            {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("user", "mount", "pid", "ipc", "uts")],
            "uidMappings": mapping,
            "gidMappings": mapping,
            "cgroupsPath": f"/{container_id}",
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
        },
    }
    chosen = cdi.select(cdi_specs.discover([spec.parent]), [slot(gpus[0].gpu_uuid)])
    (folder / "config.json").write_text(json.dumps(cdi.apply(base, chosen)))
    command = ["runc", "--root", str(folder / "runc"), "run", "--bundle", str(folder), container_id]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
    shutil.rmtree(folder)
    assert (done.returncode, done.stdout.split()) == (0, ["1", "3", gpus[0].gpu_uuid]), done.stderr


names = st.sampled_from(["PATH", "A", "B"])
places = st.sampled_from(["/usr/lib/x/a", "/usr/lib/x", "/opt/a", "/etc/gpuaas", "/dev/a"])
numbers = st.integers(0, 20)
nodes = st.builds(
    DeviceNode,
    path=st.sampled_from(["/dev/a", "/dev/b", "/dev/zero"]),
    host_path=st.sampled_from(["", "/dev/null"]),
    major=st.integers(200, 202),
    minor=numbers,
    permissions=st.sampled_from(["", "r", "rw"]),
)
mounts = st.builds(Mount, host_path=st.just("/usr/bin/env"), container_path=places)
hooks = st.builds(
    Hook,
    hook_name=st.sampled_from(["createContainer", "poststop"]),
    path=st.just("/usr/bin/env"),
    args=st.tuples(names),
)
edits_of_any_kind = st.builds(
    ContainerEdits,
    env=st.lists(st.builds("{}={}".format, names, numbers), max_size=3).map(tuple),
    device_nodes=st.lists(nodes, max_size=3).map(tuple),
    mounts=st.lists(mounts, max_size=2).map(tuple),
    hooks=st.lists(hooks, max_size=2).map(tuple),
    additional_gids=st.lists(numbers, max_size=3).map(tuple),
)
configs = st.fixed_dictionaries(
    {},
    optional={
        "process": st.fixed_dictionaries(
            {"env": st.lists(st.builds("{}={}".format, names, numbers), max_size=2)},
            optional={"user": st.just({"uid": 0, "additionalGids": [5]}), "args": st.just(["sh"])},
        ),
        "mounts": st.lists(st.builds(lambda place: {"destination": place}, places), max_size=2),
        "hooks": st.just({"poststop": [{"path": "/bin/true"}]}),
        "linux": st.fixed_dictionaries(
            {},
            optional={
                "devices": st.just([{"path": "/dev/b", "type": "c", "major": 9, "minor": 9}]),
                "resources": st.just({"devices": [{"allow": False, "access": "rwm"}], "memory": {"limit": 1}}),
                "seccomp": st.just({"defaultAction": "SCMP_ACT_ERRNO"}),
            },
        ),
    },
)


def keeps(before: Any, after: Any) -> bool:
    """Everything of `before` is in `after` at its place; lists may only grow at their end."""
    if isinstance(before, dict):
        return all(key in after and keeps(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return bool(after[: len(before)] == before)
    return bool(before == after)


@given(configs, st.lists(st.builds(selected, edits_of_any_kind, edits_of_any_kind), max_size=3))
def test_a_merge_never_removes_or_doubles_anything(base: dict[str, Any], devices: list[Selected]) -> None:
    untouched = json.loads(json.dumps(base))
    try:
        merged = cdi.apply(base, devices)
    except CdiError:
        merged = base
    assert base == untouched
    assert keeps(base, merged)
    added = [mount["destination"] for mount in merged.get("mounts", [])][len(base.get("mounts", [])) :]
    assert len(added) == len(set(added) - {mount["destination"] for mount in base.get("mounts", [])})


json_trees = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@settings(max_examples=30)
@given(json_trees)
def test_any_other_json_is_refused_with_a_reason(tree: Any) -> None:
    folder = Path(os.environ["TMPDIR"])
    path = write(folder, "fuzz.json", json.dumps(tree))
    try:
        with pytest.raises(CdiError, match="cannot be read"):
            load(path)
        assert cdi_specs.discover([folder]).files == ()
    finally:
        path.unlink()
