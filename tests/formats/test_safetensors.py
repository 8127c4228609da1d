"""safetensors files of the library itself, single and in shards; what is broken is one clear line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from trueline.formats.run_folder.reader import open_run
from trueline.formats.run_folder.tensors import Tensors
from trueline.formats.run_folder.writer import RankWriter
from trueline.formats.safetensors import read_safetensors
from trueline.model.key import Key
from trueline.model.trouble import BadFile

ARRAYS = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a.bias": np.array([1, -2], np.int64),
    "half": np.array([1.5, np.nan], np.float16),
    "flag": np.array([True, False]),
    "scalar": np.array(3.25),
    "empty": np.zeros((0, 3), np.float32),
}


def test_a_file_of_the_library_comes_back(tmp_path: Path) -> None:
    save_file(ARRAYS, tmp_path / "m.safetensors", metadata={"format": "np"})
    read = read_safetensors(tmp_path / "m.safetensors")
    assert set(read.model) == set(ARRAYS)
    assert read.others == {"format": "np"}
    for name, array in ARRAYS.items():
        read.model[name].check()
        assert np.array_equal(read.model[name].array(), array, equal_nan=array.dtype.kind == "f")
        assert read.model[name].dtype == array.dtype


def _sharded(folder: Path) -> dict[str, str]:
    places = {}
    for number, names in enumerate((["a.weight", "half"], ["a.bias", "flag"])):
        shard = f"model-{number + 1:05d}-of-00002.safetensors"
        save_file({name: ARRAYS[name] for name in names}, folder / shard)
        places |= dict.fromkeys(names, shard)
    return places


def _index(folder: Path, places: object) -> Path:
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 48}, "weight_map": places}))
    return path


def test_shards_are_one_set_of_weights_by_index_or_folder(tmp_path: Path) -> None:
    index = _index(tmp_path, _sharded(tmp_path))
    for path in (index, tmp_path):
        read = read_safetensors(path)
        assert list(read.model) == ["a.weight", "half", "a.bias", "flag"]
        assert read.model["a.bias"].array().tolist() == [1, -2]
        assert read.model["a.weight"].path.name == "model-00001-of-00002.safetensors"


def test_what_an_index_may_not_say(tmp_path: Path) -> None:
    good = _sharded(tmp_path)
    _index(tmp_path, good | {"x": "gone.safetensors"})
    with pytest.raises(BadFile, match=r"gone\.safetensors is missing"):
        read_safetensors(tmp_path)
    for outside in ("../m.safetensors", "/etc/passwd", "sub/../../m.safetensors", ""):
        _index(tmp_path, good | {"x": outside})
        with pytest.raises(BadFile, match="leads out"):
            read_safetensors(tmp_path)
    _index(tmp_path, good | {"x": good["half"]})
    with pytest.raises(BadFile, match="tensor x is not in the shard"):
        read_safetensors(tmp_path)
    for wrong in (None, [], {"x": 3}):
        _index(tmp_path, wrong)
        with pytest.raises(BadFile, match="weight_map"):
            read_safetensors(tmp_path)


def test_a_folder_needs_one_index(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"no .*index"):
        read_safetensors(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.safetensors.index.json").write_text("{}")
    with pytest.raises(BadFile, match="more than one"):
        read_safetensors(tmp_path)


def _file(path: Path, header: object, data: bytes = bytes(24)) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def _entry(**changes: object) -> dict[str, object]:
    return {"x\ny": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24], **changes}}


BROKEN: dict[str, tuple[object, str]] = {
    "a list": ([], "header"),
    "no JSON": (b"{'a': 1}", "JSON"),
    "nested": (b'{"a":' * 100_000, "JSON"),
    "entry of another kind": ({"x": 3}, "array x does not fit"),
    "no such type": (_entry(dtype="F99"), "does not fit"),
    "smaller than a byte": (_entry(dtype="F4"), "F4"),
    "beyond the file": (_entry(data_offsets=[0, 1 << 40], shape=[1 << 38]), "does not fit"),
    "backwards": (_entry(data_offsets=[24, 0]), "does not fit"),
    "negative side": (_entry(shape=[-2, -3]), "does not fit"),
    "true for a side": (_entry(shape=[True, 6]), "does not fit"),
    "overflow": (_entry(shape=[0, 1 << 62, 1 << 62], data_offsets=[0, 0]), "does not fit"),
    "other size": (_entry(shape=[2, 4]), "does not fit"),
    "many sides": (_entry(shape=[1] * 99, data_offsets=[0, 4]), "does not fit"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_refused_in_one_line(tmp_path: Path, case: str) -> None:
    header, reason = BROKEN[case]
    with pytest.raises(BadFile, match=reason) as caught:
        read_safetensors(_file(tmp_path / "x.safetensors", header))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "cut", [lambda data: b"", lambda data: data[:7], lambda data: data[:20], lambda data: data[:-1]]
)
def test_cut_files(tmp_path: Path, cut: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "m.safetensors"
    save_file(ARRAYS, path)
    path.write_bytes(cut(path.read_bytes()))
    with pytest.raises(BadFile):
        read_safetensors(path)


def test_a_run_s_tensors_say_where_they_lie(tmp_path: Path) -> None:
    real, paired = Key.of("conv", "out"), Key.of("fft", "out")
    tensors = {real: np.arange(6.0).reshape(2, 3), paired: np.array([1 + 2j, 3j])}
    RankWriter(tmp_path).finish_step(0, "train", [{"event": "end", "t": 0.5}], tensors=tensors)
    read = open_run(tmp_path).rank().tensors(0)
    assert isinstance(read, Tensors)
    for key, array in tensors.items():
        assert read.stored(key).name == str(key)
        assert np.array_equal(read.stored(key).array(), array)
        assert read.stored(key).dtype == array.dtype
