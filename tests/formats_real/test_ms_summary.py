"""MindSpore's summary files, written by SummaryRecord and SummaryCollector."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from trueline.formats.event_file import event_version
from trueline.formats.ms_summary import read_ms_summary
from trueline.formats.tensorboard import read_tensorboard
from trueline.model.trouble import BadFile


def _curves(path: Path) -> dict[str, tuple[list[int], list[float]]]:
    return {one.name: (list(one.steps), list(one.values)) for one in read_ms_summary(path)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("summary")
    with ms.SummaryRecord(str(folder)) as record:
        for step in range(20):
            record.add_value("scalar", "loss", ms.Tensor(1 / (step + 1), ms.float32))
            record.add_value("scalar", "精度/top1", ms.Tensor(step, ms.int32))
            record.add_value("tensor", "t", ms.Tensor(np.ones((2, 3), np.float32)))
            record.add_value("histogram", "h", ms.Tensor(np.ones((2, 3), np.float32)))
            record.record(step * 10)
    return folder


def test_every_scalar_of_a_record(recorded: Path) -> None:
    (file,) = recorded.glob("*_MS")
    for path in (recorded, file):
        found = _curves(path)
        assert set(found) == {"loss", "精度/top1"}
        assert found["loss"][0] == [step * 10 for step in range(20)]
        assert found["loss"][1] == pytest.approx([1 / (step + 1) for step in range(20)], rel=1e-7)
    assert event_version(file.read_bytes()[:4096]) == "MindSpore.Event:1"


def test_a_collector_s_loss_is_there(tmp_path: Path) -> None:
    net = nn.Dense(8, 4)
    losses: list[float] = []

    class Keep(ms.train.Callback):
        def on_train_step_end(self, run_context: Any) -> None:
            losses.append(float(run_context.original_args().net_outputs.asnumpy()))

    def rows() -> Any:
        for at in range(12):
            yield np.full(8, at, np.float32), np.int32(at % 4)

    data = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(4)
    model = ms.train.Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    collector = ms.SummaryCollector(str(tmp_path / "summary"), collect_freq=1)
    model.train(2, data, callbacks=[Keep(), collector], dataset_sink_mode=False)
    assert _curves(tmp_path / "summary")["loss/auto"] == (list(range(1, 7)), losses)


def test_ranks_in_one_folder_are_told_apart(recorded: Path, tmp_path: Path) -> None:
    (file,) = recorded.glob("*_MS")
    for rank in (0, 1):
        name = f"events.out.events.summary.1700000000.{rank}.host_MS"
        (tmp_path / name).write_bytes(file.read_bytes())
    assert set(_curves(tmp_path)) == {"loss", "精度/top1", "rank_1/loss", "rank_1/精度/top1"}


def test_each_tool_s_files_are_refused_by_the_other_s_reader(recorded: Path, tmp_path: Path) -> None:
    (file,) = recorded.glob("*_MS")
    with pytest.raises(BadFile, match="TensorBoard"):
        read_tensorboard(file)
    with pytest.raises(BadFile, match="no event file of MindSpore"):
        read_ms_summary(tmp_path)


def test_cut_files_give_what_is_whole_and_damaged_ones_one_clear_line(recorded: Path, tmp_path: Path) -> None:
    (file,) = recorded.glob("*_MS")
    data = file.read_bytes()
    path = tmp_path / "cut"
    rng = random.Random(0)
    for _ in range(50):
        path.write_bytes(data[: rng.randrange(len(data))])
        for one in read_ms_summary(path):
            assert list(one.steps) == [step * 10 for step in range(len(one))]
    for _ in range(100):
        changed = bytearray(data)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(changed))
        with pytest.raises(BadFile) as caught:
            read_ms_summary(path)
        assert "\n" not in str(caught.value)
