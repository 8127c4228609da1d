"""Full tensors: what NumPy holds comes back bit by bit, and the safetensors library reads the same file."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

from trueline.formats.run_folder.reader import open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.events import NoticeEvent
from trueline.model.key import Key

END = [{"event": "end", "t": 1.5}]

ARRAYS = [
    np.array([True, False, True]),
    np.arange(3, dtype=np.uint8),
    np.arange(-3, 3, dtype=np.int8).reshape(2, 3),
    np.arange(5, dtype=np.int16),
    np.arange(5, dtype=np.uint16),
    np.array([1.5, np.nan, -np.inf], np.float16),
    np.arange(7).astype(ml_dtypes.bfloat16),
    np.arange(3).astype(ml_dtypes.float8_e4m3fn),
    np.arange(3).astype(ml_dtypes.float8_e5m2),
    np.array(7, np.int32),
    np.arange(2, dtype=np.uint32),
    np.zeros((0, 4), np.float32),
    np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
    np.array(3.25, np.float64),
    np.arange(4, dtype=">f8"),
    np.arange(4, dtype=np.int64)[::-2],
    np.arange(4, dtype=np.uint64),
    np.array([1 + 2j, np.nan], np.complex64),
    np.array([[1 - 2j], [3j]], np.complex128),
    np.array(2j, np.complex128),
]


def test_every_dtype_comes_back_bit_by_bit_in_order(tmp_path: Path) -> None:
    tensors = {Key.of(f"layer/{number}", "out"): array for number, array in enumerate(ARRAYS)}
    RankWriter(tmp_path).finish_step(0, "train", END, tensors=tensors)
    read = open_run(tmp_path).rank().tensors(0)
    assert list(read) == list(tensors)
    for key, array in tensors.items():
        assert read[key].shape == array.shape
        assert read[key].dtype == array.dtype.newbyteorder("<")
        assert read[key].flags.aligned
        assert read[key].tobytes() == np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def test_the_safetensors_library_reads_the_file(tmp_path: Path) -> None:
    tensors = {Key.of(f"layer{number}", "out"): array for number, array in enumerate(ARRAYS)}
    RankWriter(tmp_path).finish_step(12, "train", END, tensors=tensors)
    path = tmp_path / "rank-00000/tensors/12.safetensors"
    with safe_open(path, "numpy") as file:
        assert set(file.keys()) == {str(key) for key in tensors}
    plain = {key: array for key, array in tensors.items() if array.dtype.itemsize > 1 and array.dtype.kind in "fiu"}
    RankWriter(tmp_path / "plain").finish_step(12, "train", END, tensors=plain)
    loaded = load_file(tmp_path / "plain/rank-00000/tensors/12.safetensors")
    assert all(np.array_equal(loaded[str(key)], array, equal_nan=True) for key, array in plain.items())


def test_reading_copies_nothing(tmp_path: Path) -> None:
    key = Key.of("big", "out")
    RankWriter(tmp_path).finish_step(0, "train", END, tensors={key: np.zeros(1 << 20)})
    array = open_run(tmp_path).rank().tensors(0)[key]
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    assert type(owner.base).__name__ == "mmap"
    assert not array.flags.writeable


def test_a_tensor_that_does_not_fit_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    good, bad = Key.of("good", "out"), Key.of("bad", "out")
    tensors = {bad: np.array(["a"], object), good: np.ones(2), Key.of("wide", "out"): np.ones(2, np.longdouble)}
    RankWriter(tmp_path).finish_step(0, "train", END, tensors=tensors)
    rank = open_run(tmp_path).rank()
    assert list(rank.tensors(0)) == [good]
    notices = [event.message for event in rank.events(NoticeEvent)]
    assert [notice.params["key"] for notice in notices] == [str(bad), "train/wide#0/out/0"]
    assert [event.name for event in rank.events()][-1] == "end"


def test_training_and_evaluation_steps_of_one_number_stay_apart(tmp_path: Path) -> None:
    train, evaluation = Key.of("x", "out"), Key.of("x", "out", phase="eval")
    writer = RankWriter(tmp_path)
    writer.finish_step(4, "train", END, tensors={train: np.zeros(2)})
    writer.finish_step(4, "eval", END, tensors={evaluation: np.ones(2)})
    rank = open_run(tmp_path).rank()
    assert sorted(one.name for one in (tmp_path / "rank-00000/tensors").iterdir()) == [
        "4.safetensors",
        "eval-4.safetensors",
    ]
    assert list(rank.tensor_steps) == [4]
    assert rank.tensors(4)[train].tolist() == [0, 0]
    assert rank.tensors(4)[evaluation].tolist() == [1, 1]
    assert len(rank.tensors(5)) == 0
