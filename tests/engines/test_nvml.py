"""NVML at its edge: a real shared library with the same functions, called through NVIDIA's binding as the real one."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.engines.base import EngineError
from gpuaas.engines.nvml import NO_LIBRARY, Nvml, NvmlError, is_installed, open_nvml
from gpuaas.engines.oci import config
from gpuaas.engines.oci.environments import check_gpus
from gpuaas.engines.oci.facts import drivers
from gpuaas.engines.oci.samples import gpus as gpu_readings
from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.metrics import Metric
from tests.engines.benches import keys, spec
from tests.engines.nvml_binding import binding

STUB = Path(__file__).parent / "stubs" / "nvml.c"


@pytest.fixture(scope="session")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> Nvml:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    library = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(STUB)], check=True)
    opened = open_nvml(binding(ctypes.CDLL(str(library))))
    assert isinstance(opened, Nvml)
    return opened


def real_spec(slots: int) -> EnvironmentSpec:
    return replace(spec("a", keys(1), devices=tuple(f"GPU-{n}" for n in range(slots))), simulated=False)


def test_a_gpu_that_answers_tells_load_memory_and_temperature(nvml: Nvml) -> None:
    state = nvml.state("GPU-0")
    assert (state.utilisation_percent, state.temperature_celsius) == (73, 61)
    assert (state.memory_used_bytes, state.memory_total_bytes) == (5 << 30, 80 << 30)


def test_a_gpu_that_is_lost_says_so_in_the_library_s_words(nvml: Nvml) -> None:
    with pytest.raises(NvmlError, match="NVML 15: GPU is lost"):
        nvml.state("GPU-1")


def test_the_drivers_that_answer_are_facts_of_the_node(nvml: Nvml, tmp_path: Path) -> None:
    amd = tmp_path / "version"
    amd.write_text("6.8.5\n")
    found = drivers(nvml, amd)
    assert {name: fact.value for name, fact in found.items()} == {"nvidia_driver": "550.54.15", "amd_driver": "6.8.5"}


def test_a_driver_that_nobody_saw_is_no_fact(tmp_path: Path) -> None:
    assert drivers(NO_LIBRARY, tmp_path / "version") == {}


def test_a_node_without_the_library_says_that() -> None:
    assert not is_installed("libthere-is-none.so.1")
    assert open_nvml(library="libthere-is-none.so.1") == NO_LIBRARY


def test_a_library_that_does_not_start_is_told_and_not_used() -> None:
    class Dead:
        @staticmethod
        def nvmlInitWithFlags(_: int) -> int:  # noqa: N802 - the library's own name
            return 9

        @staticmethod
        def nvmlErrorString(_: int) -> bytes:  # noqa: N802
            return b"Driver Not Loaded"

    assert open_nvml(binding(Dead)) == ("the NVML library on this node does not start: NVML 9: Driver Not Loaded")


def test_readings_are_numbers_of_one_gpu_and_the_reason_of_another(nvml: Nvml) -> None:
    found = {(one.metric, one.device): one for one in gpu_readings(real_spec(2), nvml)}
    assert found[Metric.GPU_UTILISATION, "0"].value == 73
    assert found[Metric.GPU_MEMORY, "0"].source == "NVML"
    assert found[Metric.GPU_UTILISATION, "1"].unavailable == "GPU GPU-1 does not answer: NVML 15: GPU is lost"


def test_real_gpus_without_the_library_are_unavailable_and_not_zero() -> None:
    found = list(gpu_readings(real_spec(1), NO_LIBRARY))
    assert {(one.value, one.unavailable) for one in found} == {(None, NO_LIBRARY)}


def test_real_gpus_are_checked_by_configuration_and_by_the_library(nvml: Nvml) -> None:
    wanted = real_spec(1)
    seen = check_gpus(config.variables(wanted), wanted, nvml)
    assert "slots 0" in seen
    assert "NVML: GPU-0 81920 MiB 61 °C" in seen


def test_a_gpu_that_does_not_answer_keeps_the_machine_from_being_active(nvml: Nvml) -> None:
    wanted = real_spec(2)
    with pytest.raises(EngineError, match="GPU 1 does not answer"):
        check_gpus(config.variables(wanted), wanted, nvml)


def test_real_gpus_that_cannot_be_checked_are_not_taken_on_trust() -> None:
    wanted = real_spec(1)
    with pytest.raises(EngineError, match="cannot be checked: no NVML library"):
        check_gpus(config.variables(wanted), wanted, NO_LIBRARY)


def test_slots_that_are_not_configured_are_an_error_also_when_simulated() -> None:
    wanted, other = spec("a", keys(1), slots=2), spec("a", keys(1), slots=1)
    with pytest.raises(EngineError, match="not visible inside"):
        check_gpus(config.variables(other), wanted, NO_LIBRARY)
    assert "simulated" in check_gpus(config.variables(wanted), wanted, NO_LIBRARY)
