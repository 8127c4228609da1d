"""Two models with the same weights are told equal but for rounding; a port with a fault is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
import torch
from pair.sides import IN_MINDSPORE, side_of, values

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.floors import Basis
from trueline.compare.verdict import Verdict
from trueline.pair.sides.side import Side
from trueline.pair.verify import verify

IMAGE = np.random.default_rng(1).standard_normal((2, 3, 16, 16)).astype(np.float32)


def _torch_file(path: Path, weights: dict[str, np.ndarray]) -> Path:
    given = {name: torch.from_numpy(one) for name, one in weights.items()}
    torch.save({**given, "second.weight": given["first.weight"]}, path)
    return path


def _mindspore_file(path: Path, weights: dict[str, np.ndarray]) -> Path:
    named = [{"name": IN_MINDSPORE[name], "data": ms.Tensor(one)} for name, one in weights.items()]
    ms.save_checkpoint(named, str(path))
    return path


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    with side_of("torch_side:net") as side:
        side.load(_torch_file(tmp_path_factory.mktemp("bench") / "net.pth", values()))
        yield side


@pytest.fixture(scope="module")
def port() -> Iterator[Side]:
    with side_of("mindspore_side:net") as side:
        yield side


def test_a_correct_port_is_equal_but_for_rounding(bench: Side, port: Side, tmp_path: Path) -> None:
    port.load(_mindspore_file(tmp_path / "net.ckpt", values()))
    found = verify(bench, port, [IMAGE])
    assert found.verdict is Verdict.NOISE
    assert found.counts == (2, 2)
    assert [one.floor.basis for one in found.outputs] == [Basis.MEASURED] * 2
    assert all(one.level < one.floor.value < 1e-3 for one in found.outputs)
    assert not any(one.blind for one in found.outputs)
    assert found.to_json()["outputs"][0]["verdict"] == "noise"


def test_a_model_against_itself_is_equal(bench: Side) -> None:
    assert verify(bench, bench, [IMAGE], rounds=1).verdict is Verdict.EQUAL


def test_swapped_weights_differ_in_what_comes_after(bench: Side, port: Side, tmp_path: Path) -> None:
    weights = values()
    weights["first.bias"], weights["second.bias"] = weights["second.bias"], weights["first.bias"]
    port.load(_mindspore_file(tmp_path / "net.ckpt", weights))
    found = verify(bench, port, [IMAGE])
    assert found.verdict is Verdict.DIFFERS
    assert [one.verdict for one in found.outputs] == [Verdict.DIFFERS, Verdict.NOISE]
    assert found.worst is found.outputs[0]


def test_a_slightly_other_weight_differs(bench: Side, port: Side, tmp_path: Path) -> None:
    weights = values()
    weights["fc.weight"] = weights["fc.weight"] * np.float32(1.001)
    port.load(_mindspore_file(tmp_path / "net.ckpt", weights))
    assert verify(bench, port, [IMAGE]).verdict is Verdict.DIFFERS


def test_another_eps_differs(bench: Side, tmp_path: Path) -> None:
    with side_of("mindspore_side:other_eps") as port:
        port.load(_mindspore_file(tmp_path / "net.ckpt", values()))
        found = verify(bench, port, [IMAGE])
    assert found.verdict is Verdict.DIFFERS
    worst = found.worst
    assert worst is not None
    assert worst.level > 10 * worst.floor.value


def test_outputs_that_change_each_time_verify_nothing(bench: Side) -> None:
    with side_of("torch_side:noisy") as noisy, pytest.raises(SideTrouble) as caught:
        verify(bench, noisy, [IMAGE])
    assert caught.value.message.id == "side.not_repeatable"
    assert str(caught.value).startswith("torch_side:noisy: ")


def test_other_outputs_than_the_benchmark_s_differ(bench: Side) -> None:
    with side_of("mindspore_side:one_output") as port:
        found = verify(bench, port, [IMAGE], rounds=1)
    assert found.verdict is Verdict.DIFFERS
    assert found.counts == (2, 1)
    assert not found.outputs[0].distance.comparable
