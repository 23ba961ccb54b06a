"""A machine that allows no namespaces: the engine says so, and goes on only when told to."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import processes
from tests.engines.benches import ORDINARY_UID, Key, SandboxBench, SshWay, ignore, keys, place, spec
from tests.patience import PATIENCE_SECONDS

FORBIDDEN = (
    *("unshare", "--user", "--map-user=1234", "--map-group=1234", "--keep-caps", "sh", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"',
    "sh",
)


@pytest.fixture
def bench(port_ranges: Iterator[range]) -> Iterator[SandboxBench]:
    uid = os.geteuid() or ORDINARY_UID
    with place(uid) as folder:
        bench = SandboxBench(folder, uid=uid, ports=next(port_ranges))
        bench.wrap = FORBIDDEN
        yield bench


async def test_without_namespaces_it_refuses_with_the_reason(bench: SandboxBench) -> None:
    with pytest.raises(EngineError) as refusal:
        await bench.begin()
    assert refusal.value.reason == "this node cannot isolate environments"
    assert "unshare" in refusal.value.detail
    await bench.kill()


async def test_unisolated_only_when_told_and_then_it_says_so(bench: SandboxBench) -> None:
    bench.allow_unisolated = True
    await bench.begin()
    try:
        ada = Key()
        made = await bench.engine.ensure(spec("a", keys(1, ada)), ignore)
        assert made.isolation is not None
        assert made.isolation.namespaces == ()
        assert {"mount", "pid", "user", "network"} <= set(made.isolation.missing)
        assert made.isolation.no_new_privileges
        assert (await bench.engine.probe()).facts["isolation"].value != "namespaces"
        way = await bench.log_in(made, ada)
        assert isinstance(way, SshWay)
        left = await way.connection.run("echo $GPUAAS_SLOTS; setsid nohup sleep 1000 > /dev/null 2>&1 & ", check=True)
        assert left.stdout == "0\n"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not sleepers(bench):  # begun, and not yet become what it will be
                await asyncio.sleep(0.01)
        items = await bench.engine.remove("a", ignore)
        assert all(item.ok for item in items), items
        assert not sleepers(bench)
    finally:
        await bench.end()


def sleepers(bench: SandboxBench) -> list[int]:
    return [
        pid
        for pid in processes.with_argument("1000")
        if processes.status(pid).get("Uid", "").startswith(str(bench.uid))
    ]
