"""Paths of the files of one environment."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Folder:
    path: Path

    @property
    def disk(self) -> Path:
        return self.path / "disk.img"

    @property
    def bundle(self) -> Path:
        return self.path / "bundle"

    @property
    def pid(self) -> Path:
        return self.path / "pid"

    @property
    def facts(self) -> Path:
        """Mounted inside as /etc/gpuaas."""
        return self.path / "etc" / "gpuaas"

    @property
    def container(self) -> str:
        """Its name in the runtime and in control groups. A former spare keeps its name until the next boot."""
        try:
            return self._container_file.read_text()
        except FileNotFoundError:
            return self.path.name

    @property
    def _container_file(self) -> Path:
        return self.path / "container"

    def keep_container_name(self) -> None:
        """Record the container name before the folder is renamed."""
        self._container_file.write_text(self.path.name)

    def drop_container_name(self) -> None:
        """Once the container of that name is gone."""
        self._container_file.unlink(missing_ok=True)

    @property
    def exit_code(self) -> Path:
        """File of conmon. It is outside the folder, because conmon keeps its path while the folder may be renamed."""
        return self.path.parent.parent / "exits" / self.container
