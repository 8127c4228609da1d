"""When a process was started: its number alone may be another one's by now."""

from __future__ import annotations

from pathlib import Path

_STATE, _START = 0, 19


def birth_of(pid: int) -> int | None:
    """The start of a process in ticks since the machine's; None where it is gone, or where no system says it."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold anything.
    fields = text.rpartition(b")")[2].split()
    try:
        # A zombie has ended, and waits for its parent.
        return None if fields[_STATE] == b"Z" else int(fields[_START])
    except (IndexError, ValueError):
        return None
