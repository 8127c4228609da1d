"""MindSpore's dump folders, written by MindSpore."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.formats.dump import Dumped
from trueline.formats.ms_dump import looks_like_ms_dump, read_ms_dump
from trueline.model.trouble import BadFile

_PROGRAM = Path(__file__).with_name("ms_dumping.py")


def _dump(folder: Path, mode: str, saved: int) -> tuple[Path, Any]:
    done = subprocess.run(
        [sys.executable, str(_PROGRAM), str(folder), mode, str(saved)],
        cwd=folder,
        env={**os.environ, "GLOG_v": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "dump", json.loads(done.stdout.rpartition("\nRESULT")[2])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    return _dump(tmp_path_factory.mktemp("trained"), "train", 0)


@pytest.fixture(scope="module")
def inferred(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    return _dump(tmp_path_factory.mktemp("inferred"), "infer", 2)


def _by_key(tensors: Any) -> dict[str, Dumped]:
    found = {str(one.key): one for one in tensors}
    assert len(found) == len(tensors)
    return found


def _array(one: Dumped) -> Any:
    assert one.stored is not None
    return one.stored.array()


def test_a_training_has_a_step_for_each_iteration_and_the_evaluation_its_own_phase(trained: Any) -> None:
    dump = read_ms_dump(trained[0])
    assert (dump.tool, list(dump.steps)) == ("mindspore", [(0, 0), (1, 0), (2, 0)])
    phases = [{str(one.key.phase) for one in tensors} for tensors in dump.steps.values()]
    assert phases == [{"train"}, {"train"}, {"eval"}]


def test_outputs_of_cells_are_those_of_the_training(trained: Any) -> None:
    folder, told = trained
    dump = read_ms_dump(folder)
    for step in (0, 1):
        found = _by_key(dump.steps[step, 0])
        assert float(_array(found["train/_loss_fn#0/out/0"])) == pytest.approx(told["loss"][step], rel=1e-6)
        np.testing.assert_array_equal(
            _array(found["train/act#0/out/0"]), np.maximum(_array(found["train/norm#0/out/0"]), 0)
        )
        assert found["train/conv#0/out/0"].type == "Conv2d"
        assert found["train/conv#0/out/Conv2D.0"].type == "Conv2D"
    evaluated = _by_key(dump.steps[2, 0])
    head = _array(evaluated["eval/head#0/out/0"]) * _array(evaluated["eval/#0/param/scale"])
    np.testing.assert_allclose(head, told["out"][0], rtol=1e-6)


def test_weights_slots_and_inputs_have_their_own_names(trained: Any) -> None:
    folder, told = trained
    tensors = read_ms_dump(folder).steps[1, 0]
    found = _by_key(tensors)
    for name, weight in told["weights"].items():
        module, _, leaf = name.rpartition(".")
        kind = "buffer" if leaf.startswith("moving") else "param"
        one = found[f"train/{module}#0/{kind}/{leaf}"]
        assert one.name == name
        np.testing.assert_array_equal(_array(one), np.array(weight, np.float32))
    assert found["train/conv#0/opt/weight:moment1"].shape == (2, 1, 3, 3)
    assert found["train/#0/opt/beta1_power"].shape == ()
    # The graph's inputs come first, as in execution.
    assert [(str(one.key), one.shape) for one in tensors[:2]] == [
        ("train/#0/in/0", (4, 1, 8, 8)),
        ("train/#0/in/1", (4,)),
    ]
    np.testing.assert_array_equal(_array(found["train/conv#0/in/0"]), _array(tensors[0]))


def test_execution_order_is_kept(inferred: Any) -> None:
    tensors = read_ms_dump(inferred[0]).steps[0, 0]
    cells = [str(one.key) for one in tensors if one.key.kind == "out" and one.key.index == "0"]
    assert cells == [f"train/{name}#0/out/0" for name in ("conv", "norm", "act", "head")]


def test_a_rank_s_or_network_s_folder_will_do(inferred: Any) -> None:
    folder = inferred[0]
    whole = read_ms_dump(folder)
    for part in (folder / "rank_0", folder / "rank_0" / "Net"):
        assert looks_like_ms_dump(part)
        assert read_ms_dump(part).steps == whole.steps


def test_ranks_are_told_apart(inferred: Any, tmp_path: Path) -> None:
    for rank in (0, 3):
        shutil.copytree(inferred[0] / "rank_0", tmp_path / f"rank_{rank}")
    assert list(read_ms_dump(tmp_path).steps) == [(0, 0), (0, 3), (1, 0), (1, 3)]


def test_without_its_listings_the_tensors_are_still_there(inferred: Any, tmp_path: Path) -> None:
    shutil.copytree(inferred[0], tmp_path / "dump")
    shutil.rmtree(tmp_path / "dump" / "rank_0" / "execution_order")
    shutil.rmtree(tmp_path / "dump" / "rank_0" / "graphs")
    tensors = read_ms_dump(tmp_path / "dump").steps[0, 0]
    assert len(_by_key(tensors)) == len(read_ms_dump(inferred[0]).steps[0, 0])


def test_damaged_dumps_give_one_clear_line(inferred: Any, tmp_path: Path) -> None:
    source = inferred[0]
    for at, path in enumerate(sorted(source.rglob("*.npy"))[:25] + sorted(source.rglob("*.csv"))):
        copy = tmp_path / str(at)
        shutil.copytree(source, copy)
        target = copy / path.relative_to(source)
        data = target.read_bytes()
        target.chmod(0o600)
        target.write_bytes(data[: len(data) // 2] if at % 2 else bytes((data[0] ^ 0xFF,)) + data[1:])
        try:
            read_ms_dump(copy)
        except BadFile as trouble:
            assert "\n" not in str(trouble)
            assert path.name in trouble.path
