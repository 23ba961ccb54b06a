"""Base images of a node: what an environment starts from, and which one is current."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Dated, Moment


class BaseImage(Dated, frozen=True, kw_only=True):
    """The image under the root disk of an environment. It stays the same for as long as the environment exists."""

    version: str
    distribution: str  # as in debian-12
    python: str  # as in 3.11
    built_at: Moment
    replaced_at: Moment | None = None  # when a newer one became current on the node; none: this one is


class AllocationImage(Struct, frozen=True, kw_only=True):
    """The base image of an allocation; `advice` says what to do about one that is outdated."""

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
    checked_at: Moment | None = None  # when its packages were last found to be those of the package sources
    max_age_days: int = 0  # an older one is rebuilt if there are newer packages; 0: not by itself
    outdated_since: Moment | None = None  # neither built nor checked for so long
    failure: str = ""  # why the last rebuild failed


class ImageReport(Struct, frozen=True, kw_only=True, tag="image"):
    """The current image of a node; sent on a new link and when it changed. None: the node has no image."""

    image: CurrentImage | None
