"""Child processes measured from outside: CPU seconds and memory."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from cli import children_seconds


def run(arguments: list[str]) -> int:
    """A child process; compare ends with 1 where it has found a difference."""
    code = subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1):
        raise RuntimeError(f"ended with {code}: {' '.join(arguments)}")
    return code


def cpu(arguments: list[str]) -> float:
    """The CPU seconds of a child process."""
    before = children_seconds()
    run(arguments)
    return children_seconds() - before


def peak_anonymous(arguments: list[str]) -> float:
    """The most anonymous memory a child process held, in MB."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            found = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
            peak = max(peak, int(found[0]) if found else 0)
        except OSError:
            break
        time.sleep(0.002)
    process.wait()
    return peak / 1024
