"""One real environment and one real gateway per module of tests."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.gateway import bundle
from tests.gateway.node import Keys, Node, base_image

FIRST_ID = 1_960_000_000
USERNAME = "ada"


@pytest.fixture(scope="module")
def container() -> Iterator[bundle.Container]:
    if os.geteuid() != 0:
        pytest.skip("containers with an id range of their own need root")
    folder = Path(tempfile.mkdtemp(prefix="container-"))
    folder.chmod(0o755)  # the container's root passes through it
    id = f"gateway-{os.getpid()}-{folder.name}"
    made = bundle.create(folder, id=id, image=base_image(), first_id=FIRST_ID, username=USERNAME)
    try:
        yield made
    finally:
        made.remove()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
async def node(
    container: bundle.Container, keys: Keys, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Node]:
    """A gateway that admits the key of `holder`."""
    root = tmp_path_factory.mktemp("root")
    root.chmod(0o700)
    started = Node(root, container, keys, USERNAME)
    await started.start()
    try:
        yield started
    finally:
        await started.close()


@pytest.fixture(autouse=True)
async def every_test_starts_alike(node: Node) -> None:
    await node.reset()
