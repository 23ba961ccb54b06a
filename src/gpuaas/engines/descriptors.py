"""File descriptors of the agent: most are for connections of people, a reserve is for the agent.

Without the reserve, the connections of one person could prevent the agent from observing environments.
"""

import resource
from collections.abc import Callable
from weakref import finalize

RESERVE = 1024
HIGHEST = 1 << 20  # some systems allow a billion, and some programs iterate over all of them


def raise_limit() -> int:
    """Raise the soft limit of open files to the hard limit; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = HIGHEST if hard == resource.RLIM_INFINITY else min(hard, HIGHEST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def limit_in_force() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return HIGHEST if soft == resource.RLIM_INFINITY else soft


class Descriptors:
    """The budget for connections, channels and terminals. Each reserves its share before it opens descriptors."""

    def __init__(self, limit: Callable[[], int] = limit_in_force) -> None:
        self._limit = limit
        self.taken = 0
        self.refused = 0

    @property
    def budget(self) -> int:
        limit = self._limit()
        return limit - min(RESERVE, limit // 2)

    def take(self, count: int) -> "Share | None":
        """Reserve descriptors; None if too few are free. `give_back` or the end of the owner returns the share."""
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
        """Returned at the latest when the owner is garbage-collected."""
        finalize(owner, self.give_back).atexit = False

    def give_back(self) -> None:
        """Return it; a second call is a no-op."""
        count, self._count = self._count, 0
        self._descriptors._return(count)  # noqa: SLF001 - the two are one thing
