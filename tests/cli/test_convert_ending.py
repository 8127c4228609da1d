"""`trueline convert` in the middle of a long file: interrupted, killed, its source cut, its progress shown."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.calling import environment
from cli.converted_files import write_sparse

FORMATS = ("pth", "ckpt", "safetensors", "npz")
# Long enough to be stopped in the middle, and never written to its end.
LARGE = 4 << 30
BEGUN = 8 << 20


@contextmanager
def converting(*arguments: str | Path, **streams: int) -> Iterator[subprocess.Popen[str]]:
    """A conversion in a process of its own, which does not outlive the test."""
    command = [sys.executable, "-m", "trueline", "convert", *(str(one) for one in arguments)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    with subprocess.Popen(command, env=environment(), text=True, **piped) as child:
        try:
            yield child
        finally:
            child.kill()


def wait_for_a_part(child: subprocess.Popen[str], folder: Path) -> None:
    """Until some of the output is there, out of sight."""
    until = time.monotonic() + 60
    while not any(one.stat().st_size > BEGUN for one in folder.glob(".*.part")):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    return write_sparse(tmp_path / "large.safetensors", LARGE)


@pytest.mark.parametrize("to", FORMATS)
def test_an_interrupt_leaves_nothing_half(tmp_path: Path, large: Path, to: str) -> None:
    (tmp_path / "out").mkdir()
    old = tmp_path / "out" / f"model.{to}"
    old.write_bytes(b"mine")
    with converting(large, old, "--force") as child:
        wait_for_a_part(child, old.parent)
        # The old file is whole until the new one is.
        assert old.read_bytes() == b"mine"
        child.send_signal(signal.SIGINT)
        output, complaint = child.communicate(timeout=30)
    assert (child.returncode, output) == (130, "")
    assert complaint.strip() == "trueline: interrupted"
    assert [one.name for one in old.parent.iterdir()] == [old.name]
    assert old.read_bytes() == b"mine"


def test_an_interrupt_leaves_no_shard(tmp_path: Path, large: Path) -> None:
    (tmp_path / "out").mkdir()
    with converting(large, tmp_path / "out" / "model.safetensors", "--shard", "1GB") as child:
        wait_for_a_part(child, tmp_path / "out")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
    assert child.returncode == 130
    assert not list((tmp_path / "out").iterdir())


def test_a_kill_leaves_the_old_file_and_at_most_a_hidden_one(tmp_path: Path, large: Path) -> None:
    (tmp_path / "out").mkdir()
    old = tmp_path / "out" / "model.ckpt"
    old.write_bytes(b"mine")
    with converting(large, old, "--force") as child:
        wait_for_a_part(child, old.parent)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=30)
    assert old.read_bytes() == b"mine"
    left = [one for one in old.parent.iterdir() if one != old]
    assert len(left) <= 1
    assert all(one.name.startswith(".") and one.name.endswith(".part") for one in left)
    # What a killed one left is in nobody's way.
    write_sparse(large, 1 << 20)
    with converting(large, old, "--force") as child:
        child.communicate(timeout=30)
    assert child.returncode == 0
    assert old.stat().st_size > 1 << 20


@pytest.mark.parametrize("to", FORMATS)
def test_a_source_that_is_cut_short_meanwhile_is_told(tmp_path: Path, large: Path, to: str) -> None:
    (tmp_path / "out").mkdir()
    with converting(large, tmp_path / "out" / f"model.{to}") as child:
        wait_for_a_part(child, tmp_path / "out")
        os.truncate(large, 1 << 20)
        output, complaint = child.communicate(timeout=60)
    assert (child.returncode, output) == (2, ""), complaint
    assert complaint.count("\n") == 1
    assert "large.safetensors" in complaint
    assert "cut short" in complaint
    assert not list((tmp_path / "out").iterdir())


def test_progress_is_shown_in_a_terminal(tmp_path: Path, large: Path) -> None:
    terminal, end = pty.openpty()
    (tmp_path / "out").mkdir()
    with converting(large, tmp_path / "out" / "model.npz", stderr=end) as child:
        os.close(end)
        shown = b""
        until = time.monotonic() + 60
        while b"GB/s" not in shown and child.poll() is None and time.monotonic() < until:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=30)
    os.close(terminal)
    assert b"converting: " in shown
    assert b"GB/s" in shown
    assert (child.returncode, output) == (130, "")
    assert not list((tmp_path / "out").iterdir())


def test_no_progress_is_shown_in_a_file(tmp_path: Path) -> None:
    source = write_sparse(tmp_path / "small.safetensors", 1 << 20)
    with converting(source, tmp_path / "model.npz") as child:
        _, complaint = child.communicate(timeout=60)
    assert (child.returncode, complaint) == (0, "")
