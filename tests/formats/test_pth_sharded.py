"""Weights in several files of torch.save with an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.formats.making import making
from trueline.formats.outgoing import Outgoing
from trueline.formats.pth.sharded import read_sharded_pth
from trueline.formats.pth.writer import write_pth
from trueline.model.trouble import BadFile

ARRAYS: dict[str, Any] = {
    "model.embed.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "model.norm.weight": np.ones(4),
    "lm_head.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
}
FIRST, SECOND = "pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"
PLACES = {"lm_head.weight": SECOND, "model.embed.weight": FIRST, "model.norm.weight": FIRST}


def shard(path: Path, *names: str, **shared: str) -> None:
    tree = {
        name: Outgoing(name, ARRAYS[name].shape, ARRAYS[name].dtype, ARRAYS[name], shared.get(name)) for name in names
    }
    with making(path) as made:
        write_pth(made.sink(path), tree)


def index(folder: Path, content: Any) -> Path:
    path = folder / "pytorch_model.bin.index.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    shard(tmp_path / FIRST, "model.embed.weight", "model.norm.weight")
    shard(tmp_path / SECOND, "lm_head.weight")
    return index(tmp_path, {"metadata": {"total_size": 128, "odd": [1]}, "weight_map": PLACES})


def test_comes_back_in_the_order_of_the_index(saved: Path) -> None:
    for path in (saved, saved.parent):
        read = read_sharded_pth(path)
        assert (read.path, read.format, read.others) == (saved, "pth", {"total_size": 128})
        assert list(read.model) == list(PLACES)
        for name, array in ARRAYS.items():
            assert np.array_equal(read.model[name].array(), array)


def test_shared_arrays(tmp_path: Path) -> None:
    shard(
        tmp_path / FIRST,
        *("model.embed.weight", "lm_head.weight", "model.norm.weight"),
        **{"lm_head.weight": "model.embed.weight"},
    )
    path = index(tmp_path, {"weight_map": dict.fromkeys(ARRAYS, FIRST)})
    assert read_sharded_pth(path).model["lm_head.weight"].shared_with == "model.embed.weight"
    path = index(tmp_path, {"weight_map": {"lm_head.weight": FIRST}})
    assert read_sharded_pth(path).model["lm_head.weight"].shared_with is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "weight_map"),
        ({"weight_map": {"a": 1}}, "weight_map"),
        ({"weight_map": {}}, "no arrays"),
        ({"weight_map": {"a": FIRST}}, f"a is not in the shard {FIRST}"),
        ({"weight_map": {"a": "gone.bin"}}, "gone.bin is missing"),
        ({"weight_map": {"a": "../x.bin"}}, "leads out"),
        ({"weight_map": {"a": "/etc/passwd"}}, "leads out"),
        ({"weight_map": {"a": ""}}, "leads out"),
        ({"weight_map": {"a": "权" * 200}}, "is missing"),
        ({"weight_map": {"a": "x\0.bin"}}, "is missing"),
        ({"weight_map": {"a": "."}}, "leads out"),
        ({"weight_map": {"a": "folder"}}, "folder: cannot be read"),
        ({"weight_map": {"a": "text.bin"}}, "not a file of torch.save"),
    ],
)
def test_an_index_that_does_not_fit(saved: Path, content: Any, said: str) -> None:
    (saved.parent / "folder").mkdir()
    (saved.parent / "text.bin").write_text("no weights")
    with pytest.raises(BadFile, match=said):
        read_sharded_pth(index(saved.parent, content))


def test_no_index_or_several(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no"):
        read_sharded_pth(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.bin.index.json").write_text("{}")
    with pytest.raises(BadFile, match="more than one"):
        read_sharded_pth(tmp_path)
    (tmp_path / "a.bin.index.json").write_text("[" * 100_000)
    with pytest.raises(BadFile, match="not valid JSON"):
        read_sharded_pth(tmp_path / "a.bin.index.json")
