"""What every test may use."""

import os

from hypothesis import settings

from gpuaas.engines.images import images
from tests.images.real import SHARED

pytest_plugins = ["tests.postgres", "tests.residue", "tests.groups", "tests.soaking", "tests.world", "tests.platform"]

# The same cases for everybody, and none judged by how busy the machine is.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

os.environ.setdefault(images.VARIABLE, str(SHARED))  # every node of a test starts environments from one image
