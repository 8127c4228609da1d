"""What TrueLine runs once more for a question of its own leaves nothing running; the user's own run does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from cli.calling import environment

from trueline.record.command import end_group, kept

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(f"daemon-{os.getpid()}", "w"):
            time.sleep(600)
    os._exit(0)
os.wait()
print("done")
"""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def daemons(folder: Path, count: int) -> list[int]:
    end = time.monotonic() + 30
    while len(found := list(folder.glob("daemon-*"))) < count and time.monotonic() < end:
        time.sleep(0.02)
    return [int(one.name.rpartition("-")[2]) for one in found]


def run(folder: Path, *line: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(line), cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def test_what_a_repeated_run_has_started_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DAEMON, "utf-8")
    (tmp_path / "code.py").write_text("import sys\nsys.exit(7)\n", "utf-8")
    (tmp_path / "hang.py").write_text(DAEMON + "time.sleep(600)\n", "utf-8")
    assert run(tmp_path, *kept("run", "code.py")).wait() == 7
    assert run(tmp_path, *kept("run", "train.py")).wait() == 0
    hanging = run(tmp_path, *kept("run", "hang.py"))
    found = daemons(tmp_path, 2)
    assert len(found) == 2
    end_group(hanging)
    assert not any(is_alive(pid) for pid in found)


def test_what_the_user_s_own_run_has_started_stays(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DAEMON, "utf-8")
    assert run(tmp_path, sys.executable, "-m", "trueline", "run", "train.py").wait() == 0
    (found,) = daemons(tmp_path, 1)
    assert is_alive(found)
    os.kill(found, signal.SIGKILL)
