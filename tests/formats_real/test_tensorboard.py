"""TensorBoard's event files, written by torch's SummaryWriter and by TensorBoard's own record writer."""

from __future__ import annotations

import math
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch.utils.tensorboard as torch_board

from trueline.formats.event_file import event_version, looks_like_events
from trueline.formats.tensorboard import read_tensorboard
from trueline.model.curve import Curve
from trueline.model.trouble import BadFile


def _curves(path: Path) -> dict[str, tuple[list[int], list[float]]]:
    return {one.name: (list(one.steps), list(one.values)) for one in read_tensorboard(path)}


def _only(folder: Path) -> Path:
    (found,) = folder.glob("*tfevents*")
    return found


@pytest.fixture
def written(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with torch_board.SummaryWriter(str(folder)) as writer:
        for step in range(50):
            writer.add_scalar("Loss/train", 1 / (step + 1), step)
            writer.add_scalar("精度", step * 2.0, step, new_style=True)
            writer.add_scalar("double", step / 3, step, double_precision=True)
            writer.add_scalar("plain/double", step / 3, step, new_style=True, double_precision=True)
            writer.add_histogram("weights", np.arange(100), step, bins=10)
            writer.add_text("note", "hello", step)
        writer.add_scalar("odd", math.nan, 0)
        writer.add_scalar("odd", math.inf, 1)
        writer.add_image("picture", np.zeros((3, 300, 300), np.uint8), 0)
    return folder


def test_every_scalar_and_nothing_else(written: Path) -> None:
    for path in (written, _only(written), written.parent):
        found = _curves(path)
        assert set(found) == {"Loss/train", "精度", "double", "plain/double", "odd"}
        assert found["Loss/train"][0] == list(range(50))
        assert found["Loss/train"][1] == pytest.approx([1 / (step + 1) for step in range(50)], rel=1e-7)
        assert found["精度"][1] == [step * 2.0 for step in range(50)]
        assert found["plain/double"][1] == [step / 3 for step in range(50)]
        assert math.isnan(found["odd"][1][0])
        assert found["odd"][1][1] == math.inf
    head = _only(written).read_bytes()[:4096]
    assert looks_like_events(head)
    assert event_version(head) == "brain.Event:2"


def test_tensor_scalars_as_tensorflow_2_writes_them(tmp_path: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.plugins.text.summary_v2 import text_pb
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util import tensor_util

    writer = EventFileWriter(str(tmp_path))
    for step, kind in enumerate(("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")):
        summary = scalar_pb("accuracy", 1.0)
        summary.value[0].tensor.CopyFrom(tensor_util.make_tensor_proto(np.array(1, kind)))
        writer.add_event(Event(step=step, summary=summary))
    writer.add_event(Event(step=0, summary=text_pb("words", "x")))
    vector = scalar_pb("vector", 1.0)
    vector.value[0].tensor.CopyFrom(tensor_util.make_tensor_proto(np.ones(3, np.float32)))
    writer.add_event(Event(step=0, summary=vector))
    writer.close()
    assert _curves(tmp_path) == {"accuracy": (list(range(8)), [1.0] * 8)}


def test_files_of_one_run_are_joined_and_the_later_value_of_a_step_counts(tmp_path: Path) -> None:
    for start, value in ((0, 1.0), (7, 2.0)):
        writer = torch_board.SummaryWriter(str(tmp_path / str(start)))
        for step in range(start, start + 10):
            writer.add_scalar("loss", value, step)
        writer.close()
        shutil.move(_only(tmp_path / str(start)), tmp_path / f"events.out.tfevents.{1_000_000 - 1 + start}.host")
        (tmp_path / str(start)).rmdir()
    assert _curves(tmp_path)["loss"] == (list(range(17)), [1.0] * 7 + [2.0] * 10)


def test_curves_of_one_chart_are_named_by_their_folder(tmp_path: Path) -> None:
    with torch_board.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("lr", 0.1, 0)
        writer.add_scalars("loss", {"train": 1.0, "val": 2.0}, 0)
    assert {one: values for one, (_, values) in _curves(tmp_path).items()} == {
        "lr": [pytest.approx(0.1)],
        "loss_train/loss": [1.0],
        "loss_val/loss": [2.0],
    }


def test_several_runs_and_no_run_are_refused(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, written.parent / "other")
    with pytest.raises(BadFile, match="other, run"):
        read_tensorboard(written.parent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match="no event file"):
        read_tensorboard(tmp_path / "empty")


def test_a_file_that_its_writer_did_not_finish_gives_what_is_whole(written: Path, tmp_path: Path) -> None:
    data = _only(written).read_bytes()
    path = tmp_path / "events.out.tfevents.1.cut"
    rng = random.Random(0)
    for _ in range(60):
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
        for one in read_tensorboard(path):
            assert isinstance(one, Curve)
            assert list(one.steps) == list(range(len(one)))


def test_a_damaged_record_is_named(written: Path, tmp_path: Path) -> None:
    data = _only(written).read_bytes()
    picture = data.rindex(b"picture")
    path = tmp_path / "events.out.tfevents.1.bad"
    rng = random.Random(1)
    for _ in range(100):
        changed = bytearray(data)
        changed[rng.randrange(picture - 50)] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(changed))
        with pytest.raises(BadFile, match=r"checksum|not an event file"):
            read_tensorboard(path)
