"""Writes release_0_1_0/: a database as release 0.1.0 left it, its master key, and what people saw of it.

Run once, `python -m tests.upgrade.populate`, and again only if the program of the release changes.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gpuaas.core.embedded import Embedded, binaries, installed
from gpuaas.core.owners import Owner
from tests.upgrade.landings import RELEASE_0_1_0, landing

HERE = Path(__file__).parent
FOLDER = HERE / "release_0_1_0"
DUMP, KEY, SEEN = FOLDER / "database.sql", FOLDER / "master.key", FOLDER / "seen.json"


def program(name: str) -> Path:
    """One of PostgreSQL's, as ourselves."""
    return binaries(installed(), Owner("", os.geteuid(), os.getegid()), Path("/nonexistent")) / name


async def main() -> None:
    release = landing(RELEASE_0_1_0)
    with tempfile.TemporaryDirectory(prefix="gpuaas-release-") as folder:
        server, data = Embedded(Path(folder) / "pg", settings={"fsync": "off"}), Path(folder) / "data"
        (Path(folder) / "pg").mkdir()
        data.mkdir()
        try:
            dsn = await server.start()
            command = [sys.executable, "-P", str(HERE / "program_0_1_0.py"), dsn, str(data)]
            seen = subprocess.run(command, env=release.environment, cwd=release.folder, check=True, stdout=-1).stdout
            dumped = subprocess.run([program("pg_dump"), dsn], check=True, stdout=-1).stdout
        finally:
            await server.stop()
        FOLDER.mkdir(exist_ok=True)
        SEEN.write_bytes(seen[seen.index(b"{\n") :])
        DUMP.write_bytes(dumped)
        shutil.copy(data / "master.key", KEY)
    shutil.rmtree(release.folder)
    print(f"{DUMP}: {len(dumped)} bytes")


if __name__ == "__main__":
    asyncio.run(main())
