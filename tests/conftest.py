"""What every test may use."""

import os
import sys

from hypothesis import settings

from gpuaas.engines.images import images
from tests.images.real import SHARED

pytest_plugins = [
    "tests.postgres",
    "tests.residue",
    "tests.groups",
    "tests.soaking",
    "tests.skips",
    "tests.world",
    "tests.platform",
    "tests.docs.summary",
]

# Tests start hundreds of Python programs: without compiled modules each would compile the same sources again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same cases for everybody, and none judged by how busy the machine is.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

os.environ.setdefault(images.VARIABLE, str(SHARED))  # every node of a test starts environments from one image
os.environ.setdefault("GPUAAS_SPARES", "0")  # tests of spares ask for them
