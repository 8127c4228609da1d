"""The line that says how far long work has come."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from trueline.cli.progress import StepsLine, WaitLine, doing
from trueline.model.message import message


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_steps_are_drawn_in_a_terminal_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = StepsLine()
    said = message("tune_lr.progress", rate="0.1", loss="2.3", number=1, runs=1)
    line.show(1, 4, said)
    line.show(4, 4, said)
    line.wipe()
    first, second, last = terminal.getvalue().split("\r\x1b[K")[1:]
    assert "1/4" in first
    assert "4/4" in second
    assert second.count("█") == 4 * first.count("█")
    assert last == ""


def test_nothing_is_drawn_elsewhere_or_when_quiet_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    said = message("tune_lr.progress", rate="0.1", loss="2.3", number=1, runs=1)
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        line = StepsLine(quiet=quiet)
        line.show(4, 4, said)
        line.wipe()
        assert stream.getvalue() == ""


def test_what_is_going_on_is_told_with_the_time_it_takes_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with doing(lambda what: message(f"pair.doing_{what}")) as tell:
        tell("building")
        WaitLine().show("bench net:build", 21.0, 600.0)
        WaitLine().wipe()
        tell("data")
    building, waiting, data, last = terminal.getvalue().split("\r\x1b[K")[1:]
    assert building.startswith("0:0") and "building both networks" in building
    assert "bench net:build" in waiting
    assert "data" in data
    assert last == ""
    before = threading.active_count()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with doing(lambda what: message(f"pair.doing_{what}")) as tell:
        tell("building")
        assert threading.active_count() == before
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
