"""MindSpore's own dump in graph mode, from its settings to Keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapters.mindspore.programs import run_program

from trueline.adapters.mindspore import graph_dump
from trueline.formats.ms_dump import read_ms_dump
from trueline.model.key import Kind
from trueline.model.steps import Steps


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [("all", "all"), ("0", "0"), ("2:5", "2-4"), ("0,7", "0|7"), ("0:6:2", "0|2|4"), ("3:", f"3-{2**31 - 1}")],
)
def test_steps_are_written_as_mindspore_wants_them(tmp_path: Path, steps: str, wanted: str) -> None:
    variables = graph_dump.prepare(tmp_path / "new", Steps.parse(steps))
    settings = json.loads(Path(variables["MINDSPORE_DUMP_CONFIG"]).read_text("utf-8"))
    assert settings["common_dump_settings"]["iteration"] == wanted
    assert Path(settings["common_dump_settings"]["path"]).is_absolute()


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[float], list[tuple[int, str, Any, str]]]:
    folder = tmp_path_factory.mktemp("dump")
    losses = run_program("graph_dump", str(folder / "here"), "1,3:", cwd=folder)
    dump = read_ms_dump(folder / "here" / graph_dump.DUMP)
    return losses, [
        (step, str(one.key), one.stored.array(), one.type)
        for (step, _), tensors in dump.steps.items()
        for one in tensors
        if one.stored is not None and one.key.kind in (Kind.OUT, Kind.GIN)
    ]


def test_only_the_chosen_steps_are_dumped(dumped: Any) -> None:
    assert sorted({step for step, _, _, _ in dumped[1]}) == [1, 3]


def test_a_cell_s_output_has_the_key_that_it_has_in_pynative(dumped: Any) -> None:
    forward = [key for step, key, _, _ in dumped[1] if step == 1 and key.endswith("/out/0") and "_loss_fn" not in key]
    assert forward == [
        *("train/body.first#0/out/0", "train/body.norm#0/out/0", "train/body.act#0/out/0"),
        *("train/body.act#1/out/0", "train/last#0/out/0"),
    ]


def test_dumped_values_are_those_of_the_training(dumped: Any) -> None:
    losses, found = dumped
    arrays = {(step, key): array for step, key, array, _ in found}
    for step in (1, 3):
        assert float(arrays[step, "train/_loss_fn#0/out/0"]) == pytest.approx(losses[step], rel=1e-6)
        act = arrays[step, "train/body.act#0/out/0"]
        np.testing.assert_array_equal(act, np.maximum(arrays[step, "train/body.norm#0/out/0"], 0))


def test_every_dumped_key_is_told_once_in_a_step(dumped: Any) -> None:
    keys = [(step, key) for step, key, _, _ in dumped[1]]
    assert len(set(keys)) == len(keys)
    assert any(key.startswith("train/last#0/gin/MatMul") for _, key in keys)
