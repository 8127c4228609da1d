"""Arrays in parts, compressed or in another order of memory are the same arrays."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from trueline.formats.npz import read_npz
from trueline.formats.stored import Stored
from trueline.kernel import Parts, distance
from trueline.model.trouble import BadFile

VALUES = np.random.default_rng(0).standard_normal((7, 11)).astype(np.float32)


def stored(folder: Path, cuts: list[int], dtype: str = "<f4") -> Stored:
    """VALUES, written in pieces of so many bytes with rubbish between."""
    data = VALUES.astype(dtype).tobytes()
    path = folder / "parts.bin"
    segments = []
    out = io.BytesIO()
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        out.write(b"rubbish")
        segments.append((out.tell(), end - begin))
        out.write(data[begin:end])
    path.write_bytes(out.getvalue())
    return Stored("x", VALUES.shape, np.dtype(dtype), path, tuple(segments))


@pytest.mark.parametrize("cuts", [[4], [3], [2, 6], [100, 101, 150], [4, 8, 12]])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8"])
def test_an_array_in_parts_is_measured_as_the_whole(cuts: list[int], dtype: str, tmp_path: Path) -> None:
    found = stored(tmp_path, cuts, dtype)
    assert isinstance(found.elements(), Parts)
    assert distance(found.elements(), VALUES).identical
    assert distance(VALUES, found.elements()).identical
    assert np.array_equal(found.array(), VALUES)


def test_a_part_that_differs_is_found_at_its_place(tmp_path: Path) -> None:
    other = VALUES.copy()
    other[5, 3] += 1
    assert distance(stored(tmp_path, [40, 90]).elements(), other).worst_index == (5, 3)


def test_a_compressed_array_is_measured_without_being_whole(tmp_path: Path) -> None:
    big = np.arange(3_000_000, dtype=np.float64)
    np.savez_compressed(tmp_path / "x.npz", big=big, small=VALUES)
    found = read_npz(tmp_path / "x.npz").model
    assert isinstance(found["big"].elements(), Parts)
    assert distance(found["big"].elements(), big).identical
    assert np.array_equal(found["small"].array(), VALUES)


def test_it_can_be_sent_to_another_process(tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(stored(tmp_path, [40])))
    assert np.array_equal(again.array(), VALUES)


def test_a_file_cut_short_later_is_said(tmp_path: Path) -> None:
    found = stored(tmp_path, [])
    found.path.write_bytes(found.path.read_bytes()[:-10])
    with pytest.raises(BadFile, match="cut short"):
        found.array()


@pytest.mark.parametrize(
    ("shape", "strides", "size"),
    [((2, 2), None, 12), ((2, 2), (2, 1), 12), ((2, 2), (-1, 1), 16), ((1 << 62, 4), None, 16), ((1,) * 40, None, 4)],
)
def test_an_array_that_does_not_fit_its_bytes_is_refused(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, size: int, tmp_path: Path
) -> None:
    with pytest.raises(BadFile, match="does not fit"):
        Stored("x", shape, np.dtype("<f4"), tmp_path / "x", ((0, size),), strides).check()
