"""What a process with an experiment in it tells, and what is read of it."""

from __future__ import annotations

import io
import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest

from trueline.record.run_mode import VARIABLE, Experiment, RunMode
from trueline.tune.child.lines import Stamped
from trueline.tune.child.teller import Teller
from trueline.tune.logged import accuracy_of, higher_is_better, logged_curves
from trueline.tune.told import Listener, updates


def test_what_is_told_is_read_while_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    listener = Listener(path)
    assert listener.more() == []
    teller = Teller(str(path))
    teller.tell("update", step=0, loss=math.nan, losses=1, skipped=False, t=0.5)
    with path.open("a") as file:
        file.write('{"told": "cut off')
    (word,) = listener.more()
    (update,) = updates([word])
    assert (update.step, update.skipped) == (0, False)
    assert update.loss is not None
    assert math.isnan(update.loss)
    with path.open("a") as file:
        file.write('"}\n[1]\nnonsense\n{"told": "enough"}\n')
    assert [one["told"] for one in listener.more()] == ["cut off", "enough"]


def test_printed_lines_are_told_whole_and_written_as_they_are() -> None:
    stream, told = io.StringIO(), list[str]()
    stamped = Stamped(stream, told.append)
    for part in ("step 1 ", "loss 0.5\nst", "ep 2 loss 0.4\n\n", "10%|#\r20%|##\r", "no end"):
        assert stamped.write(part) == len(part)
    assert told == ["step 1 loss 0.5", "step 2 loss 0.4", "10%|#", "20%|##"]
    assert stream.getvalue() == "step 1 loss 0.5\nstep 2 loss 0.4\n\n10%|#\r20%|##\rno end"
    assert stamped.getvalue() == stream.getvalue()


def test_metrics_are_read_from_what_is_printed_by_the_updates_before() -> None:
    lines = [(1, "step 0 loss 2.3 acc 0.1"), (2, "loss 2.1 acc 0.2"), (2, "loss 2.0 acc 0.25"), (5, "val acc 0.5")]
    words = [{"told": "line", "step": step, "text": text} for step, text in lines]
    curves = {one.name: (one.steps, one.values) for one in logged_curves(words)}
    assert curves["acc"] == ([1, 2], [0.1, 0.25])
    assert curves["val_acc"] == ([5], [0.5])
    found = accuracy_of(logged_curves(words), 2)
    assert found is not None
    assert found.name == "acc"
    assert accuracy_of(logged_curves(words), 3) is None


@pytest.mark.parametrize(("name", "higher"), [("acc", True), ("val_acc", True), ("top1", True), ("val_loss", False)])
def test_accuracies_are_known_by_their_names(name: str, higher: bool) -> None:
    assert higher_is_better(name) is higher


def test_an_experiment_goes_through_the_environment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Experiment("rates", 100, {"from": None, "shape": "exp"}, "told.jsonl")
    text = RunMode(experiment=asked).environment()[VARIABLE]
    assert json.loads(text) == {"experiment": asdict(asked)}
    monkeypatch.setenv(VARIABLE, text)
    monkeypatch.setattr("trueline.record.run_mode.end_with_parent", lambda: None)
    assert RunMode.of_process() == RunMode(experiment=asked)
    # What the script starts itself runs as usual.
    assert RunMode.of_process() == RunMode()
