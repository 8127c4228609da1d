"""Rank against rank: the rank that differs is named, and speaks for the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compare.made_runs import activations, keys_of, off_by

from trueline.compare.report.ranks import ranks_report, ranks_result
from trueline.compare.report.tables import View
from trueline.compare.runs import compare_ranks
from trueline.formats.run_folder.reader import Run, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key
from trueline.model.run import RunInfo
from trueline.model.trouble import BadUsage


def make_job(folder: Path, ranks: int, wrong: int | None = None, *, spread: bool = False) -> Run:
    """A job of several ranks, one of them with another layer; ``spread`` gives all of them other gradients."""
    for rank in range(ranks):
        writer = RankWriter(folder, rank)
        writer.write_info(RunInfo(id=folder.name, framework="torch", world=ranks))
        writer.write_params([])
        writer.write_modules([], [])
        values = activations(rank)
        if rank == wrong:
            values = {name: off_by(array, 0.1) if name == "fc" else array for name, array in values.items()}
        common = {"step": 0, "phase": "train", "t": 0.0}
        events = [{"event": "loss", "value": 1.0 + rank, **common}, {"event": "end", "seconds": 1.0, **common}]
        gradient = np.arange(8, dtype=np.float32) * (2 if spread else 1)
        tensors = keys_of(values) | {Key.of("conv", "grad", "weight"): gradient}
        writer.finish_step(0, "train", events, tensors=tensors)
        writer.close()
    return open_run(folder)


def test_the_one_rank_that_differs_is_named(tmp_path: Path) -> None:
    compared = compare_ranks(make_job(tmp_path / "a", 4, wrong=2), make_job(tmp_path / "b", 4))
    found = ranks_result(compared, View()).to_json("en")
    assert [one["verdict"] for one in found["ranks"]] == ["equal", "equal", "differs", "equal"]
    assert found["first"]["key"] == "train/fc#0/out/0" and found["findings"][0]["where"]["rank"] == 2
    named = next(one for one in found["findings"] if one["code"] == "cmp.12")
    assert "only these differ: 2" in named["message"]


def test_the_rank_that_differs_first_speaks(tmp_path: Path) -> None:
    """Through common gradients the fault of one reaches all: their first difference comes later."""
    a, b = make_job(tmp_path / "a", 3, wrong=2, spread=True), make_job(tmp_path / "b", 3)
    found = ranks_result(compare_ranks(a, b), View()).to_json("en")
    assert [one["verdict"] for one in found["ranks"]] == ["differs"] * 3
    assert found["first"]["key"] == "train/fc#0/out/0" and found["findings"][0]["where"]["rank"] == 2
    assert any(one["code"] == "cmp.12" and "only these differ: 2" in one["message"] for one in found["findings"])


def test_all_ranks_alike_name_none(tmp_path: Path) -> None:
    a, b = make_job(tmp_path / "a", 2), make_job(tmp_path / "b", 2)
    found = ranks_result(compare_ranks(a, b), View()).to_json("en")
    assert found["verdict"] == "equal" and found["findings"] == []


def test_ranks_that_only_one_run_has_are_mentioned(tmp_path: Path) -> None:
    a, b = make_job(tmp_path / "a", 1), make_job(tmp_path / "b", 3)
    page = ranks_report(compare_ranks(a, b), View())
    assert any(
        "Only b has these ranks, which were not compared: 1, 2" in str(getattr(x, "message", "")) for x in page.blocks
    )


def test_one_rank_can_be_asked_for(tmp_path: Path) -> None:
    a, b = make_job(tmp_path / "a", 2, wrong=1), make_job(tmp_path / "b", 2)
    assert not compare_ranks(a, b, 0)[0].differs
    assert compare_ranks(a, b, 1)[1].differs
    with pytest.raises(BadUsage, match="no rank 7"):
        compare_ranks(a, b, 7)
