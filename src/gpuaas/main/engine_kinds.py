"""The engines that an agent can run, by name; apart from the engines, which are large to import."""

from enum import StrEnum


class EngineKind(StrEnum):
    OCI = "oci"
    FAKE = "fake"
