"""The base image that real environments of tests start from: built once per machine, shared by all runs and workers.

Tests run without a network. `tools/setup.sh test`, which `make test` runs first, builds the image as root.
"""

import os
from functools import cache
from pathlib import Path

from gpuaas.engines.images import image_build, images
from gpuaas.engines.images.images import Image

SHARED = Path("/var/cache/gpuaas/images")


@cache
def real_image() -> Image:
    """Safe in any number of workers: an image is published whole, and never written again."""
    folder = images.folder_of(SHARED.parent, os.environ.get(images.VARIABLE))
    image = image_build.of_recipe(folder)
    if image is None:
        raise LookupError(f"{folder} has no base image of this version; next step: as root, tools/setup.sh test")
    return image
