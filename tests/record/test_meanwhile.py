"""While the ranks of a launcher train, what is to be done meanwhile is done; its exit code stays its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.record import launchers
from trueline.record.wanted import Wanted


def test_it_is_done_while_the_launcher_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launchers, "_LOOK_EVERY", 0.05)
    looked: list[bool] = []
    ended = tmp_path / "ended"
    wanted = Wanted(tmp_path / "run")
    launched = launchers.run_launcher(
        "/bin/sh", ["-c", f"sleep 0.6; touch {ended}; exit 7"], wanted, lambda: looked.append(ended.exists())
    )
    assert launched.code == 7
    assert len(looked) >= 2 and not looked[0]


def test_nothing_is_to_be_done_by_default(tmp_path: Path) -> None:
    assert launchers.run_launcher("/bin/sh", ["-c", "exit 3"], Wanted(tmp_path / "run")).code == 3
