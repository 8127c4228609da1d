"""Files that others name: what is not a regular file is not opened, since opening alone may wait or do something."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

# What the system answers with when it is read: its files have no bytes of their own.
_SYSTEM: Final = ("/proc", "/sys")


class NotRegular(OSError):  # noqa: N818
    """A device, a pipe, a socket or a file of /proc."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "not a regular file")


def open_regular(path: str | Path) -> int:
    """A descriptor for reading a regular file; a NotRegular, or what the system has against it, else."""
    _check(os.stat(path))  # noqa: PTH116
    # What has become a pipe or a terminal since then keeps nobody waiting, and is let go unread.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        # Also where its number is as before: that of a file which is gone is given to the next one, a pipe perhaps.
        _check(found)
        # Asked again: a log may have got its first line in between.
        if not found.st_size and os.pread(descriptor, 1, 0) and not os.fstat(descriptor).st_size:
            raise NotRegular
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode) or (not found.st_blocks and _is_of_system(found.st_dev)):
        raise NotRegular


def _is_of_system(device: int) -> bool:
    for place in _SYSTEM:
        try:
            if os.stat(place).st_dev == device:  # noqa: PTH116
                return True
        except OSError:
            continue
    return False
