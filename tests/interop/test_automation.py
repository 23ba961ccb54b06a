"""Automation tools and libraries of Python, each in its released version."""

import json
import re
import textwrap
from pathlib import Path

import asyncssh
import pytest

from tests.interop import table
from tests.interop.people import CLIENTS, Person

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("clients")]

PLAYBOOK = """
- hosts: all
  gather_facts: true
  tasks:
    - copy: {content: "by ansible\\n", dest: /etc/by-ansible, mode: "0644"}
      become: true
    - user: {name: service, system: true}
      become: true
    - command: cat /etc/by-ansible
      register: found
      changed_when: false
    - fetch: {src: /etc/by-ansible, dest: fetched, flat: true}
    - assert: {that: ["found.stdout == 'by ansible'", "ansible_facts.distribution == 'Debian'"]}
"""
PARAMIKO = """
import base64, json, paramiko, sys
name, config = sys.argv[1:]
found = paramiko.SSHConfig.from_path(config).lookup(name)
client = paramiko.SSHClient()
key = paramiko.Ed25519Key.from_private_key_file(found["identityfile"][0])
for line in open(found["userknownhostsfile"]):
    host, type, blob = line.split()[:3]
    known = paramiko.Ed25519Key(data=base64.b64decode(blob))
    client.get_host_keys().add(f"[{found['hostname']}]:{found['port']}", type, known)
client.connect(found["hostname"], int(found["port"]), "ada", pkey=key, allow_agent=False, look_for_keys=False)
_, out, error = client.exec_command("echo out; echo error >&2; exit 3")
said = [out.read().decode(), error.read().decode(), out.channel.recv_exit_status()]
shell = client.invoke_shell(term="dumb")
shell.sendall(b"echo $((40 + 2)) seen; exit\\n")
shown = b""
while data := shell.recv(4096):
    shown += data
files = client.open_sftp()
with files.open("by-paramiko", "w") as file:
    file.write("x" * 1_000_000)
size = files.stat("by-paramiko").st_size
transport = client.get_transport()
transport.request_port_forward("127.0.0.1", 4030)
client.exec_command("echo hello > /dev/tcp/127.0.0.1/4030")
channel = transport.accept(60)
heard = channel.recv(100).decode()
transport.cancel_port_forward("127.0.0.1", 4030)
client.close()
print(json.dumps([paramiko.__version__, said, "42 seen" in shown.decode(), size, heard]))
"""
FABRIC = """
import json, sys
import fabric
from fabric import Config, Connection
from paramiko.config import SSHConfig
name, config, here = sys.argv[1:]
settings = Config(runtime_ssh_path=config)
key = {"allow_agent": False, "look_for_keys": False}
with Connection(name, config=settings, connect_kwargs=key) as there:
    said = there.run("uname -s", hide=True).stdout
    root = there.sudo("id -u", hide=True).stdout
    failed = there.run("exit 5", warn=True, hide=True).exited
    there.put(here, "by-fabric")
    there.get("by-fabric", here + ".back")
print(json.dumps([fabric.__version__, said, root, failed, open(here + ".back").read()]))
"""


def test_ansible(plain: Person, tmp_path: Path) -> None:
    (tmp_path / "playbook.yml").write_text(PLAYBOOK)
    (tmp_path / "inventory").write_text(f"{plain.name} ansible_ssh_common_args='-F {plain.config}'\n")
    variables = {"ANSIBLE_HOME": str(tmp_path), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "false"}
    words = [str(CLIENTS / "ansible-playbook"), "-i", str(tmp_path / "inventory"), str(tmp_path / "playbook.yml")]
    for changed in ("changed=3", "changed=0"):
        out = plain.says(*words, seconds=600, **variables)
        assert changed in out.rpartition("PLAY RECAP")[2], out
    found = re.search(r"core ([\d.]+)", plain.says(str(CLIENTS / "ansible"), "--version"))
    assert found is not None
    what = "playbook with facts, `become`, copy, user, fetch; unchanged the second time"
    table.record("Ansible (core)", found[1], what)


def test_paramiko(plain: Person, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(PARAMIKO))
    words = (str(CLIENTS / "python"), str(tmp_path / "script.py"), plain.name, str(plain.config))
    version, said, shown, size, heard = json.loads(plain.says(*words))
    assert said == ["out\n", "error\n", 3]
    assert (shown, size, heard) == (True, 1_000_000, "hello\n")
    table.record("paramiko", version, "exec, shell, SFTP, remote forward")


def test_fabric(plain: Person, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(FABRIC))
    (tmp_path / "file").write_text("by fabric")
    words = [str(CLIENTS / "python"), str(tmp_path / "script.py"), plain.name, str(plain.config)]
    version, said, root, failed, back = json.loads(plain.says(*words, str(tmp_path / "file")))
    assert (said, root, failed, back) == ("Linux\n", "0\n", 5, "by fabric")
    table.record("Fabric", version, "run, sudo, put, get")


async def test_asyncssh(plain: Person) -> None:
    known = str(plain.folder / "known_hosts")
    async with asyncssh.connect(plain.name, config=[str(plain.config)], known_hosts=known, agent_path=None) as there:
        done = await there.run("echo out; exit 4")
        assert (done.exit_status, done.stdout) == (4, "out\n")
        async with there.start_sftp_client() as files, files.open("by-asyncssh", "w") as file:
            await file.write("text")
        async with there.create_process("cat", term_type="dumb") as process:
            process.stdin.write("typed\n")
            assert "typed" in await process.stdout.readline()
        listener = await there.forward_local_port("127.0.0.1", 0, "127.0.0.1", 4032)
        listener.close()
    assert plain.inside("cat by-asyncssh") == "text"
    table.record("AsyncSSH", asyncssh.__version__, "exec, SFTP, terminal")
