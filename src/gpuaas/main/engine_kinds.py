"""The names of the engines that an agent can run; separate from the engines, which are large to import."""

from enum import StrEnum


class EngineKind(StrEnum):
    OCI = "oci"
    FAKE = "fake"
