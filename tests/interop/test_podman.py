"""Podman inside an environment with init systemd: an image from a local root file system, built and run."""

import re

import pytest

from tests.interop import table
from tests.interop.people import BOOTED, Person

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("clients")]

INSTALL_SECONDS = 900
PACKAGES = "podman busybox-static buildah crun netavark"
CONTEXT = """mkdir -p image && cd image && cp /bin/busybox . && cat > Containerfile <<'END'
FROM scratch
COPY busybox /bin/sh
RUN ["/bin/sh", "-c", "echo built > /built"]
CMD ["/bin/sh", "-c", "cat /built"]
END
"""
# Layers cannot lie on the environment's own overlay; /proc/sys is read-only inside; a node with cgroup v1 has no
# controllers for groups that are made inside.
SETTINGS = """sudo mkdir -p /etc/containers && sudo tee /etc/containers/storage.conf <<'END'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
sudo tee /etc/containers/containers.conf <<'END'
[containers]
cgroups = "disabled"
default_sysctls = []
netns = "host"
pids_limit = 0
END
"""
RESULT = (
    "works with storage driver `vfs`, `default_sysctls = []` and the environment's network (`netns = host`), "
    "on cgroup v1 with `cgroups = disabled`; networks of its own do not work, because `/proc/sys` is read-only inside"
)


def test_podman(systemd: Person) -> None:
    systemd.inside(BOOTED)
    install = f"sudo apt-get -qq update && sudo apt-get -qq install --yes --no-install-recommends {PACKAGES}"
    systemd.inside(f"{install} > apt.log 2>&1 || {{ tail apt.log; exit 1; }}", seconds=INSTALL_SECONDS)
    systemd.inside(SETTINGS)
    systemd.inside(CONTEXT)
    systemd.inside("sudo podman build --tag tiny image", seconds=INSTALL_SECONDS)
    assert systemd.inside("sudo podman run --rm tiny") == "built"
    found = re.search(r"[\d.]+", systemd.inside("podman --version"))
    assert found is not None
    table.record("Podman inside (init `systemd`)", found[0], "installed with `apt-get`; build and run as root", RESULT)
