"""Where the parts of one environment lie."""

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
        """Seen inside as /etc/gpuaas."""
        return self.path / "etc" / "gpuaas"

    @property
    def container(self) -> str:
        """The name that the runtime and the control groups have for it. An environment that was a spare keeps the
        spare's name until its next boot."""
        try:
            return self._container_file.read_text()
        except FileNotFoundError:
            return self.path.name

    @property
    def _container_file(self) -> Path:
        return self.path / "container"

    def keep_container_name(self) -> None:
        """Before the folder gets another name."""
        self._container_file.write_text(self.path.name)

    def drop_container_name(self) -> None:
        """Once the container of that name is gone."""
        self._container_file.unlink(missing_ok=True)

    @property
    def exit_code(self) -> Path:
        """Written by conmon, which knows this path from its start: outside the folder, because that can be renamed."""
        return self.path.parent.parent / "exits" / self.container
