"""A platform keeps the master key of its first start."""

from pathlib import Path

import pytest

from gpuaas.core.secrets import MasterKeyError
from gpuaas.core.settings import Settings
from gpuaas.main.server import wired


async def start(dsn: str, data: Path) -> None:
    data.mkdir(exist_ok=True)
    async with wired(Settings(data=data, dsn=dsn, pool_size=2), dsn):
        pass


async def test_a_server_whose_key_was_lost_or_is_its_own_does_not_start(migrated: str, tmp_path: Path) -> None:
    await start(migrated, tmp_path / "first")
    await start(migrated, tmp_path / "first")
    with pytest.raises(MasterKeyError, match="backup or another replica"):
        await start(migrated, tmp_path / "second")
    kept = (tmp_path / "first" / "master.key").read_bytes()
    (tmp_path / "first" / "master.key").unlink()
    with pytest.raises(MasterKeyError, match=r"master\.key of the first start"):
        await start(migrated, tmp_path / "first")
    for folder in ("first", "second"):
        (tmp_path / folder / "master.key").write_bytes(kept)
        await start(migrated, tmp_path / folder)
