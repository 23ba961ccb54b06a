"""The ownership record of a volume: a file in the volume's folder, beside its data, invisible to environments."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gpuaas.engines.node import files
from gpuaas.wire.storage import VolumeOwnership

FILE = "ownership.json"
VOLUME = re.compile(r"vol_[0-9a-z]{1,40}")
UNREADABLE = "its ownership record cannot be read"


def write(folder: Path, ownership: VolumeOwnership) -> None:
    path, data = folder / FILE, msgspec.json.encode(ownership)
    if not path.exists() or path.read_bytes() != data:
        files.write_whole(path, data)


def listed(root: Path, names: tuple[str, ...]) -> Iterator[tuple[str, str, VolumeOwnership | None, str]]:
    """Volumes under `root` with data of one of these names: id, name, record, reason for a missing record."""
    with os.scandir(root) as entries:
        ids = sorted(entry.name for entry in entries if VOLUME.fullmatch(entry.name))
    for id in ids:
        data = next((name for name in names if (root / id / name).exists()), None)
        if data is not None:
            yield (id, data, *_read(root / id / FILE))


def _read(path: Path) -> tuple[VolumeOwnership | None, str]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=VolumeOwnership), ""
    except FileNotFoundError:
        return None, ""
    except (OSError, msgspec.DecodeError) as error:
        return None, f"{UNREADABLE}: {type(error).__name__}"
