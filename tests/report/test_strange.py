from __future__ import annotations

import math
from pathlib import Path

import pytest
from cli.sample_runs import info, step_events, summary

from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key
from trueline.report.run import strange
from trueline.report.run.strange import Why, strangest


def recorded(folder: Path, tensors: dict[str, list[list[float]]], kind: str = "out") -> RankFolder:
    """A run in which each named tensor takes these values, one list per step."""
    writer = RankWriter(folder)
    writer.write_info(info())
    for step in range(max(len(values) for values in tensors.values())):
        stats = [(Key.of(name, kind), summary(values[step])) for name, values in tensors.items() if step < len(values)]
        writer.finish_step(step, "train", step_events(step, 1.0), stats)
    writer.close()
    return open_run(folder).rank(0)


def names(folder: RankFolder) -> list[tuple[str, Why, int]]:
    return [(one.key.module, one.why, one.step) for one in strangest(folder)[0]]


CALM = [[1.0, 2.0]] * 10


def test_non_finite_then_zero_then_far_from_its_history(tmp_path: Path) -> None:
    found = recorded(
        tmp_path / "run",
        {
            "calm": CALM,
            "tiny": [*CALM[:9], [1e-9, 1e-9]],
            "huge": [*CALM[:4], [50.0, 50.0], *CALM[5:]],
            "dead": [*CALM[:3], *([[0.0, 0.0]] * 7)],
            "late": [*CALM[:8], [math.inf, 1.0], [1.0, 1.0]],
            "early": [*CALM[:2], *([[math.nan, 1.0]] * 8)],
        },
    )
    assert names(found) == [
        ("early", Why.NON_FINITE, 2),
        ("late", Why.NON_FINITE, 8),
        ("dead", Why.ZERO, 3),
        ("tiny", Why.SMALL, 9),
        ("huge", Why.LARGE, 4),
    ]


def test_zeros_that_went_away_are_no_longer_strange(tmp_path: Path) -> None:
    assert names(recorded(tmp_path / "run", {"bias": [[0.0], *([[1.0]] * 9)]})) == []


def test_a_counter_is_meant_to_grow(tmp_path: Path) -> None:
    counter = {"norm": [[float(10**step)] for step in range(8)]}
    assert names(recorded(tmp_path / "run", counter, "buffer")) == []


def test_empty_tensors_and_short_histories_are_not_judged(tmp_path: Path) -> None:
    assert names(recorded(tmp_path / "run", {"empty": [[]] * 6, "short": [[1.0], [1000.0]]})) == []


def test_very_long_runs_are_sampled_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strange, "MAX_RECORDS", 100)
    values = [[1.0]] * 300 + [[math.nan]] * 100
    found, sampled = strangest(recorded(tmp_path / "run", {"calm": [[1.0]] * 400, "bad": values}))
    assert sampled
    assert [(one.key.module, one.why) for one in found] == [("bad", Why.NON_FINITE)]
    assert 300 <= found[0].step < 310
