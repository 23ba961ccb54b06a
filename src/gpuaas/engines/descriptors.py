"""File descriptors of the agent: most are for people's connections, a reserve is for the agent's own work.

Without the reserve one person's connections could keep the agent from looking at everybody's environments.
"""

import resource
from collections.abc import Callable
from weakref import finalize

RESERVE = 1024
HIGHEST = 1 << 20  # some systems allow a billion, and some programs walk through all of them


def raise_limit() -> int:
    """Raise the soft limit of open files to the hard one; the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = HIGHEST if hard == resource.RLIM_INFINITY else min(hard, HIGHEST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def limit_in_force() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return HIGHEST if soft == resource.RLIM_INFINITY else soft


class Descriptors:
    """The budget for connections, channels and terminals. Each takes its share before it opens anything."""

    def __init__(self, limit: Callable[[], int] = limit_in_force) -> None:
        self._limit = limit
        self.taken = 0
        self.refused = 0

    @property
    def budget(self) -> int:
        limit = self._limit()
        return limit - min(RESERVE, limit // 2)

    def take(self, count: int) -> "Share | None":
        """None when that many are not left. The share comes back with `give_back`, at the latest with its owner."""
        if self.taken + count > self.budget:
            self.refused += 1
            return None
        self.taken += count
        return Share(self, count)

    def _return(self, count: int) -> None:
        self.taken -= count


class Share:
    def __init__(self, descriptors: Descriptors, count: int) -> None:
        self._descriptors, self._count = descriptors, count

    def belongs_to(self, owner: object) -> None:
        """Given back when nobody refers to the owner any more, if not before."""
        finalize(owner, self.give_back).atexit = False

    def give_back(self) -> None:
        """Once; again is a no-op."""
        count, self._count = self._count, 0
        self._descriptors._return(count)  # noqa: SLF001 - the two are one thing
