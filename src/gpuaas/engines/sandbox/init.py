"""Pid 1 of an environment: it reaps, starts processes as the person, and hands their descriptors to the agent.

Started by `unshare`, it waits for its orders on standard input, builds the root view, gives up every privilege it
can, and then serves a unix socket that only the agent can reach. It outlives the agent. Everything is imported before
the root is left behind, so the interpreter need not be visible inside. Runs with the standard library only.
"""

# ruff: noqa: PTH112, PTH123 (plain strings: pathlib would cost pid 1 a third of its start)

import array
import fcntl
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import termios
import time
from typing import Any, NoReturn

from gpuaas.engines.sandbox import kernel, rootview

MESSAGE_LIMIT = 200_000
CONNECT_SECONDS = 15
REBOOT_SECONDS = 5.0  # for what runs to end by itself
Orders = dict[str, Any]


def send(peer: socket.socket, message: dict[str, object], descriptors: tuple[int, ...] = ()) -> None:
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    try:
        peer.sendmsg([json.dumps(message).encode()], ancillary)
    except OSError:
        return  # the agent is gone; the environment lives on


class Init:
    """One connection per process or forwarded connection; its end means the agent let go of it."""

    def __init__(self, listener: socket.socket, bell: int | None, orders: Orders) -> None:
        self.listener, self.bell, self.orders = listener, bell, orders
        self.selector = selectors.DefaultSelector()
        self.processes: dict[int, socket.socket] = {}
        self.deadline: float | None = None

    def serve(self) -> None:
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.selector.register(wake_read, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        if self.bell is not None:
            self.selector.register(self.bell, selectors.EVENT_READ)
        while not self._is_over():
            for key, _ in self.selector.select(None if self.deadline is None else 0.05):
                if key.fileobj is self.listener:
                    self._accept()
                elif key.fileobj == wake_read:
                    os.read(wake_read, 4096)
                    self._reap()
                elif key.fileobj == self.bell:
                    self._reboot(self.bell)
                elif isinstance(key.fileobj, socket.socket):
                    self._hear(key.fileobj)

    def _is_over(self) -> bool:
        return self.deadline is not None and (time.monotonic() > self.deadline or not self._any_process())

    @staticmethod
    def _any_process() -> bool:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _accept(self) -> None:
        try:
            peer, _ = self.listener.accept()
        except OSError:
            return  # it left before we looked
        peer.setblocking(False)
        self.selector.register(peer, selectors.EVENT_READ)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            peer = self.processes.pop(pid, None)
            if peer is not None:
                send(peer, {"exit": os.waitstatus_to_exitcode(status)})
                self._forget(peer)

    def _hear(self, peer: socket.socket) -> None:
        try:
            data = peer.recv(MESSAGE_LIMIT)
        except OSError:
            data = b""
        if not data:
            for pid in [pid for pid, owner in self.processes.items() if owner is peer]:
                del self.processes[pid]
                self._signal(pid, signal.SIGHUP)
            self._forget(peer)
            return
        try:
            self._answer(peer, json.loads(data))
        except (ValueError, KeyError, TypeError) as error:
            send(peer, {"error": f"not understood: {error!r}"})  # a confused agent must not end the environment

    def _answer(self, peer: socket.socket, request: Orders) -> None:
        match request["ask"]:
            case "run":
                self._run(peer, request)
            case "connect":
                self._connect(peer, request)
            case "signal":
                for pid in [pid for pid, owner in self.processes.items() if owner is peer]:
                    self._signal(pid, int(request["signal"]))
            case "stop":
                self._stop(float(request["grace"]))
            case "variables":
                send(peer, {"variables": self.orders["environment"]})
            case _:
                send(peer, {"here": self.orders["allocation_id"], "boot": self.orders["boot"]})

    def _forget(self, peer: socket.socket) -> None:
        self.selector.unregister(peer)
        peer.close()

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        try:
            os.killpg(pid, number)  # each process we start leads a group of its own
        except (ProcessLookupError, PermissionError):
            return

    def _stop(self, grace: float) -> None:
        self.deadline = time.monotonic() + grace
        if os.getpid() != 1:
            return  # not in a namespace of our own, where "all" would be the whole machine: the agent ends them by name
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
            try:
                os.kill(-1, number)
            except (ProcessLookupError, PermissionError):
                continue

    def _reboot(self, bell: int) -> None:
        """Somebody inside asked for it. We only end; the agent finds the environment stopped and boots it again."""
        self.selector.unregister(bell)
        self._stop(REBOOT_SECONDS)

    def _run(self, peer: socket.socket, request: Orders) -> None:
        try:
            kept, given = self._terminal(request["terminal"]) if request["terminal"] else self._pipes()
        except OSError as error:
            send(peer, {"error": f"no descriptors: {error}"})
            return
        pid = self._fork(peer)
        if pid == 0:
            self._become(request, given)
        for descriptor in given:
            os.close(descriptor)
        if pid is not None:
            self.processes[pid] = peer
            send(peer, {"pid": pid}, kept)
        for descriptor in kept:
            os.close(descriptor)

    @staticmethod
    def _fork(peer: socket.socket) -> int | None:
        """A machine as full of processes as it may be refuses one more, and lives on."""
        try:
            return os.fork()
        except OSError as error:
            send(peer, {"error": f"no process: {error.strerror}"})
            return None

    def _terminal(self, wanted: Orders) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A terminal of the environment's own devpts: one made by the agent would be `not a tty` inside."""
        master, slave = os.openpty()
        os.fchown(slave, self.orders["uid"], -1)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *wanted["size"]))
        return (master,), (slave,)

    @staticmethod
    def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
        ends = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        (in_read, in_write), (out_read, out_write), (err_read, err_write) = ends
        return (in_write, out_read, err_read), (in_read, out_write, err_write)

    def _become(self, request: Orders, descriptors: tuple[int, ...]) -> NoReturn:
        """In the child: the person's process, or nothing."""
        try:
            os.setsid()
            if len(descriptors) == 1:
                fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
                descriptors *= 3
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
            self._be_the_person()
            os.chdir(self.orders["home"] if os.path.isdir(self.orders["home"]) else "/")
            environment = {**self.orders["environment"], **request["environment"]}
            if request["terminal"]:
                environment["SSH_TTY"] = os.ttyname(0)
            os.execve(request["path"], request["argv"], environment)  # noqa: S606 (the person's own command)
        finally:
            os._exit(127)

    def _be_the_person(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if os.getuid() != self.orders["uid"]:
            os.setgroups([])
            os.setresgid(self.orders["gid"], self.orders["gid"], self.orders["gid"])
            os.setresuid(self.orders["uid"], self.orders["uid"], self.orders["uid"])
        os.umask(0o022)

    def _connect(self, peer: socket.socket, request: Orders) -> None:
        """From a child: looking up a name may take long, and the person's rights are all it needs."""
        if self._fork(peer) == 0:
            try:
                self._be_the_person()
                target = (request["host"].encode(), int(request["port"]))
                with socket.create_connection(target, timeout=CONNECT_SECONDS) as connection:
                    connection.setblocking(False)
                    send(peer, {"connected": True}, (connection.fileno(),))
            except OSError as error:
                send(peer, {"error": error.strerror or str(error)})
            finally:
                os._exit(0)
        self._forget(peer)


def enter_user_namespace(maps: dict[str, str]) -> None:
    """Mapped by a child that is still outside: from root on the machine to nobody much in here."""
    read, write = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        try:
            os.close(write)
            os.read(read, 1)
            for name, text in maps.items():
                with open(f"/proc/1/{name}", "w") as target:
                    target.write(text)
            os._exit(0)
        finally:
            os._exit(1)
    kernel.unshare(kernel.CLONE_NEWUSER)
    os.close(write)
    os.close(read)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError(0, "the user namespace could not be mapped")
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def forbid_user_namespaces() -> None:
    with open("/proc/sys/user/max_user_namespaces", "w") as limit:
        limit.write("0")


def listen(folder: str) -> socket.socket:
    """Bound through the folder's descriptor: a socket path may not be longer than 107 bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    previous = os.umask(0o177)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/init.sock")
    finally:
        os.umask(previous)
        os.close(descriptor)
    listener.listen(128)
    listener.setblocking(False)
    return listener


def settle(orders: Orders) -> tuple[socket.socket, int | None]:
    """From a process with new namespaces to pid 1 of an environment; without them only its children are its own.
    With it the pipe by which those inside ask for a reboot: later pid 1 may not open it."""
    for name, limit in orders["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (limit, limit))
    for path in orders["cgroups"]:
        with open(f"{path}/cgroup.procs", "w") as members:
            members.write("0")
    listener = listen(orders["folder"])
    if not orders["isolated"]:
        kernel.adopt_orphans()
        return listener, None
    if orders["network"]:
        kernel.join_namespace(orders["network"], kernel.CLONE_NEWNET)
    socket.sethostname(orders["hostname"])
    rootview.build(
        orders["view"],
        orders["folder"],
        etc=orders["etc"],
        hide=orders["hide"],
        uid=orders["uid"],
        owner=orders["owner"],
        shm_mib=orders["shm_mib"],
        platform=orders["platform"],
    )
    bell = os.open(rootview.REBOOT, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    if orders["maps"]:
        enter_user_namespace(orders["maps"])
    forbid_user_namespaces()
    return listener, bell


def main() -> None:
    os.umask(0o022)
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return  # the agent went away before it had a use for us
    orders: Orders = json.loads(line)
    try:
        listener, bell = settle(orders)
        kernel.hide_from_tracers()
        if orders["isolated"] or orders["owner"]:  # an ordinary user without namespaces may not even give this up
            kernel.empty_bounding_set()
        keep = (kernel.CAP_CHOWN, kernel.CAP_KILL, kernel.CAP_SETGID, kernel.CAP_SETUID) if orders["owner"] else ()
        kernel.give_up_privileges(keep)
        outcome = b"ready\n"
    except OSError as error:
        outcome = f"{error.strerror}\n".encode()
    os.write(1, outcome)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    if outcome == b"ready\n":
        Init(listener, bell, orders).serve()


if __name__ == "__main__":
    main()
