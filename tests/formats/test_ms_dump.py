"""Folders that are no dump of MindSpore's, or not one that is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trueline.formats.ms_dump import looks_like_ms_dump, read_ms_dump
from trueline.formats.ms_dump.listings import spellings
from trueline.model.trouble import BadFile


def _iteration(root: Path, net: str = "Net") -> Path:
    folder = root / "rank_0" / net / "0" / "0"
    folder.mkdir(parents=True)
    (root / "rank_0" / "execution_order").mkdir(exist_ok=True)
    return folder


def _trouble(folder: Path) -> str:
    with pytest.raises(BadFile) as caught:
        read_ms_dump(folder)
    assert "\n" not in str(caught.value)
    return caught.value.reason


def test_other_folders_are_none(tmp_path: Path) -> None:
    (tmp_path / "rank_0" / "om").mkdir(parents=True)
    assert not looks_like_ms_dump(tmp_path)
    assert not looks_like_ms_dump(tmp_path / "missing")
    assert "not a folder of MindSpore's dump" in _trouble(tmp_path)


def test_statistics_without_tensors_are_refused_as_what_they_are(tmp_path: Path) -> None:
    (_iteration(tmp_path) / "statistic.csv").write_text("Op Type,Op Name\n", "utf-8")
    assert "statistic.csv" in _trouble(tmp_path)


def test_a_dump_without_tensors_and_one_of_two_networks_are_refused(tmp_path: Path) -> None:
    first = _iteration(tmp_path)
    (first / "Conv2D.Default_Conv2D-op0.1.2.3").write_bytes(b"raw")
    assert "no tensor" in _trouble(tmp_path)
    _iteration(tmp_path, "Other")
    assert "Net, Other" in _trouble(tmp_path)


def test_a_file_name_that_was_too_long_is_looked_up(tmp_path: Path) -> None:
    folder = _iteration(tmp_path)
    scope = "Default/layer-Dense/MatMul-op0"
    order = tmp_path / "rank_0" / "execution_order" / "ms_execution_order_graph_0.csv"
    order.write_text(f"NodeExecutionOrder-FullNameWithScope\n{scope}\n", "utf-8")
    np.save(folder / "123.npy", np.ones(3, np.float32))
    long = f"MatMul.{scope.replace('/', '_')}.0.0.17.output.0.DefaultFormat.Float32.npy"
    (folder / "mapping.csv").write_text(f"123.npy,{long}\n", "utf-8")
    (only,) = read_ms_dump(tmp_path).steps[0, 0]
    assert (str(only.key), only.type, only.shape) == ("train/layer#0/out/0", "Dense", (3,))


def test_a_second_graph_s_operators_are_found_though_their_numbers_go_on() -> None:
    order = ["Default/a-Dense/MatMul-op0", "Default/b-Dense/MatMul-op0", "Default/b-Dense/MatMul-op1"]
    seen = ["Default_a-Dense_MatMul-op1", "Default_b-Dense_MatMul-op3", "Default_b-Dense_MatMul-op2"]
    assert spellings(order, seen) == {seen[0]: order[0], seen[1]: order[2], seen[2]: order[1]}
