"""Files for torch.load, written without torch: read back by the reader, and by Python's own zipfile and pickletools."""

from __future__ import annotations

import math
import os
import pickletools
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from trueline.formats import zip_writer
from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.pth import read_pth
from trueline.formats.pth.values import DTYPES
from trueline.formats.pth.writer import cannot_hold, write_pth
from trueline.formats.stored import Stored
from trueline.formats.weights import Weights
from trueline.formats.zip_writer import ZipWriter
from trueline.formats.zips import members
from trueline.model.trouble import BadFile


def outgoing(name: str, array: Any, **more: Any) -> Outgoing:
    array = np.asarray(array)
    return Outgoing(name, array.shape, array.dtype, array, **more)


def written(path: Path, tree: dict[Any, Any]) -> Weights:
    with making(path) as made:
        write_pth(made.sink(path), tree)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    return read_pth(path)


def globals_of(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("/data.pkl")]
        return {str(arg) for code, arg, _ in pickletools.genops(archive.read(name)) if code.name == "GLOBAL"}


def test_every_type_and_shape_comes_back(tmp_path: Path) -> None:
    made = np.random.default_rng(0)
    arrays = {}
    for name, dtype in DTYPES.items():
        for shape in ((), (0,), (3, 0, 2), (5,), (2, 3, 4)):
            raw = made.integers(0, 2 if name == "bool" else 256, math.prod(shape) * dtype.itemsize, np.uint8)
            arrays[f"{name}{shape}"] = raw.view(dtype).reshape(shape)
    read = written(tmp_path / "all.pth", {name: outgoing(name, one) for name, one in arrays.items()})
    assert list(read.model) == list(arrays)
    for name, array in arrays.items():
        found = read.model[name]
        found.check()
        assert (found.shape, found.dtype) == (array.shape, array.dtype)
        assert found.array().tobytes() == array.tobytes()
    assert {one.partition(" ")[0] for one in globals_of(tmp_path / "all.pth")} == {
        *("torch", "torch.storage", "torch._utils", "collections")
    }


def test_nesting_and_plain_values(tmp_path: Path) -> None:
    weight = np.ones((2, 2), np.float32)
    tree = {
        "state_dict": {"层.weight": outgoing("层.weight", weight), "b": outgoing("b", np.arange(3))},
        "optimizer": {
            "state": {0: {"step": 3, "exp_avg": outgoing("exp_avg", weight * 2)}},
            "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "params": [0, 1]}],
        },
        "epoch": 7,
        "none": {},
        "empty": [],
        "numbers": (0, 255, 256, 65535, 65536, -1, -(2**31), 2**31, -(2**63), 2**2000),
        "floats": [math.inf, -math.inf, -0.0, 5e-324],
        "text": "é\n\U0001f600",
        "yes": True,
        "nothing": None,
    }
    read = written(tmp_path / "n.pth", tree)
    assert read.nested == "state_dict"
    assert list(read.model) == ["层.weight", "b"]
    assert np.array_equal(read.sections["optimizer"]["state.0.exp_avg"].array(), weight * 2)
    for name in ("epoch", "numbers", "text", "yes", "nothing"):
        assert read.others[name] == tree[name]
    assert list(map(str, read.others["floats"])) == ["inf", "-inf", "-0.0", "5e-324"]
    assert read.others["optimizer.param_groups.0.betas"] == (0.9, 0.999)


def test_shared_arrays_are_written_once(tmp_path: Path) -> None:
    array = np.random.default_rng(0).random((64, 64))
    tree = {
        "tied first": outgoing("tied first", array, shared_with="embed"),
        "embed": outgoing("embed", array),
        "tied": outgoing("tied", array, shared_with="tied first"),
        "flat": outgoing("flat", array.reshape(-1), shared_with="embed"),
        "of nobody": outgoing("of nobody", array, shared_with="left out"),
        "not that one": outgoing("not that one", array[0], shared_with="embed"),
        "turned": Outgoing("turned", (64, 64), array.dtype, array, "embed", transposed=True),
        "itself": outgoing("itself", array, shared_with="itself"),
    }
    read = written(tmp_path / "s.pth", tree)
    # Those that are one storage are found to be one by the reader too; the flat one has another shape.
    assert {name: one.shared_with for name, one in read.model.items() if one.shared_with} == {
        "embed": "tied first",
        "tied": "tied first",
    }
    assert read.model["flat"].segments == read.model["embed"].segments
    assert np.array_equal(read.model["turned"].array(), array.T)
    assert np.array_equal(read.model["not that one"].array(), array[0])
    assert len([name for name in members(tmp_path / "s.pth") if "/data/" in name]) == 5


def test_a_name_shared_in_another_dictionary_is_another_array(tmp_path: Path) -> None:
    one, other = np.zeros(3), np.ones(3)
    tree = {
        "state_dict": {"a": outgoing("a", one), "b": outgoing("b", one, shared_with="a")},
        "ema": {"a": outgoing("a", other), "b": outgoing("b", other, shared_with="a")},
    }
    read = written(tmp_path / "s.pth", tree)
    assert np.array_equal(read.model["b"].array(), one)
    assert np.array_equal(read.sections["ema"]["b"].array(), other)
    assert read.sections["ema"]["b"].shared_with == "a"


def test_sources_of_every_layout(tmp_path: Path) -> None:
    base = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    arrays = {
        "fortran": np.asfortranarray(base[0]),
        "big": base.astype(">f4"),
        "big fortran": np.asfortranarray(base[1]).astype(">f4"),
    }
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    np.savez(tmp_path / "plain.npz", **arrays)
    tree: dict[str, Any] = {"view": {"view": outgoing("view", base[::-1, 1::2, ::3])}}
    for source in ("packed", "plain"):
        held = read_npz(tmp_path / f"{source}.npz").model
        tree[source] = {name: Outgoing.of(one) for name, one in held.items()}
    found = written(tmp_path / "x.pth", tree)
    assert np.array_equal(found.model["view.view"].array(), base[::-1, 1::2, ::3])
    for source in ("packed", "plain"):
        for name, array in arrays.items():
            again = found.model[f"{source}.{name}"]
            assert again.dtype == np.dtype("<f4")
            assert np.array_equal(again.array(), array)


def test_equal_weights_are_equal_files_named_as_torch_names_them(tmp_path: Path) -> None:
    tree = {"a": outgoing("a", np.arange(4.0))}
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "net.v2.pth", tree)
    assert (tmp_path / "one/net.v2.pth").read_bytes() == (tmp_path / "two/net.v2.pth").read_bytes()
    roots = {name.split("/")[0] for name in members(tmp_path / "one/net.v2.pth")}
    assert roots == {"net.v2"}
    written(tmp_path / "权重.pth", tree)
    assert {name.split("/")[0] for name in members(tmp_path / "权重.pth")} == {"archive"}


def test_what_torch_has_no_tensor_for_is_refused_by_name(tmp_path: Path) -> None:
    for dtype in (np.dtype(ml_dtypes.int4), np.dtype("U3"), np.dtype(np.longdouble)):
        refused = cannot_hold(Outgoing("odd\x1b", (1,), dtype, np.zeros(1, dtype)))
        assert refused is not None
        assert "odd?" in refused.text()
        assert str(dtype) in refused.text()
    assert cannot_hold(outgoing("x", np.zeros(1, ml_dtypes.bfloat16))) is None
    with pytest.raises(BadFile, match="odd"):
        written(tmp_path / "x.pth", {"odd": outgoing("odd", np.zeros(2, "U3"))})
    with pytest.raises(BadFile, match=r"a\.big"):
        written(tmp_path / "x.pth", {"a": {"big": 1 << 2040}})
    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"x": deep}
    with pytest.raises(BadFile, match="nested"):
        written(tmp_path / "x.pth", deep)
    assert not list(tmp_path.iterdir())


def test_a_source_that_became_shorter_leaves_no_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(100))
    halves = Stored("x", (100,), np.dtype(np.uint8), source, ((0, 50), (50, 50)))
    os.truncate(source, 60)
    with pytest.raises(BadFile, match="source: cut short"):
        written(tmp_path / "x.pth", {"x": Outgoing.of(halves)})
    assert list(tmp_path.iterdir()) == [source]


def test_large_arrays_pass_through_little_memory(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.touch()
    os.truncate(source, 64 << 20)
    large = Stored("x", (64 << 20,), np.dtype(np.uint8), source, ((0, 64 << 20),))
    tracemalloc.start()
    try:
        written(tmp_path / "x.pth", {"x": Outgoing.of(large)})
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("align", [1, 2, 64, 4096])
def test_members_begin_where_they_should(tmp_path: Path, align: int) -> None:
    path = tmp_path / "x.zip"
    array = np.arange(1000.0)
    with making(path) as made:
        archive = ZipWriter(made.sink(path))
        for length in range(1, 70):
            archive.add("n" * length, b"x" * length, align=align)
        archive.add_array("数", outgoing("", array), before=b"head", align=align)
        archive.finish()
    assert all(one.start % align == 0 for one in members(path).values())
    with zipfile.ZipFile(path) as read:
        assert read.testzip() is None
        assert read.read("n" * 33) == b"x" * 33
        assert read.read("数") == b"head" + array.tobytes()


@pytest.mark.parametrize("limit", ["_LARGE", "_MANY"])
def test_numbers_that_do_not_fit_the_old_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    # As if every number were one of an archive of many gigabytes.
    monkeypatch.setattr(zip_writer, limit, 0)
    arrays = {"a": np.arange(10), "b": np.zeros(0), "c": np.ones((3, 3), np.float32)}
    read = written(tmp_path / "x.pth", {name: outgoing(name, one) for name, one in arrays.items()})
    for name, array in arrays.items():
        assert np.array_equal(read.model[name].array(), array)


def test_more_members_than_the_old_directory_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with making(path) as made:
        archive = ZipWriter(made.sink(path))
        for number in range(65_536):
            archive.add(str(number), b"x")
        archive.finish()
    assert len(members(path)) == 65_536
    with zipfile.ZipFile(path) as read:
        assert read.read("65535") == b"x"


def test_names_no_archive_can_hold_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    for name in ("n" * 65_536, "\ud800"):
        with pytest.raises(BadFile, match="its name is too long"), making(path) as made:
            ZipWriter(made.sink(path)).add(name, b"")
    assert not list(tmp_path.iterdir())
