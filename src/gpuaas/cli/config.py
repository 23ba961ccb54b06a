"""What `gpuaas login` remembers: address, token and project, in a file that only its owner can read."""

import json
import os
import tempfile
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.process_context import ProcessContext

OWNER_ONLY = 0o600
DEFAULT_URL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    url: str = ""
    token: str = ""
    email: str = ""
    project: str = ""
    allow_plain_http: bool = False

    def __repr__(self) -> str:
        return f"Settings(url={self.url!r}, email={self.email!r})"  # never the token


def saved(process: ProcessContext) -> Settings:
    """What the file says; nothing when there is none."""
    file = process.config_file
    try:
        found = tomllib.loads(file.read_text())
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Complaint(f"{file} cannot be read: {error}", next_step="mend or remove it, then: gpuaas login") from error
    known = {field.name: field.type for field in fields(Settings)}
    return Settings(**{name: value for name, value in found.items() if name in known and type(value) is known[name]})


def effective(process: ProcessContext) -> Settings:
    """The file, overruled by the environment. A saved token is sent to no other address than its own."""
    file, environ = saved(process), process.environ
    url = environ.get("GPUAAS_URL") or file.url
    is_same_place = url == file.url
    return Settings(
        url=url,
        token=environ.get("GPUAAS_TOKEN") or (file.token if is_same_place else ""),
        email=file.email if is_same_place else "",
        project=environ.get("GPUAAS_PROJECT") or (file.project if is_same_place else ""),
        allow_plain_http=environ.get("GPUAAS_ALLOW_PLAIN_HTTP") == "1" or (file.allow_plain_http and is_same_place),
    )


def signed_in(process: ProcessContext) -> Settings:
    settings = effective(process)
    if not settings.token:
        where = f" to {settings.url}" if settings.url else ""
        raise Complaint(f"You are not signed in{where}.", next_step="gpuaas login", code=ExitCode.AUTH)
    return settings


def save(process: ProcessContext, settings: Settings) -> Path:
    lines = [f"{field.name} = {toml(getattr(settings, field.name))}\n" for field in fields(Settings)]
    write_privately(process.config_file, "".join(lines))
    return process.config_file


def toml(value: str | bool) -> str:
    return json.dumps(value, ensure_ascii=False)


def write_privately(file: Path, text: str) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(handle, "w") as stream:
            stream.write(text)
        Path(temporary).replace(file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
