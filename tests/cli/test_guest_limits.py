"""A user's code that never answers is waited for so long and no longer; whatever it has started ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.calling import environment

# What hangs, and on its way has started a daemon: a session of its own, and a parent that has ended.
HANGING = """
import os, time

def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("daemon.part", "w") as file:
                file.write(str(os.getpid()))
            os.rename("daemon.part", "daemon")
            time.sleep(600)
        os._exit(0)
    while not os.path.exists("daemon"):
        time.sleep(0.01)

def hangs():
    daemon()
    time.sleep(600)

def dies():
    daemon()
    os.kill(os.getpid(), 9)

class Samples:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        hangs()

def holds_the_lock():
    import re
    daemon()
    re.match(r"(a+)+b", "a" * 60)
"""
# Long enough for the line that says who is waited for, on a machine that is busy.
SECONDS = "4"
NEVER = f"no answer within {SECONDS} seconds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(HANGING, "utf-8")
    return tmp_path


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "trueline", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_gone(pid: int) -> bool:
    """Whether a process has ended, soon at least: whoever adopts one that was killed has to take it away."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def daemon_of(folder: Path) -> int:
    end = time.monotonic() + 60
    while not (folder / "daemon").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    return int((folder / "daemon").read_text())


ASKED = {
    "params": ("params", "mine:hangs"),
    "params without a turn for others": ("params", "mine:holds_the_lock"),
    "pair": ("pair", "--bench", "mine:hangs", "--port", "mine:hangs"),
    "describe": ("data", "describe", "mine:Samples"),
    "check": ("check", "--data", "mine:Samples", "--select", "ds.01"),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_every_question_has_a_limit(folder: Path, asked: tuple[str, ...]) -> None:
    child = start(folder, *asked, "--timeout", SECONDS)
    out, complaint = child.communicate()
    assert child.returncode == 2, complaint
    assert out == ""
    assert len(complaint.splitlines()) > 1, complaint
    waiting, *_, last = complaint.splitlines()
    assert waiting.startswith("waiting for an answer of") and "mine:" in waiting
    assert NEVER in last and last.startswith("trueline: ")
    assert is_gone(daemon_of(folder))


def test_a_conversion_waits_no_longer_than_asked(folder: Path) -> None:
    import numpy as np

    np.savez(folder / "in.npz", weight=np.zeros(2, np.float32))
    child = start(folder, "convert", "in.npz", "out.npz", "--verify", "mine:hangs", "mine:hangs", "--timeout", SECONDS)
    _, complaint = child.communicate()
    assert child.returncode == 2
    assert NEVER in complaint.splitlines()[-1]
    assert not (folder / "out.npz").exists()
    assert is_gone(daemon_of(folder))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_daemon_of_a_guest_ends_with_the_command(folder: Path, number: int) -> None:
    child = start(folder, "params", "mine:hangs")
    daemon = daemon_of(folder)
    assert Path(f"/proc/{daemon}").exists()
    child.send_signal(number)
    child.communicate()
    assert is_gone(daemon)


def test_a_daemon_of_a_guest_ends_with_a_guest_that_dies(folder: Path) -> None:
    child = start(folder, "params", "mine:dies")
    _, complaint = child.communicate()
    assert child.returncode == 2
    assert "SIGKILL" in complaint or "killed" in complaint
    assert is_gone(daemon_of(folder))


def test_a_daemon_of_a_script_that_is_run_stays_as_with_plain_python(folder: Path) -> None:
    (folder / "train.py").write_text("import mine\nmine.daemon()\n", "utf-8")
    child = start(folder, "run", "train.py")
    # The daemon holds on to the pipes.
    child.wait()
    daemon = daemon_of(folder)
    try:
        assert child.returncode == 0
        assert Path(f"/proc/{daemon}").exists()
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_a_command_that_ignores_interruptions_works_as_ever(folder: Path) -> None:
    (folder / "train.py").write_text("print('trained')\n", "utf-8")
    for asked in (("run", "train.py"), ("watch", "train.py"), ("params", "mine:dies")):
        program = [sys.executable, "-m", "trueline", *asked]
        done = subprocess.run(
            ["sh", "-c", "trap '' INT; \"$@\"", "sh", *program],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr
        assert ("trained" in done.stdout) == (asked[1] == "train.py"), done.stderr
        (folder / "daemon").unlink(missing_ok=True)
