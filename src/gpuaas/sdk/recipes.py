"""Bundles that ship with this release, as data: ready to be published."""

from importlib.abc import Traversable
from importlib.resources import files

import msgspec

from gpuaas.wire.runtimes import PublishRuntimeBundle


def names() -> list[str]:
    return sorted(each.name.removesuffix(".json") for each in _folder().iterdir() if each.name.endswith(".json"))


def read(name: str) -> PublishRuntimeBundle:
    return parse((_folder() / f"{name}.json").read_bytes())


def parse(content: bytes) -> PublishRuntimeBundle:
    """Raises `msgspec.DecodeError` with what is wrong."""
    return msgspec.json.decode(content, type=PublishRuntimeBundle)


def _folder() -> Traversable:
    return files("gpuaas") / "recipes"
