"""A process that keeps another one: all that was ever started there ends with it, daemons in sessions of their own too.

Linux hands orphans to the nearest ancestor that asks for them. Where there is no such thing, nothing is kept.
Run by its path with a command, or imported by what is to be kept; nothing here may need more than an old Python.
"""

import contextlib
import os
import select
import signal
import sys
import time

_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36
# A process that cannot be killed now, as it waits for a disk, is not waited for.
_MAX_ENDING_SECONDS = 5.0


def keep(parent: "int | None" = None, grace: float = 0.0, ours: "tuple[int, ...]" = ()) -> None:
    """Go on in a child process, and in this one see to the end of all that it starts; returns in the child only.

    The end comes with the child's, with SIGTERM after ``grace`` seconds, or where nobody holds the other end of the
    pipe ``parent``. ``ours`` are descriptors that only the child may hold.
    """
    if not _adopt_orphans():
        return
    wakes, wake = os.pipe()
    for descriptor in (wakes, wake):
        os.set_blocking(descriptor, False)
    ended: list[float] = []
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: ended.append(time.time()))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(wakes)
        os.close(wake)
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(_SET_CHILD_SUBREAPER, 0)
        if os.getppid() != keeper:
            os._exit(1)
        return
    # Ctrl-C is for the child to hear.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = 1
    try:
        _be_silent(ours)
        status = _watched(child, parent, wakes, ended, grace)
        _end_all()
    finally:
        _end_as(status)


def _adopt_orphans() -> bool:
    return sys.platform.startswith("linux") and _prctl(_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> bool:
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _be_silent(ours: "tuple[int, ...]") -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    for descriptor in ours:
        os.close(descriptor)


def _watched(child: int, parent: "int | None", wakes: int, ended: "list[float]", grace: float) -> int:
    """The status with which the child ended, or that of a killed one if it must end now."""
    waiting = select.poll()
    waiting.register(wakes, select.POLLIN)
    if parent is not None:
        waiting.register(parent, 0)
    while True:
        status = _reaped(child)
        if status is not None:
            return status
        if ended and time.time() >= ended[0] + grace:
            return signal.SIGKILL
        ready = dict(waiting.poll(50 if ended else None))
        if parent is not None and parent in ready:
            return signal.SIGKILL
        with contextlib.suppress(BlockingIOError):
            os.read(wakes, 4096)


def _reaped(child: int) -> "int | None":
    """Reap all ended children; the child's status if it is among them."""
    first_status = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return first_status if first_status is not None else 1 << 8
        if pid == 0:
            return first_status
        if pid == child:
            first_status = status


def _end_all() -> None:
    """Kill descendants until none is left; orphans are reparented to this process."""
    last = time.time() + _MAX_ENDING_SECONDS
    while time.time() < last:
        for descendant in _descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(descendant, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _descendants() -> "list[int]":
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:  # noqa: PTH123, UP031
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(int(name))
    descendants: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        more = below.get(waiting.pop(), [])
        descendants += more
        waiting += more
    return descendants


def _end_as(status: int) -> None:
    """Exit with the child's status."""
    number = status & 0x7F
    if number:
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(number, signal.SIG_DFL)
        except (ImportError, OSError, ValueError):
            pass
        os.kill(os.getpid(), number)
    os._exit((status >> 8) & 0xFF)


if __name__ == "__main__":
    keep(grace=float(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
