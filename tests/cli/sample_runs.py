"""Small recorded runs, made with the real writer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key, Kind
from trueline.model.location import Location
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo, RunInfo
from trueline.model.summary import Summary


def summary(values: Any) -> Summary:
    """A tensor's numbers, computed plainly."""
    array = np.asarray(values, np.float64)
    finite = array[np.isfinite(array)]
    some = finite if finite.size else np.zeros(1)
    return Summary(
        array.size,
        int(np.isnan(array).sum()),
        int(np.isposinf(array).sum()),
        int(np.isneginf(array).sum()),
        int((array == 0).sum()),
        float(some.min()),
        float(some.max()),
        float(some.mean()),
        float(abs(some).mean()),
        float(some.std()),
        float(np.sqrt((some**2).sum())),
        7,
    )


def info(**changes: Any) -> RunInfo:
    """The circumstances of a finished torch run, with changes."""
    plain: dict[str, Any] = {
        "id": "run-1",
        "argv": ["train.py", "--lr", "0.1"],
        "cwd": "/home/user/project",
        "started": "2026-01-02T03:04:05+00:00",
        "ended": "2026-01-02T03:05:10+00:00",
        "exit_code": 0,
        "framework": "torch",
        "versions": {"torch": "2.13.0", "numpy": "1.26.4"},
        "device": "cpu",
        "precision": "float32",
        "seeds": {"torch": 3},
    }
    return RunInfo(**{**plain, **changes})


def losses(steps: int) -> list[float]:
    """A falling loss."""
    return [2.5 * math.exp(-step / 10) for step in range(steps)]


def step_events(step: int, loss: float, optimizer: str = "SGD") -> list[dict[str, Any]]:
    """The events of a plain training step."""
    at = step * 0.5
    samples = {"size": 4, "fields": [{"name": "image", "dtype": "float32", "shape": [1, 8, 8]}], "indexes": None}
    events: list[dict[str, Any]] = [
        {"event": "batch", "t": at, "source": "loader", "loader": 0, "samples": samples},
        {"event": "zero_grad", "t": at, "optimizer": 0},
        {"event": "loss", "t": at, "value": loss, "micro": 0, "index": 0, "source": "backward"},
        {"event": "backward", "t": at, "micro": 0},
        {
            "event": "step",
            "t": at,
            "optimizer": 0,
            "kind": optimizer,
            "lr": [0.1 / (1 + step)],
            "grad_norm": loss * 2,
            "skipped": False,
        },
    ]
    seconds = 2.0 if step == 3 else 0.25
    return [*events, {"event": "end", "t": at + 0.4, "seconds": seconds}]


def record(
    folder: Path,
    loss: list[float],
    *,
    about: RunInfo | None = None,
    ranks: int = 1,
    network: bool = True,
    strange: bool = False,
) -> Path:
    """A run folder with these losses."""
    for rank in range(ranks):
        writer = RankWriter(folder, rank)
        writer.write_info(about or info(world=ranks))
        if network:
            writer.write_params(PARAMS)
            writer.write_modules(MODULES, CALLS)
        for step, value in enumerate(loss):
            stats = statistics(step, strange) if network else []
            events = step_events(step, value)
            if step == 0 and network:
                notice = {"event": "notice", "t": 0.0, "message_id": "run_folder.tensor_left_out"}
                events.insert(0, {**notice, "params": {"key": "train/fft#0/out/0", "dtype": "complex128"}})
            writer.finish_step(step, "train", events, stats)
        writer.close()
    return folder


def statistics(step: int, strange: bool) -> list[tuple[Key, Summary]]:
    """An output that may blow up, a gradient that may vanish, and a weight that jumps once."""
    out = [1.0, math.inf if strange and step >= 4 else 2.0, 0.5]
    grad = [0.0, 0.0] if strange else [0.1, -0.2]
    weight = [300.0, 300.0] if strange and step == 5 else [1.0, -1.0]
    return [
        (Key.of("conv1", Kind.OUT), summary(out)),
        (Key.of_parameter("conv1.weight", Kind.GRAD), summary(grad)),
        (Key.of_parameter("fc.weight", Kind.PARAM), summary(weight)),
    ]


PARAMS = [
    ParamInfo("conv1.weight", (4, 1, 3, 3), "float32", True, optimizer=0, group=0),
    ParamInfo("fc.weight", (10, 4), "float32", True, optimizer=0, group=0),
    ParamInfo("fc.bias", (10,), "float32", True),
    ParamInfo("embed.weight", (5, 4), "float32", False),
    ParamInfo("tied.weight", (10, 4), "float32", True, shared_with="fc.weight"),
    ParamInfo("norm.running_mean", (4,), "float32", False, buffer=True),
]
MODULES = [
    ModuleInfo("", "Net", built_at=Location("train.py", 40)),
    ModuleInfo("fc", "Linear", built_at=Location("model.py", 12)),
    ModuleInfo("conv1", "Conv2d", built_at=Location("model.py", 11)),
    ModuleInfo("unused", "Linear", built_at=Location("model.py", 13)),
]
CALLS = [
    CallInfo("", 0, "train"),
    CallInfo("conv1", 0, "train"),
    CallInfo("fc", 0, "train", feeds_from=(1,)),
    CallInfo("fc", 1, "train", feeds_from=(2,)),
]
