"""Put in the place of runc or conmon: becomes the real program, or dies as an order says.

Standard library only. Its first line and the three names below are written by `Doom`, see doomed.py.
"""

# ruff: noqa: PTH104, PTH115, PTH123, PTH208, S606 (plain strings start faster; the real program, without a shell)

import fcntl
import os
import select
import signal
import subprocess
import sys
import time

FOLDER, NAME, REAL = "@FOLDER@", "@NAME@", "@REAL@"


def main() -> None:
    number = noted()
    moment = ordered(number)
    if moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    if moment == "after":
        subprocess.run([REAL, *sys.argv[1:]], check=False, close_fds=False)
        os.kill(os.getpid(), signal.SIGKILL)
    beside(lambda target: watch(target, number, float(moment) if moment else None))
    os.execv(REAL, [NAME, *sys.argv[1:]])


def noted() -> int:
    """The number of this invocation since the orders were cleared."""
    verbs = [word for word in sys.argv if word in ("create", "start", "delete", "kill")]
    with open(f"{FOLDER}/log", "a+") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        number = sum(line.startswith("begin") for line in log) + 1
        log.write(f"begin {number} {NAME} {''.join(verbs[:1]) or '-'} {time.monotonic()}\n")
    return number


def ordered(number: int) -> str:
    """An order is taken once."""
    try:
        with open(f"{FOLDER}/order") as order:
            wanted, moment = order.read().split()
    except FileNotFoundError:
        return ""
    if int(wanted) != number:
        return ""
    os.rename(f"{FOLDER}/order", f"{FOLDER}/died")
    return moment


def beside(work) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """In a process that is no child of the real program and has none of its descriptors."""
    target = os.pidfd_open(os.getpid())
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os.close(target)
        return
    if os.fork() == 0:
        os.setsid()
        os.dup2(target, 3)
        os.closerange(4, 1 << 16)
        for number in range(3):
            os.close(number)
        work(3)
    os._exit(0)


def watch(target: int, number: int, seconds: float | None) -> None:
    ended = select.poll()
    ended.register(target, select.POLLIN)
    if NAME == "conmon" and seconds is not None:
        time.sleep(seconds)
        kill_all()
    elif not ended.poll(None if seconds is None else 1000 * seconds):
        signal.pidfd_send_signal(target, signal.SIGKILL)
    with open(f"{FOLDER}/log", "a") as log:
        log.write(f"end {number} {time.monotonic()}\n")


def kill_all() -> None:
    """conmon goes on in a child of its own, with the same words."""
    words = "\0".join(sys.argv[1:]).encode()
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as line:
                is_it = words in line.read() and os.readlink(f"/proc/{name}/exe") == REAL
        except OSError:
            continue
        if name.isdigit() and is_it:
            os.kill(int(name), signal.SIGKILL)


if __name__ == "__main__":
    main()
