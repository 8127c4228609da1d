"""What is written is read back, while it is being written and afterwards."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from formats.run_folder.made_run import (
    INFO,
    SMALL,
    SOURCE,
    check_prefix,
    describe,
    finish,
    made_stats,
    same_summaries,
    schedule,
    write_run,
)

from trueline.formats.run_folder.layout import Limits
from trueline.formats.run_folder.reader import find_runs, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.events import EndEvent, LossEvent, UnknownEvent
from trueline.model.key import Key
from trueline.model.run import RunInfo
from trueline.model.summary import Summary
from trueline.model.trouble import BadUsage


def test_a_run_can_be_read_after_every_step(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path / "run", limits=SMALL)
    describe(writer)
    for done, (phase, step) in enumerate(schedule(40), 1):
        finish(writer, phase, step)
        assert check_prefix(tmp_path / "run") == done
    writer.close()
    assert check_prefix(tmp_path / "run") == len(schedule(40))
    assert not (tmp_path / "run/rank-00000/stats-tail.bin").exists()


def test_what_a_run_says_about_itself(tmp_path: Path) -> None:
    write_run(tmp_path / "run", 3)
    run = open_run(str(tmp_path / "run"))
    assert run.info == INFO
    assert list(run.ranks) == [0]
    rank = run.rank()
    assert rank.params[0].name == "conv.weight"
    assert rank.params[0].shape == (2, 3)
    assert rank.params[0].initial == made_stats("train", 2)[0][1]
    assert rank.modules[0].built_at is not None
    assert rank.modules[0].built_at.line == 7
    assert rank.modules[0].arguments == {"bias": False}
    assert [list(one.feeds_from) for one in rank.calls] == [[], [0]]


def test_the_end_of_a_run_replaces_its_beginning(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path)
    writer.write_info(RunInfo("one", hyper={"lr": math.inf}))
    writer.write_info(RunInfo("one", ended="later", exit_code=3))
    assert open_run(tmp_path).info.exit_code == 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["rank-00000", "run.json"]


def test_sources_are_kept_once_by_their_hash(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path)
    writer.write_info(INFO)
    first = writer.write_source(SOURCE)
    assert writer.write_source(SOURCE) == first
    run = open_run(tmp_path)
    assert run.source(first) == ["import numpy", "", "print('made up')"]
    assert run.source("0" * 64) is None


def test_files_are_valid_json_whatever_the_numbers_and_names(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path)
    writer.write_info(RunInfo("one", argv=("caf\udce9.py",), seeds={"big": 1 << 80}))
    numbers = [math.nan, math.inf, -math.inf, np.float32(0.5), np.int64(3), np.float64("nan")]
    writer.finish_step(0, "train", [{"event": "numbers", "values": numbers}, {"event": "end"}])

    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    for line in (tmp_path / "rank-00000/events.jsonl").read_text("utf-8").splitlines():
        json.loads(line, parse_constant=refuse)
    json.loads((tmp_path / "run.json").read_text("utf-8"), parse_constant=refuse)
    event = next(open_run(tmp_path).rank().events())
    assert isinstance(event, UnknownEvent)
    assert event.to_json()["values"] == ["nan", "inf", "-inf", 0.5, 3, "nan"]


def test_events_are_chosen_by_kind_phase_and_step(tmp_path: Path) -> None:
    write_run(tmp_path, 12)
    rank = open_run(tmp_path).rank()
    assert [loss.phase for loss in rank.events(LossEvent, step=1)] == ["train", "eval"]
    assert [end.step for end in rank.events(EndEvent, phase="eval")] == [0, 1, 2]
    assert {event.name for event in rank.events(phase="train", step=4)} == {"loss", "step", "end"}
    assert [type(event) for event in rank.events(LossEvent, EndEvent, phase="eval", step=1)] == [LossEvent, EndEvent]
    assert list(rank.events(step=99)) == []


def test_curves(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path)
    for step in range(3):
        norm = None if step == 1 else math.inf
        events = [
            {"event": "scale", "value": 1024.0},
            {"event": "loss", "value": math.nan if step == 2 else 1.0, "micro": 0},
            {"event": "loss", "value": 3.0, "micro": 1},
            {"event": "step", "optimizer": 1, "lr": [9.0], "grad_norm": 9.0, "skipped": False},
            {"event": "step", "optimizer": 0, "lr": [0.1 * step, 5.0], "grad_norm": norm, "skipped": False},
            {"event": "end", "seconds": 0.5},
        ]
        writer.finish_step(step, "train", events)
    rank = open_run(tmp_path).rank()
    loss = rank.curve("loss")
    assert list(loss.steps) == [0, 1, 2]
    assert list(loss.values[:2]) == [1.0, 1.0], "a step's first loss, where there are several"
    assert math.isnan(loss.values[2])
    assert list(rank.curve("lr").values) == [0.0, 0.1, 0.2]
    assert list(rank.curve("grad_norm").steps) == [0, 2]
    assert list(rank.curve("scale").values) == [1024.0] * 3
    assert list(rank.curve("seconds").values) == [0.5] * 3
    assert len(rank.curve("loss", "eval")) == 0
    with pytest.raises(ValueError, match="grad_norm"):
        rank.curve("accuracy")


def test_many_steps_stay_a_handful_of_files(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path, limits=Limits(block_steps=16, segment_bytes=200_000))
    stats = made_stats("train", 1)
    for step in range(1000):
        writer.finish_step(step, "train", [{"event": "end"}], stats)
    writer.close()
    names = sorted(one.name for one in (tmp_path / "rank-00000").iterdir())
    assert names == ["events.jsonl", "names.jsonl", "stats-0000.bin", "stats-0001.bin", "stats-0002.bin"]
    assert open_run(tmp_path).rank().history(stats[0][0])["step"].tolist() == list(range(1000))


def test_a_history_of_steps_out_of_order_is_put_in_order(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path, limits=SMALL)
    key, summary = made_stats("train", 0)[0]
    for step in (5, 3, 9, 1, 7, 2, 8, 4):
        writer.finish_step(step, "train", [{"event": "end"}], [(key, summary)])
    assert open_run(tmp_path).rank().history(key)["step"].tolist() == [1, 2, 3, 4, 5, 7, 8, 9]


def test_a_key_given_twice_in_a_step_counts_once(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path)
    key, first = made_stats("train", 0)[0]
    _, second = made_stats("train", 4)[0]
    writer.finish_step(0, "train", [{"event": "end"}], [(key, first), (key, second)])
    rank = open_run(tmp_path).rank()
    assert same_summaries(rank.stats(0), {key: second})
    assert len(rank.history(key)) == 1


def test_the_fields_of_a_history_are_those_of_a_summary(tmp_path: Path) -> None:
    write_run(tmp_path, 5)
    rank = open_run(tmp_path).rank()
    history = rank.history(rank.keys[0])
    assert history.dtype.names == ("step", *Summary.__slots__)
    assert history["fingerprint"].dtype == np.uint64
    assert len(rank.history(Key.of("never", "out"))) == 0


def test_a_folder_with_a_recording_is_not_written_into_again(tmp_path: Path) -> None:
    write_run(tmp_path, 2)
    with pytest.raises(BadUsage, match="rank 0"):
        RankWriter(tmp_path)
    assert check_prefix(tmp_path) == 2


def test_ranks_of_one_run_join_and_those_of_another_do_not(tmp_path: Path) -> None:
    for rank in (0, 3):
        writer = RankWriter(tmp_path, rank)
        writer.write_info(INFO)
        finish(writer, "train", 0)
    stranger = RankWriter(tmp_path, 1)
    with pytest.raises(BadUsage, match="another run"):
        stranger.write_info(RunInfo("someone else"))
    run = open_run(tmp_path)
    assert list(run.ranks) == [0, 3]
    assert run.rank(3).finished == 1


def test_runs_are_found_below_a_folder(tmp_path: Path) -> None:
    for name in ("b", "a", "deep/down/c"):
        RankWriter(tmp_path / name).write_info(INFO)
    (tmp_path / "other/files").mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find_runs(tmp_path) == [tmp_path / "a", tmp_path / "b", tmp_path / "deep/down/c"]
    assert find_runs(tmp_path / "a") == [tmp_path / "a"]
