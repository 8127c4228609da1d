"""A line of a known event that does not hold what the event holds is damage, told with its number."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from formats.run_folder.made_run import write_run

from trueline.formats.run_folder.event_shapes import SHAPES
from trueline.formats.run_folder.reader import open_run
from trueline.model.events import KINDS, EventName, StepEvent, UnknownEvent
from trueline.model.location import Location
from trueline.model.trouble import BadFile

WRONG: dict[str, dict[str, Any]] = {
    "a loss that is a word": {"event": "loss", "value": "high"},
    "a loss that is true": {"event": "loss", "value": True},
    "a loss beyond every float": {"event": "loss", "value": 10**400},
    "a time that is a bool": {"event": "end", "t": False},
    "a step that lacks its optimizer": {"event": "step", "lr": [0.1], "skipped": False},
    "rates that are no list": {"event": "step", "optimizer": 0, "lr": 0.1, "skipped": False},
    "names that are numbers": {"event": "weights", "fingerprints": {"w": 1}, "shared": []},
    "a batch of minus one": {"event": "batch", "samples": {"size": -1, "fields": []}},
    "a summary without its mean": {
        "event": "input",
        "module": "",
        "fields": [{"name": "0", "shape": [1], "dtype": "float32", "summary": {"count": 1}}],
    },
    "a line without its file": {"event": "loss", "value": 1.0, "line": {"line": 3}},
}


def _with(folder: Path, event: dict[str, Any]) -> Path:
    write_run(folder, 3)
    events = folder / "rank-00000/events.jsonl"
    first = json.dumps({"step": 0, "phase": "train", **event})
    events.write_text(first + "\n" + events.read_text("utf-8"), "utf-8")
    return folder


@pytest.mark.parametrize("case", WRONG)
def test_it_is_refused_with_its_line(tmp_path: Path, case: str) -> None:
    run = open_run(_with(tmp_path, WRONG[case]))
    with pytest.raises(BadFile, match=r"events.jsonl: line 1 "):
        list(run.rank().events())


@pytest.mark.parametrize(
    "event",
    [
        {"event": "step", "optimizer": 0, "lr": [None, "0.1", 1, "inf"], "skipped": False, "grad_norm": "nan"},
        {"event": "loss", "value": "-inf", "of_a_later_version": [1]},
        {"event": "of_a_later_version", "value": True},
    ],
)
def test_what_an_optimizer_was_given_and_what_later_versions_add_is_kept_as_written(
    tmp_path: Path, event: dict[str, Any]
) -> None:
    read = next(open_run(_with(tmp_path, event)).rank().events())
    assert read.to_json() == {"step": 0, "phase": "train", **event}


def test_an_event_has_the_types_of_its_kind_and_none_for_what_was_not_written(tmp_path: Path) -> None:
    event = {
        "event": "step",
        "t": 0.5,
        "line": {"file": "train.py", "line": 7},
        "optimizer": 1,
        "lr": [0.1, "warmup"],
        "skipped": True,
        "grad_norm": "inf",
    }
    (read,) = list(open_run(_with(tmp_path, event)).rank().events(StepEvent, step=0, phase="train"))[:1]
    assert read == StepEvent(
        step=0,
        phase="train",
        t=0.5,
        line=Location("train.py", 7),
        written={},
        optimizer=1,
        kind=None,
        lr=[0.1, "warmup"],
        grad_norm=math.inf,
        skipped=True,
        uncleared=None,
        backwards=None,
        factor=None,
    )
    assert (read.name, read.to_json()["grad_norm"]) == ("step", "inf")


def test_an_event_of_a_later_version_says_what_all_events_say(tmp_path: Path) -> None:
    read = next(open_run(_with(tmp_path, {"event": "of_a_later_version", "t": "soon"})).rank().events())
    assert isinstance(read, UnknownEvent)
    assert (read.name, read.step, read.phase, read.t) == ("of_a_later_version", 0, "train", None)


def test_every_event_has_its_shape() -> None:
    assert set(SHAPES) == set(KINDS) == set(EventName)
