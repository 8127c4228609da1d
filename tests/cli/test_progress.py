"""The line that says how far long work has come."""

from __future__ import annotations

import io
import sys

import pytest

from trueline.cli.progress import StepsLine
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
