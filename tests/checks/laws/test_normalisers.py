"""tr.31: a weight under spectral norm has the norm 1 where it is first used."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks.laws.trainings import said

from trueline.model.finding import Conclusion

TRAINING = """
import torch
from torch import nn
from torch.nn.utils import spectral_norm as by_hook
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(0)
x = torch.randn(12, 6)
layer = nn.Linear(6, 4)
{build}
student = nn.Linear(6, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
for _ in range(2):
    with torch.no_grad():
        wanted = teacher(x)
    optimizer.zero_grad()
    (student(x) - wanted).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "build",
    [
        "teacher = spectral_norm(layer)\nnn.init.normal_(teacher.parametrizations.weight.original)\nteacher.eval()",
        "teacher = by_hook(layer)\nnn.init.normal_(teacher.weight_orig)\nteacher.eval()",
    ],
)
def test_weights_that_are_initialised_too_late_are_named_where_their_layer_is_built(tmp_path: Path, build: str) -> None:
    found = said(tmp_path, "tr.31", TRAINING.format(build=build))
    assert found == [("tr_31.too_large", Conclusion.FOUND, 0, "layer = nn.Linear(6, 4)")]


@pytest.mark.parametrize(
    "build",
    [
        "nn.init.normal_(layer.weight)\nteacher = spectral_norm(layer).eval()",
        "nn.init.normal_(layer.weight)\nteacher = by_hook(layer)\nfor _ in range(30):\n    teacher(x)\nteacher.eval()",
        "teacher = spectral_norm(layer)\nnn.init.normal_(teacher.parametrizations.weight.original)",
        "teacher = layer.eval()",
    ],
)
def test_weights_as_promised_and_those_that_training_corrects_are_left_alone(tmp_path: Path, build: str) -> None:
    assert said(tmp_path, "tr.31", TRAINING.format(build=build)) == []
