"""Where rounding decides a branch or a sign, what follows is further apart, and still no fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from compare.small_trainings import train

import trueline
from trueline.compare.report.runs import result
from trueline.compare.rows import Tensor
from trueline.compare.runs import compare_runs
from trueline.compare.tensors import How, compare_tensors
from trueline.formats.npy import read_npy
from trueline.formats.pth import read_pth
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.key import Key

GRADIENTS = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)


def tensor(folder: Path, key: Key, values: np.ndarray, side: str) -> Tensor:
    path = folder / f"{side}-{key.kind}-{key.module}.npy"
    np.save(path, values)
    return Tensor(key, str(key), values.shape, str(values.dtype), read_npy(path))


def compared(folder: Path, elements: int, after: float) -> Any:
    """A gradient that is off in some elements, and the one behind it off by a share of its scale."""
    first, second = Key.of("relu", "gout"), Key.of("conv", "grad", "weight")
    moved = GRADIENTS.copy()
    moved[:elements] = 0
    here = [tensor(folder, first, moved, "a"), tensor(folder, second, GRADIENTS * np.float32(1 + after), "a")]
    there = [tensor(folder, first, GRADIENTS, "b"), tensor(folder, second, GRADIENTS, "b")]
    return compare_tensors(here, there, How())


def test_one_element_in_a_hundred_thousand_is_a_relu_at_zero(tmp_path: Path) -> None:
    found = compared(tmp_path, elements=1, after=1e-3)
    assert found.first is None and found.switched


def test_many_elements_are_a_fault(tmp_path: Path) -> None:
    assert compared(tmp_path, elements=200, after=0.0).first == 0


def test_a_fault_behind_a_switch_is_still_found(tmp_path: Path) -> None:
    assert compared(tmp_path, elements=1, after=3.0).first == 1


class WithIdleBias(torch.nn.Module):
    """The bias before BatchNorm has no gradient but rounding."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.bn = torch.nn.BatchNorm2d(4)
        self.fc = torch.nn.Linear(64, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(torch.relu(self.bn(self.conv(x))).flatten(1))


def adam(folder: Path, *, turned: bool, wrong: bool = False) -> Run:
    """Two steps with Adam; ``turned`` gives the idle bias the opposite of its rounding."""
    torch.manual_seed(0)
    with trueline.record(folder, tensors=True, grads=True, weights=True):
        model = WithIdleBias()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for step in range(2):
            x = torch.randn(8, 1, 6, 6, generator=torch.Generator().manual_seed(step))
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), torch.arange(8) % 3).backward()
            bias = model.conv.bias.grad
            bias.copy_(torch.full_like(bias, -1e-9 if turned else 1e-9))
            optimizer.step()
            if wrong:
                with torch.no_grad():
                    model.fc.weight[0, 0] += 1e-3
    return open_run(folder)


def test_an_adaptive_step_along_a_gradient_of_rounding_may_go_either_way(tmp_path: Path) -> None:
    bench = adam(tmp_path / "b", turned=False)
    assert not compare_runs(adam(tmp_path / "a", turned=True), bench).differs
    found = result(compare_runs(adam(tmp_path / "c", turned=True, wrong=True), bench)).to_json("en")
    assert found["first"]["key"] == "train/fc#0/param/weight"


def test_other_labels_are_other_data(tmp_path: Path) -> None:
    bench = train(tmp_path / "b")
    found = result(compare_runs(train(tmp_path / "a", label_shift=1), bench)).to_json("en")
    assert (found["findings"][0]["code"], found["stopped_at"]) == ("cmp.07", "data")
    assert "the field 1" in found["conclusion"]


def test_what_was_rounded_on_the_way_stays_rounded(tmp_path: Path) -> None:
    """A float32 loss of bfloat16 logits is as coarse as those."""
    sides = []
    for side, factor in (("a", 1.01), ("b", 1.0)):
        logits = (torch.from_numpy(GRADIENTS[:1000]) * factor).to(torch.bfloat16)
        torch.save({"fc": logits, "loss": logits.float().pow(2).mean()[None]}, tmp_path / f"{side}.pth")
        kept = read_pth(tmp_path / f"{side}.pth").model
        keys = {name: Key.of(name, "out") for name in kept}
        sides.append([Tensor(keys[name], name, one.shape, str(one.dtype), one) for name, one in kept.items()])
    assert compare_tensors(sides[0], sides[1], How()).first is None
