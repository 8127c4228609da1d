"""Which folder is being recorded into right now: of two runs that begin at the same time only one may take it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
from pathlib import Path
from typing import Final

# Out of the way of a script, whose own files have the low numbers.
_HIGH: Final = 512

# Folders that this process has claimed; they are its own until it ends, as the system sees to.
_own: set[tuple[int, str]] = set()


def claim(folder: Path) -> bool:
    """Whether nobody else on this machine records into a folder; from now on this process does.

    A name without a file: it is gone with the process, however that ends. Where there are no such names everything is
    free, and the second run finds the first one's files.
    """
    place = os.path.realpath(folder)
    if (os.getpid(), place) in _own:
        return True
    name = hashlib.sha256(f"{os.getuid()} {place}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    try:
        # The module around it would be in a script's way, which may not have imported it.
        import _socket

        held = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    except (ImportError, AttributeError, OSError):
        return True
    try:
        held.bind(f"\0trueline-run-{name}")
        with contextlib.suppress(OSError, ValueError):
            # Never closed by us: a script may have closed it long before, and the number be a file of its own.
            fcntl.fcntl(held.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH)
            _own.add((os.getpid(), place))
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    finally:
        held.close()
    return True
