"""safetensors files written here, read by the library and by the reader here; what cannot be written is named."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors
from formats.arrays_to_write import SOURCES, Wanted, arrays, outgoing, prepared
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from trueline.formats.holding import LONGEST_NAME, name_trouble
from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.safetensors import INDEX, TYPES, read_safetensors
from trueline.formats.safetensors.types import NAMES
from trueline.formats.safetensors.writer import cannot_hold, write_safetensors, write_shards
from trueline.model.trouble import BadFile

NAMED = st.text(max_size=8).filter(lambda name: name_trouble(name) is None and name != "__metadata__")


def _write(path: Path, given: list[Outgoing], metadata: dict[str, str] | None = None) -> Path:
    with making(path) as made:
        write_safetensors(made.sink(path), given, metadata or {})
    return path


def _small(*names: str) -> list[Outgoing]:
    return [outgoing(name, np.arange(number, number + 3, dtype=np.float32)) for number, name in enumerate(names)]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMED, arrays(TYPES.values()), min_size=1, max_size=6))
@example({dtype.name: Wanted(np.arange(6).reshape(2, 3).astype(dtype), "transposed") for dtype in NAMES})
@example({one: Wanted(np.arange(6.0, dtype=ml_dtypes.bfloat16).reshape(2, 3), one) for one in SOURCES})
def test_whatever_is_written_comes_back_bit_for_bit(wanted: dict[str, Wanted]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _write(Path(folder, "w.safetensors"), prepared(Path(folder), wanted), {"format": "pt"})
        read = read_safetensors(path)
        theirs = dict(safetensors.deserialize(path.read_bytes()))
        assert read.others == {"format": "pt"}
        assert read.model.keys() == theirs.keys() == wanted.keys()
        for name, one in wanted.items():
            mine = read.model[name].array()
            assert mine.tobytes() == bytes(theirs[name]["data"]) == one.bytes
            assert mine.shape == tuple(theirs[name]["shape"]) == one.array.shape
            assert mine.dtype == TYPES[theirs[name]["dtype"]] == one.array.dtype
            assert mine.flags.aligned


@pytest.mark.parametrize("dtype", [one for one in NAMES if not one.name.startswith("float8")])
def test_the_library_gives_numpy_the_same_array(tmp_path: Path, dtype: np.dtype[object]) -> None:
    array = np.arange(-3, 3).reshape(2, 3).astype(dtype)
    given = [outgoing("a.weight", array), outgoing("0-d", array[1, 1]), outgoing("leer/空", array[:0])]
    read = load_file(_write(tmp_path / "w.safetensors", given))
    assert set(read) == {one.name for one in given}
    for one in given:
        # By name: a framework in the same process may bring a bfloat16 of its own.
        assert read[one.name].dtype.name == dtype.name
        assert read[one.name].shape == one.shape
        assert read[one.name].tobytes() == np.asarray(one.source).tobytes()


def test_the_order_is_kept_where_everything_stays_aligned(tmp_path: Path) -> None:
    names = ["z", "a", "m"]
    assert list(read_safetensors(_write(tmp_path / "1.safetensors", _small(*names))).model) == names
    odd = [outgoing("flags", np.ones(3, bool)), *_small("b", "a"), outgoing("wide", np.ones(1))]
    assert list(read_safetensors(_write(tmp_path / "2.safetensors", odd)).model) == ["wide", "b", "a", "flags"]


def test_an_array_that_is_shared_is_written_twice(tmp_path: Path) -> None:
    one, other = _small("embedding.weight", "head.weight")
    path = _write(tmp_path / "w.safetensors", [one, replace(other, source=one.source, shared_with=one.name)])
    read = load_file(path)
    assert np.array_equal(read["embedding.weight"], read["head.weight"])


def test_what_the_format_has_no_type_for_is_named(tmp_path: Path) -> None:
    for dtype in (np.complex128, np.longdouble, np.dtype("datetime64[s]"), np.dtype("U3"), ml_dtypes.int4):
        array = outgoing("fft.window", np.zeros(2, dtype))
        told = cannot_hold(array)
        assert told is not None
        assert "fft.window" in str(told) and array.dtype.name in str(told)
        with pytest.raises(BadFile, match=r"fft\.window"):
            _write(tmp_path / "w.safetensors", [*_small("a"), array])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["__metadata__"], "__metadata__"),
        (["a", "b", "a"], "both called a"),
        ([""], "without a name"),
        (["a\0b"], r"a\?b"),
        ([".."], r"array \.\."),
        (["a/../../b"], "leads out"),
        (["x" * 5000], f"longer than {LONGEST_NAME}"),
        (["a\ud800"], "no valid text"),
        ([], "no arrays"),
    ],
)
def test_hostile_names_are_refused_in_one_line(tmp_path: Path, names: list[str], told: str) -> None:
    given = _small("good", *names) if names else []
    with pytest.raises(BadFile, match=told) as caught:
        _write(tmp_path / "w.safetensors", given)
    with pytest.raises(BadFile, match=told), making(tmp_path / "w.safetensors") as made:
        write_shards(made, tmp_path / "w.safetensors", given, 1)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a..b", "a b", "…", "layer.0/weight:0", "a\nb", ".hidden", "x" * LONGEST_NAME])
def test_unusual_names_are_kept(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path / "w.safetensors", _small(name))
    assert list(read_safetensors(path).model) == list(load_file(path)) == [name]


def test_a_header_that_readers_refuse_is_not_written(tmp_path: Path) -> None:
    array = np.zeros(1, np.float32)
    given = [outgoing(f"{number:05d}{'x' * 4000}", array) for number in range(25_000)]
    with pytest.raises(BadFile, match="25000 arrays are too many"):
        _write(tmp_path / "w.safetensors", given)
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_has_lost_its_end_leaves_no_file(tmp_path: Path) -> None:
    source = tmp_path / "w.npz"
    np.savez(source, a=np.zeros(1000))
    array = Outgoing.of(read_npz(source).model["a"])
    source.write_bytes(source.read_bytes()[:4000])
    with pytest.raises(BadFile, match=r"w\.npz: cut short"):
        _write(tmp_path / "w.safetensors", [array])
    with pytest.raises(BadFile, match="cut short"):
        _write(tmp_path / "w.safetensors", [replace(_small("a")[0], shape=(4,))])
    assert [one.name for one in tmp_path.iterdir()] == ["w.npz"]


def _shards(path: Path, given: list[Outgoing], most: int, force: bool = False) -> None:
    with making(path, force=force) as made:
        write_shards(made, path, given, most, {"format": "pt"})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(0, 100))
def test_shards_hold_everything_once_and_no_more_than_asked_for(sizes: list[int], most: int) -> None:
    given = [outgoing(f"layer.{at}", np.arange(size, dtype=np.float32)) for at, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _shards(folder / f"my.model{INDEX}", given, most)
        index = json.loads((folder / f"my.model{INDEX}").read_text())
        assert index["metadata"]["total_size"] == sum(sizes) * 4
        assert list(index["weight_map"]) == [one.name for one in given]
        shards = sorted(set(index["weight_map"].values()))
        count = len(shards)
        assert shards == [f"my.model-{number:05d}-of-{count:05d}.safetensors" for number in range(1, count + 1)]
        assert {one.name for one in folder.iterdir()} == {*shards, f"my.model{INDEX}"}
        for shard in shards:
            theirs = load_file(folder / shard)
            assert set(theirs) == {one for one, where in index["weight_map"].items() if where == shard}
            assert (
                sum(one.nbytes for one in theirs.values()) <= most or sum(one.size > 0 for one in theirs.values()) == 1
            )
        read = read_safetensors(folder)
        assert [one.array().tolist() for one in read.model.values()] == [list(range(size)) for size in sizes]


def test_what_fits_into_the_single_file_needs_no_index(tmp_path: Path) -> None:
    _shards(tmp_path / "m.safetensors", _small("a", "b"), 24)
    assert [one.name for one in tmp_path.iterdir()] == ["m.safetensors"]
    _shards(tmp_path / "n.safetensors", _small("a", "b"), 23)
    assert list(read_safetensors(tmp_path / f"n{INDEX}").model) == ["a", "b"]
    assert not (tmp_path / "n.safetensors").exists()


def test_shards_overwrite_nothing_unless_told_to(tmp_path: Path) -> None:
    path = tmp_path / f"m{INDEX}"
    _shards(path, _small("a", "b"), 12)
    before = {one: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(BadFile, match="already"):
        _shards(path, _small("c", "d"), 12)
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == before
    _shards(path, _small("c", "d"), 12, force=True)
    assert list(read_safetensors(path).model) == ["c", "d"]
