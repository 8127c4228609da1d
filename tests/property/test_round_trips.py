"""Whatever is in a weight file comes through a conversion into any other format and back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cli.calling import call
from formats.arrays_to_write import SOURCES, Wanted, arrays, outgoing, prepared
from hypothesis import Phase, example, find, given, settings
from hypothesis import strategies as st
from property.made_networks import PARAMETRISED, Tensor, networks, of_kind
from safetensors.numpy import save_file

from trueline.apitable.layers import layers
from trueline.formats import ms_names
from trueline.formats.kinds import look
from trueline.formats.opening import open_weights
from trueline.formats.outgoing import Outgoing
from trueline.formats.saving import Saved, format_of, save
from trueline.formats.stored import Stored

PTH, CKPT, SINGLE, NPZ, SHARDS = ".pth", ".ckpt", ".safetensors", ".npz", ".safetensors.index.json"
FORMATS = (PTH, CKPT, SINGLE, NPZ, SHARDS)
PAIRS = pytest.mark.parametrize(("there", "back"), list(product(FORMATS, FORMATS)))

NUMBERS = tuple(map(np.dtype, ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")))
BRAIN = np.dtype(ml_dtypes.bfloat16)
BYTES = (np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2))
COMPLEX, WIDE = np.dtype("c8"), np.dtype("c16")
EVERY = (*NUMBERS, BRAIN, *BYTES, COMPLEX, WIDE)
LACKING = {PTH: (), CKPT: (*BYTES, COMPLEX, WIDE), SINGLE: (WIDE,), SHARDS: (WIDE,), NPZ: BYTES}
# What NumPy and the formats call things of their own.
TAKEN = {"file", "allow_pickle", "__metadata__"}
WRAPPERS = ("module.", "_orig_mod.")

Made = dict[str, Wanted]


def held_by(*formats: str) -> list[np.dtype[Any]]:
    """The types that all of these formats have."""
    return [one for one in EVERY if not any(one in LACKING[format] for format in formats)]


def _is_free(name: str) -> bool:
    """Whether a name is one that any format keeps, and that says nothing of what it belongs to."""
    plain = name == name.strip() and "\0" not in name and not name.startswith(("/", "\\")) and name not in TAKEN
    known = ms_names.is_training_state(name) or name in ms_names.PROGRESS or name.startswith(WRAPPERS)
    return plain and not known and ".." not in name.replace("\\", "/").split("/")


WORDS = st.sampled_from(("layer1", "conv", "0", "weight", "bias", "权重", "a b", "x-y", "Δ", "q/k", "gamma", "table"))
DOTTED = st.lists(WORDS, min_size=1, max_size=4).map(".".join)
NAMES = st.one_of(DOTTED, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)).filter(_is_free)


def files(dtypes: Iterable[np.dtype[Any]]) -> st.SearchStrategy[Made]:
    """The arrays of a file by name; no name is another one with the ending of an archive's members."""
    made = st.dictionaries(NAMES, arrays(dtypes), min_size=1, max_size=5)
    return made.filter(lambda one: not any(f"{name}.npy" in one for name in one))


def _write(path: Path, given: Sequence[Outgoing]) -> None:
    """A file by the writers here; of several arrays shards have one or two each."""
    limit = max(one.nbytes for one in given) if path.name.endswith(SHARDS) else None
    save(path, format_of(path), Saved(given), shard_bytes=limit)


def _by_writers(path: Path, made: Made) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write(path, prepared(Path(folder), made))


def _by_numpy(save: Callable[..., None]) -> Callable[[Path, Made], None]:
    def write(path: Path, made: Made) -> None:
        save(path, **{name: _laid(one) for name, one in made.items()})

    return write


def _laid(one: Wanted) -> np.ndarray[Any, Any]:
    """An array laid out as its source says: NumPy's archives keep that."""
    if one.source == "big-endian":
        return one.array.astype(one.array.dtype.newbyteorder(">"))
    return one.array.copy(order="F") if one.source in ("transposed", "fortran file") else one.array


def _by_library(path: Path, made: Made) -> None:
    save_file({name: one.array.copy() for name, one in made.items()}, path)


def _by_library_in_shards(path: Path, made: Made) -> None:
    places = {}
    for number, (name, one) in enumerate(made.items()):
        places[name] = f"{path.name}-{number}.safetensors"
        _by_library(path.with_name(places[name]), {name: one})
    path.write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": places}))


MAKERS: Mapping[str, Sequence[Callable[[Path, Made], None]]] = {
    PTH: [_by_writers],
    CKPT: [_by_writers],
    SINGLE: [_by_writers, _by_library],
    NPZ: [_by_writers, _by_numpy(np.savez), _by_numpy(np.savez_compressed)],
    SHARDS: [_by_writers, _by_library_in_shards],
}


def convert(source: Path, target: Path, *options: str) -> dict[str, Any]:
    """A conversion as the command line does it, and what it says of it."""
    ended = call("convert", source, target, *options, "--json")
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    assert found["missing"] == found["unexpected"] == []
    # Nothing is left of the making.
    assert not list(target.parent.glob(".*"))
    return found


def read(path: Path) -> dict[str, Stored]:
    return dict(open_weights(look(path)).model)


def contents(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Type, shape and little-endian bytes of each array, by name and in order."""
    return {
        name: (one.dtype.name, one.shape, one.array().astype(one.dtype.newbyteorder("<")).tobytes())
        for name, one in read(path).items()
    }


def _told(made: Made) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {name: (one.array.dtype.name, one.array.shape, one.bytes) for name, one in made.items()}


def _orders(names: Iterable[str], made: Made, format: str) -> list[list[str]]:
    """The orders that a file may have: as given, or with the wide elements first where only that aligns all of them."""
    given = list(names)
    wide_first = sorted(given, key=lambda name: -made[name].array.itemsize)
    return [given, wide_first] if format == SINGLE else [given]


@PAIRS
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_there_and_back_again_nothing_has_changed(there: str, back: str, data: st.DataObject) -> None:
    made = data.draw(files(held_by(there, back)))
    write = data.draw(st.sampled_from(MAKERS[back]))
    if write is not _by_writers:
        # Neither NumPy's archives nor the library's bindings for NumPy have these.
        bare = {name: one for name, one in made.items() if one.array.dtype not in BYTES}
        made = bare or {"a": Wanted(np.arange(6).reshape(2, 3), "big-endian")}
    _check(write, made, there, back)


@PAIRS
def test_every_type_however_it_lay(there: str, back: str) -> None:
    made = {}
    for dtype, source in product(held_by(there, back), SOURCES):
        lost = dtype in BYTES and source in ("compressed", "fortran file")
        array = np.arange(6).reshape(2, 3).astype(dtype)
        made[f"{dtype.name}.{source}"] = Wanted(array, "plain" if lost else source)
        made[f"{dtype.name}.{source}.number"] = Wanted(array[1, 1].reshape(()), "plain")
    _check(_by_writers, made, there, back)


def _check(write: Callable[[Path, Made], None], made: Made, there: str, back: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        first, second, third = (Path(name, f"{at}{ending}") for at, ending in enumerate((back, there, back)))
        if back == CKPT:
            # MindSpore loses empty arrays: such a file never has one.
            made = {name: one for name, one in made.items() if one.array.size} or {"a": Wanted(np.ones(2), "plain")}
        write(first, made)
        assert contents(first) == _told(made)
        if write is not _by_library:
            assert list(read(first)) in _orders(made, made, back)
        kept = {name: one for name, one in made.items() if one.array.size or there != CKPT}
        if not kept:
            ended = call("convert", first, second, "--names", "same")
            assert ended.exit_code == 2
            assert not second.exists()
            return
        _converted(first, second, made, kept)
        _converted(second, third, kept, kept)


def _converted(source: Path, target: Path, made: Made, kept: Made) -> None:
    told = convert(source, target, "--names", "same")
    assert {one["name"] for one in told["dropped"]} == made.keys() - kept.keys()
    assert {one["name"]: one["other_name"] for one in told["mapped"]} == {name: name for name in kept}
    found = contents(target)
    assert found == _told(kept)
    held = [name for name in read(source) if name in kept]
    assert list(found) in _orders(held, kept, "".join(target.suffixes))


@pytest.mark.parametrize("there", FORMATS)
@settings(max_examples=20, deadline=None)
@given(made=files(held_by(*FORMATS)), data=st.data())
def test_shared_arrays_are_still_one_in_torch_s_files(there: str, made: Made, data: st.DataObject) -> None:
    made = {f"{name}.weight": one for name, one in made.items() if one.array.size}
    made = made or {"a.weight": Wanted(np.arange(6.0).reshape(2, 3), "plain")}
    again = data.draw(st.lists(st.sampled_from(sorted(made)), min_size=1, max_size=4))
    tied = {f"tied.{number}": name for number, name in enumerate(again)}
    with tempfile.TemporaryDirectory() as folder:
        one, two, three = (Path(folder, name) for name in ("one.pth", f"two{there}", "three.pth"))
        arrays = {array.name: array for array in prepared(Path(folder), made)}
        copies = [replace(arrays[first], name=name, shared_with=first) for name, first in tied.items()]
        _write(one, data.draw(st.permutations([*arrays.values(), *copies])))
        convert(one, two, "--names", "same")
        convert(two, three, "--names", "same")
        assert contents(one) == contents(two) == contents(three)
        shared = {name: array.shared_with for name, array in read(one).items()}
        assert sum(first is not None for first in shared.values()) == len(tied)
        kept = {name: array.shared_with for name, array in read(three).items()}
        assert kept == (shared if there == PTH else dict.fromkeys(shared))


@pytest.mark.parametrize(("there", "dtype"), [(there, dtype) for there in FORMATS for dtype in LACKING[there]])
def test_what_a_format_lacks_is_refused_by_name(tmp_path: Path, there: str, dtype: np.dtype[Any]) -> None:
    source, target = tmp_path / "in.pth", tmp_path / f"out{there}"
    _write(source, [outgoing("plain.weight", np.ones(3)), outgoing("odd.weight", np.ones((2, 3)).astype(dtype))])
    ended = call("convert", source, target, "--names", "same")
    assert ended.exit_code == 2
    assert "odd.weight" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert [one.name for one in tmp_path.iterdir()] == ["in.pth"]


@pytest.mark.parametrize("there", FORMATS)
@settings(max_examples=60, deadline=None)
@given(name=st.text(min_size=1), other=st.text(min_size=1))
@example(name="a", other="a.npy")
@example(name="../../a", other="/a")
@example(name="a ", other="a\0")
@example(name="a\ud800", other="a\n")
@example(name="__metadata__", other="b")
@example(name="a" * 2000, other="b")
def test_any_name_comes_through_or_is_refused_in_one_line(there: str, name: str, other: str) -> None:
    # Of two dimensions: a vector may be what an optimizer of MindSpore keeps under that name.
    made = {one: outgoing(one, np.arange(3.0).reshape(3, 1)) for one in (name, other)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.pth"), Path(folder, f"out{there}")
        _write(source, list(made.values()))
        before = contents(source)
        ended = call("convert", source, target, "--names", "same")
        if ended.exit_code == 0:
            assert contents(target) == before
        else:
            assert ended.exit_code == 2
            assert ended.stderr.count("\n") == 1
            assert [one.name for one in Path(folder).iterdir()] == ["in.pth"]


@settings(max_examples=150, deadline=None)
@given(tensors=networks(), seed=st.integers(0, 2**32))
def test_the_names_of_any_network_come_back_by_the_file_alone(tensors: list[Tensor], seed: int) -> None:
    made = np.random.default_rng(seed)
    arrays = [outgoing(one.name, made.random(one.shape, np.float32).reshape(one.shape)) for one in tensors]
    with tempfile.TemporaryDirectory() as folder:
        bench, port, again = Path(folder, "bench.pth"), Path(folder, "port.ckpt"), Path(folder, "again.pth")
        _write(bench, arrays)
        told = convert(bench, port)
        theirs = {one.mindspore: one.mindspore_shape for one in tensors if one.mindspore is not None}
        assert {name: one.shape for name, one in read(port).items()} == theirs
        alone = [one.name for one in tensors if one.mindspore is None]
        assert [one["name"] for one in told["dropped"]] == alone
        assert all(name.endswith(".num_batches_tracked") for name in alone)
        assert convert(port, again)["dropped"] == []
        before = {name: one for name, one in contents(bench).items() if name not in alone}
        assert list(contents(again).items()) == list(before.items())


@pytest.mark.parametrize("kind", sorted(layers().keys() - PARAMETRISED))
def test_every_layer_of_the_table_is_made_with_all_its_tensors(kind: str) -> None:
    layer = layers()[kind]
    wanted = {leaf.replace("*", "0") for leaf in (*layer.leaves, *layer.only_torch)} - {"weight_hr_l0"}
    if kind in ("layernorm", "groupnorm", "instancenorm"):
        wanted = {"weight", "bias"}
    for leaf in wanted:
        _find(kind, f"layer.{leaf}")
    for child in layer.children:
        _find(kind, f"layer.{child}.")


def _find(kind: str, beginning: str) -> None:
    """Some layer of the kind has a tensor of such a name; which one is the simplest is not asked."""
    quickly = settings(phases=[Phase.generate], database=None)
    find(of_kind(kind), lambda made: any(one.name.startswith(beginning) for one in made), settings=quickly)
