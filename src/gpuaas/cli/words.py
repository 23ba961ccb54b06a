"""Numbers, times and states as people read them."""

import re
from contextlib import suppress
from datetime import datetime, timedelta

from gpuaas.wire.common import Money

MINUTE, HOUR, DAY = 60, 3600, 86400
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

GOOD, BUSY, BAD, QUIET = "green", "yellow", "red", "bright_black"
STYLES = {
    "active": GOOD,
    "ok": GOOD,
    "free": GOOD,
    "succeeded": GOOD,
    "done": GOOD,
    "requested": BUSY,
    "provisioning": BUSY,
    "restarting": BUSY,
    "releasing": BUSY,
    "running": BUSY,
    "began": BUSY,
    "draining": BUSY,
    "enrolling": BUSY,
    "candidate": BUSY,
    "degraded": BUSY,
    "failed": BAD,
    "release_failed": BAD,
    "restart_failed": BAD,
    "unreachable": BAD,
    "offline": BAD,
    "quarantined": BAD,
    "cleanup_blocked": BAD,
    "unknown_environment": BAD,
    "missing_requirements": BAD,
    "disabled": BAD,
    "released": QUIET,
    "retired": QUIET,
}


def plain(text: str) -> str:
    """Other people's words must not steer this terminal."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def style_of(state: str) -> str:
    return STYLES.get(state, "")


def age(since: datetime | None, now: datetime) -> str:
    """One unit is enough: 12 s, 3 m, 5 h, 2 d."""
    return "" if since is None else span(max(now - since, timedelta()))


def until(moment: datetime, now: datetime) -> str:
    return "over" if moment <= now else f"in {span(moment - now)}"


def span(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} m"
    if seconds < 2 * DAY:
        return f"{seconds // HOUR} h"
    return f"{seconds // DAY} d"


def took(seconds: float | None) -> str:
    """A duration precise enough to compare phases by."""
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds < MINUTE else f"{int(seconds) // MINUTE} m {int(seconds) % MINUTE:02} s"


def money(price: Money) -> str:
    return f"{price.amount_minor / 100:.2f} {price.currency}"


def memory(mebibytes: int) -> str:
    return f"{mebibytes / 1024:.0f} GiB" if mebibytes >= 1024 else f"{mebibytes} MiB"  # noqa: PLR2004 - a unit


def clock(moment: datetime) -> str:
    with suppress(OverflowError):  # the ends of the calendar, in a zone that is beyond them
        moment = moment.astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S")
