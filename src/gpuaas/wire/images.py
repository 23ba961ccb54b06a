"""Base images of a node, and which one is current."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Dated, Moment


class BaseImage(Dated, frozen=True, kw_only=True):
    """The image under the root disk of an environment. It stays the same as long as the environment exists."""

    version: str
    distribution: str  # such as debian-12
    python: str  # such as 3.11
    built_at: Moment
    replaced_at: Moment | None = None  # when a newer one became current on the node; None: this one is current


class AllocationImage(Struct, frozen=True, kw_only=True):
    """The base image of an allocation; `advice` says what to do if it is outdated."""

    version: str
    distribution: str
    python: str
    built_at: datetime
    outdated_since: datetime | None = None  # when a newer one became current on its node
    advice: str = ""


class CurrentImage(Dated, frozen=True, kw_only=True):
    """The image that new environments of a node start from, and whether it is kept up to date."""

    version: str
    distribution: str
    python: str
    sshd: str
    built_at: Moment
    checked_at: Moment | None = None  # when its packages were last found equal to those of the package sources
    max_age_days: int = 0  # an older one is rebuilt if there are newer packages; 0: not automatically
    outdated_since: Moment | None = None  # not built or checked for longer than that
    failure: str = ""  # why the last rebuild failed


class ImageReport(Struct, frozen=True, kw_only=True, tag="image"):
    """The current image of a node; sent on a new link and after changes. None: the node has no image."""

    image: CurrentImage | None
