"""Root inside replaces the program of pid 1, so that its environment runs with GPUs and counts as failed."""

from pathlib import Path

import pytest

from gpuaas.wire.environments import EnvironmentState
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh

REPLACE = """
sudo mv /usr/bin/catatonit /usr/bin/catatonit.real
printf '#!/bin/sh\\nexec env {options} /usr/bin/catatonit.real -P\\n' | sudo tee /usr/bin/catatonit >/dev/null
sudo chmod 755 /usr/bin/catatonit && echo replaced
"""


@pytest.mark.parametrize("options", ["-i", "-u CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=GPU-of-a-neighbour"])
async def test_variables_of_the_first_process_decide_nothing(bench: OciBench, tmp_path: Path, options: str) -> None:
    ada, id = Key(), "first-process"
    made = await bench.engine.ensure(spec(id, keys(1, ada)), ignore)
    try:
        assert await OpenSsh(tmp_path, made, ada).says(REPLACE.format(options=options)) == "replaced"
        again = await bench.engine.ensure(spec(id, keys(1, ada), boot=2), ignore)
        assert (again.state, again.boot, again.devices) == (EnvironmentState.RUNNING, 2, made.devices)
        assert await OpenSsh(tmp_path, again, ada).says("cat /proc/1/comm") == "catatonit.real"
    finally:
        await bench.engine.remove(id, ignore)


async def test_devices_of_a_damaged_record_are_those_that_were_configured(bench: OciBench, tmp_path: Path) -> None:
    """Otherwise the environment names GPUs of others and its own count as free."""
    ada, id = Key(), "first-process"
    made = await bench.engine.ensure(spec(id, keys(1, ada)), ignore)
    try:
        lie = "CUDA_VISIBLE_DEVICES=GPU-of-a-neighbour"
        assert await OpenSsh(tmp_path, made, ada).says(REPLACE.format(options=lie)) == "replaced"
        await bench.engine.ensure(spec(id, keys(1, ada), boot=2), ignore)
        await bench.kill()
        (bench.root / "environments" / id / "record.json").write_text("damaged")
        await bench.begin()
        seen = next(one for one in await bench.engine.observe() if one.allocation_id == id)
        assert seen.devices == made.devices
    finally:
        await bench.engine.remove(id, ignore)
