"""NVIDIA's binding of NVML over a library of the test's own."""

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import count
from types import ModuleType

_numbers = count()


def binding(library: object) -> ModuleType:
    """A copy of the module pynvml that has loaded this library."""
    original = find_spec("pynvml")
    assert original is not None
    assert original.origin is not None
    spec = spec_from_file_location(f"pynvml_of_test_{next(_numbers)}", original.origin)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)  # it looks itself up there
    spec.loader.exec_module(module)
    vars(module)["nvmlLib"] = library
    return module
