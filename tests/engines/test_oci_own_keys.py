"""The own file is the person's: nothing they make of it leads the agent astray or lets in what sshd would not."""

import asyncssh
import pytest

from tests.engines.benches import Key, OciBench, SshWay, ignore, spec
from tests.engines.test_access import LEASE, NOON
from tests.engines.test_own_keys import open_to_own, seen

FILE = ".ssh/authorized_keys"
REFUSED = {
    "a file that others may write": f"chmod 664 {FILE}",
    "a folder that others may write": "chmod 775 .ssh",
    "a link in its place": f"mv {FILE} kept && ln -s ../kept {FILE}",
    "a link in place of its folder": "mv .ssh kept && ln -s kept .ssh",
    "a pipe that nobody writes to": f"rm {FILE} && mkfifo -m 600 {FILE}",
    "a folder in its place": f"rm {FILE} && mkdir {FILE}",
    "a key with conditions that nobody would keep": f"sed -i 's/^/from=\"10.9.9.9\" /' {FILE}",
    "a key behind a command of its own": f"sed -i 's/^/command=\"true\" /' {FILE}",
    "a key that stands behind more than is read": f"(yes '# filler' | head -c 70000; cat {FILE}) > big; mv big {FILE}",
    "a key cut short": f"truncate -s 40 {FILE}",
}


@pytest.fixture
def guest() -> Key:
    return Key()


async def run(way: SshWay, line: str) -> None:
    done = await way.connection.run(f"cd && rm -rf .ssh kept && {line}")
    assert done.exit_status == 0, done.stderr


async def test_what_sshd_would_not_trust_is_not_admitted(real: OciBench, allocation_id: str, guest: Key) -> None:
    ada = Key("user_ada")
    await real.engine.lease(NOON, LEASE)
    made = await real.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    line = guest.private.export_public_key().decode().strip()
    good = f"umask 077 && mkdir .ssh && echo '{line}' > {FILE}"
    for what, spoil in REFUSED.items():
        await run(way, good)
        assert await real.log_in(made, guest) is not None, what  # but for the one thing, it is good
        await run(way, f"{good} && {spoil}")
        assert await real.log_in(made, guest) is None, what
        assert (await seen(real, allocation_id)).own_keys == (), what
    await real.engine.remove(allocation_id, ignore)


async def test_a_file_outside_the_home_is_never_read(real: OciBench, allocation_id: str, guest: Key) -> None:
    """A link from inside to a file of the machine's that holds the guest's key, and would admit if it were followed."""
    outside = real.root.parent / f"outside-{allocation_id}"
    outside.write_text(guest.private.export_public_key().decode())
    ada = Key("user_ada")
    await real.engine.lease(NOON, LEASE)
    made = await real.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    await run(way, f"umask 077 && mkdir .ssh && ln -s {outside} {FILE}")
    assert await real.log_in(made, guest) is None
    assert (
        real.inside(allocation_id, f"/home/ada/{FILE}").read_text() == outside.read_text()
    )  # planted: whoever follows links does read it
    await real.engine.remove(allocation_id, ignore)


async def test_weak_and_unknown_kinds_of_keys_are_passed_over(real: OciBench, allocation_id: str) -> None:
    ada = Key("user_ada")
    await real.engine.lease(NOON, LEASE)
    made = await real.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    weak = asyncssh.generate_private_key("ssh-rsa", key_size=2048)
    strong = asyncssh.generate_private_key("ssh-rsa", key_size=3072)
    lines = [key.export_public_key().decode().strip() for key in (weak, strong)]
    text = "\n".join(["# a remark", "", "ssh-dss AAAA", *lines, lines[1]])
    await run(way, f"umask 077 && mkdir .ssh && cat > {FILE} <<'END'\n{text}\nEND")
    assert (await seen(real, allocation_id)).own_keys == (strong.get_fingerprint(),)
    await real.engine.remove(allocation_id, ignore)
