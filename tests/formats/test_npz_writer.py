"""Archives written here, read by numpy.load and by the reader here; what cannot be written is named."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from formats.arrays_to_write import SOURCES, Wanted, arrays, outgoing, prepared
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.npz_writer import cannot_hold, write_npz
from trueline.formats.outgoing import Outgoing
from trueline.model.trouble import BadFile

TYPES = [np.dtype(one) for one in "?bBhHiIqQefdFD"] + [np.dtype(ml_dtypes.bfloat16)]


def _held(name: str) -> bool:
    return cannot_hold(outgoing(name, np.zeros(1))) is None


def _write(path: Path, given: list[Outgoing]) -> Path:
    with making(path) as made:
        write_npz(made.sink(path), given)
    return path


def _small(*names: str) -> list[Outgoing]:
    return [outgoing(name, np.arange(number, number + 3, dtype=np.float32)) for number, name in enumerate(names)]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=8).filter(_held), arrays(TYPES), min_size=1, max_size=6))
@example({dtype.name: Wanted(np.arange(6).reshape(2, 3).astype(dtype), "transposed") for dtype in TYPES})
@example({one: Wanted(np.arange(6.0, dtype=ml_dtypes.bfloat16).reshape(2, 3), one) for one in SOURCES})
def test_whatever_is_written_comes_back_bit_for_bit(wanted: dict[str, Wanted]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _write(Path(folder, "w.npz"), prepared(Path(folder), wanted))
        read = read_npz(path).model
        assert list(read) == list(wanted)
        with np.load(path, allow_pickle=False) as theirs:
            assert theirs.files == list(wanted)
            for name, one in wanted.items():
                mine = read[name].array()
                assert mine.tobytes() == theirs[name].tobytes() == one.bytes
                assert mine.shape == theirs[name].shape == one.array.shape
                assert mine.dtype == one.array.dtype
                assert theirs[name].view(one.array.dtype).dtype == one.array.dtype


def test_numpy_gives_the_same_types_and_bfloat16_by_a_view(tmp_path: Path) -> None:
    given = [outgoing(dtype.name, np.arange(6).astype(dtype)) for dtype in TYPES]
    with np.load(_write(tmp_path / "w.npz", given), allow_pickle=False) as theirs:
        for dtype in TYPES[:-1]:
            assert theirs[dtype.name].dtype == dtype
        assert theirs["bfloat16"].view(ml_dtypes.bfloat16).tolist() == [0, 1, 2, 3, 4, 5]


def test_it_is_the_header_that_numpy_writes(tmp_path: Path) -> None:
    shapes: list[tuple[int, ...]] = [(), (1,), (0, 3), (2, 3, 4), (1,) * 20]
    given = [outgoing(f"{len(shape)}.{dtype.name}", np.zeros(shape, dtype)) for shape in shapes for dtype in TYPES]
    ours = _write(tmp_path / "ours.npz", given)
    np.savez(tmp_path / "theirs.npz", **{one.name: one.source for one in given})  # type: ignore[arg-type]
    with zipfile.ZipFile(ours) as one, zipfile.ZipFile(tmp_path / "theirs.npz") as other:
        assert one.testzip() is None
        assert one.namelist() == other.namelist()
        for name in one.namelist():
            mine, theirs = one.read(name), other.read(name)
            assert mine[:8] == theirs[:8] == b"\x93NUMPY\1\0"
            assert mine[10:].split(b"\n")[0].strip() == theirs[10:].split(b"\n")[0].strip()


def test_every_array_can_be_mapped_where_it_lies(tmp_path: Path) -> None:
    path = _write(tmp_path / "w.npz", [outgoing("x" * length, np.zeros(length)) for length in range(1, 70)])
    for stored in read_npz(path).model.values():
        assert stored.member is None
        assert stored.segments[0][0] % 64 == 0


def test_an_array_that_is_shared_is_written_twice(tmp_path: Path) -> None:
    one, other = _small("embedding.weight", "head.weight")
    path = _write(tmp_path / "w.npz", [one, replace(other, source=one.source, shared_with=one.name)])
    with np.load(path) as read:
        assert np.array_equal(read["embedding.weight"], read["head.weight"])


def test_types_that_numpy_does_not_read_back_are_named(tmp_path: Path) -> None:
    kinds = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, np.longdouble, np.dtype("U3"), np.object_]
    for kind in kinds:
        array = outgoing("head.scale", np.zeros(2, kind))
        told = cannot_hold(array)
        assert told is not None
        assert "head.scale" in str(told) and array.dtype.name in str(told)
        with pytest.raises(BadFile, match=r"head\.scale"):
            _write(tmp_path / "w.npz", [*_small("a"), array])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a", "b", "a"], "both called a"),
        (["a.npy", "a"], r"a and a\.npy"),
        (["", "a"], "without a name"),
        (["a\0b"], r"a\?b"),
        ([".."], r"array \.\."),
        (["a/../../b"], "leads out"),
        (["/etc/passwd"], "leads out"),
        (["x" * 5000], "longer than"),
        (["a\ud800"], "no valid text"),
        ([], "no arrays"),
    ],
)
def test_hostile_names_are_refused_in_one_line(tmp_path: Path, names: list[str], told: str) -> None:
    with pytest.raises(BadFile, match=told) as caught:
        _write(tmp_path / "w.npz", _small("good", *names) if names else [])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a.npy", "a.npy.npy", "encoder/layer_0/kernel:0", "权重.1", "a b", "file", "a..b", "a/"]
)
def test_unusual_names_are_kept(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path / "w.npz", _small("first", name))
    assert list(read_npz(path).model) == ["first", name]
    with np.load(path) as read:
        assert read[name].tolist() == [1, 2, 3]


def test_a_source_that_has_lost_its_end_leaves_no_file(tmp_path: Path) -> None:
    source = tmp_path / "s.npz"
    np.savez_compressed(source, a=np.random.default_rng(0).random(1000))
    array = Outgoing.of(read_npz(source).model["a"])
    data = bytearray(source.read_bytes())
    data[4000] ^= 0x55
    source.write_bytes(data)
    with pytest.raises(BadFile, match=r"s\.npz"):
        _write(tmp_path / "w.npz", [array])
    assert [one.name for one in tmp_path.iterdir()] == ["s.npz"]
