"""A made-up run whose every number follows from its step, so that what is read back can be judged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from trueline.formats.run_folder.layout import Limits
from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.events import EndEvent
from trueline.model.key import Key
from trueline.model.location import Location
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo, RunInfo
from trueline.model.summary import Summary

SMALL = Limits(block_steps=7, block_bytes=1 << 20, segment_bytes=12_000)
INFO = RunInfo(id="made-up", argv=("train.py", "--lr", "0.1"), framework="numpy", versions={"numpy": "1"})
SOURCE = b"import numpy\n\nprint('made up')\n"

Step = tuple[str, int]


def schedule(length: int) -> list[Step]:
    """Training steps from 0, with an evaluation step, counted on its own, after every fourth."""
    steps: list[Step] = []
    for step in range(length):
        steps.append(("train", step))
        if step % 4 == 3:
            steps.append(("eval", step // 4))
    return steps


def made_stats(phase: str, step: int) -> list[tuple[Key, Summary]]:
    """Keys come and go; the order changes from step to step; one number in seven is not finite."""
    found = [
        (
            Key.of(f"layer{layer}/a#b", "out", phase=phase),
            Summary(
                count=100 + layer,
                nan=step % 3,
                pos_inf=0,
                neg_inf=1,
                zeros=step,
                minimum=-1.0 * layer,
                maximum=math.inf if (step + layer) % 7 == 0 else float(step),
                mean=math.nan if (step + layer) % 7 == 3 else step / 3,
                abs_mean=0.1,
                std=float(layer),
                l2=float(step * layer),
                fingerprint=(1 << 64) - 1 - step * 1000 - layer,
            ),
        )
        for layer in range(6)
        if layer < 2 or (step + layer) % 5 != 0
    ]
    return found[::-1] if step % 2 else found


def made_events(phase: str, step: int) -> list[dict[str, Any]]:
    """A loss that is NaN now and then, and the end."""
    value = "nan" if step % 9 == 8 else 1.0 / (step + 1)
    events: list[dict[str, Any]] = [
        {"event": "loss", "step": step, "phase": phase, "t": step * 0.5, "value": value, "micro": 0, "index": 0}
    ]
    if phase == "train":
        events.append(
            {
                "event": "step",
                "step": step,
                "phase": phase,
                "optimizer": 0,
                "lr": [0.1, 0.2],
                "grad_norm": 2.0,
                "skipped": False,
            }
        )
    return [*events, {"event": "end", "step": step, "phase": phase, "t": step * 0.5 + 0.4, "seconds": 0.25}]


def made_tensors(phase: str, step: int) -> dict[Key, Any]:
    """Full tensors at every fifth step."""
    if step % 5 != 0:
        return {}
    return {
        Key.of("flag", "out", phase=phase): np.array([True, step % 2 == 0, False]),
        Key.of("conv", "out", phase=phase): np.full((2, 3), step, np.float32),
        Key.of("head", "out", phase=phase): np.arange(step, step + 5).astype(ml_dtypes.bfloat16),
    }


def write_steps(writer: RankWriter, steps: list[Step]) -> None:
    """Finish the steps one after another."""
    for phase, step in steps:
        finish(writer, phase, step)


def finish(writer: RankWriter, phase: str, step: int) -> None:
    """Finish one step as it is made up."""
    events = [{**one, "value": math.nan} if one.get("value") == "nan" else one for one in made_events(phase, step)]
    writer.finish_step(step, phase, events, made_stats(phase, step), made_tensors(phase, step))


def write_run(folder: Path, length: int, *, close: bool = True) -> None:
    """A whole run with one of everything."""
    writer = RankWriter(folder, limits=SMALL)
    describe(writer)
    write_steps(writer, schedule(length))
    if close:
        writer.close()


def describe(writer: RankWriter) -> None:
    """What is written before the first step."""
    writer.write_info(INFO)
    writer.write_source(SOURCE)
    writer.write_params(
        [ParamInfo("conv.weight", (2, 3), "float32", True, optimizer=0, group=0, initial=made_stats("train", 2)[0][1])]
    )
    writer.write_modules(
        [ModuleInfo("conv", "Conv2d", {"stride": 2}, {"bias": False}, Location("net.py", 7))],
        [CallInfo("conv", 0, "train", Location("net.py", 20)), CallInfo("head", 0, "train", None, (0,))],
    )


def same_summaries(one: dict[Key, Summary], other: dict[Key, Summary]) -> bool:
    """Equal in content and order, NaN being equal to NaN."""
    return [(key, value.to_json()) for key, value in one.items()] == [
        (key, value.to_json()) for key, value in other.items()
    ]


def check_prefix(folder: Path) -> int:
    """Assert that the finished steps are the first ones, whole and with nothing besides; how many there are."""
    rank = open_run(folder).rank()
    ended = [(event.phase, event.step) for event in rank.events(EndEvent)]
    assert ended == schedule(len(ended))[: len(ended)]
    written = [event.to_json() for event in rank.events()]
    assert written == [event for phase, step in ended for event in made_events(phase, step)]
    assert rank.finished == sum(phase == "train" for phase, _ in ended)
    check_stats(rank, ended)
    expected = {key: array for phase, step in ended for key, array in made_tensors(phase, step).items()}
    assert list(rank.tensor_steps) == sorted({step for phase, step in ended if made_tensors(phase, step)})
    for step in rank.tensor_steps:
        expected = {
            key: array for phase, number in ended if number == step for key, array in made_tensors(phase, step).items()
        }
        read = rank.tensors(step)
        assert {str(key) for key in read} == {str(key) for key in expected}
        assert all(
            read[key].dtype == array.dtype and np.array_equal(read[key], array) for key, array in expected.items()
        )
    return len(ended)


def check_stats(rank: RankFolder, ended: list[Step]) -> None:
    """Assert that step by step and tensor by tensor the statistics are those of the finished steps."""
    by_key: dict[Key, list[tuple[int, Summary]]] = {}
    by_step: dict[int, dict[Key, Summary]] = {}
    for phase, step in ended:
        for key, summary in made_stats(phase, step):
            by_key.setdefault(key, []).append((step, summary))
            by_step.setdefault(step, {})[key] = summary
    assert set(rank.keys) == set(by_key)
    for step, expected in by_step.items():
        assert same_summaries(rank.stats(step), expected)
    for key, points in by_key.items():
        history = rank.history(key)
        assert history["step"].tolist() == [step for step, _ in points]
        read = [Summary(*row[1:]).to_json() for row in history.tolist()]
        assert read == [summary.to_json() for _, summary in points]


def read_everything(folder: Path) -> None:
    """Touch all that a run folder has to give."""
    run = open_run(folder)
    for number in run.ranks:
        rank = run.rank(number)
        _ = rank.params, rank.modules, rank.calls, rank.finished
        for _event in rank.events():
            pass
        for name in ("loss", "lr", "grad_norm", "scale", "seconds"):
            rank.curve(name)
            rank.curve(name, "eval")
        for key in rank.keys:
            rank.history(key)
        for step in range(40):
            rank.stats(step)
        for step in rank.tensor_steps:
            for array in rank.tensors(step).values():
                array.tobytes()
    for hash in run.info.sources.values():
        run.source(hash)
    for path in (folder / "sources").glob("*"):
        run.source(path.name)
