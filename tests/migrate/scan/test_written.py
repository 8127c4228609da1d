"""What is said of a call's arguments can be written down: each is tried in MindSpore and gives what torch gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mindspore
import numpy as np
import pytest
import torch

from trueline.migrate.scan.judging import Judged, judge
from trueline.migrate.scan.words import todo_said
from trueline.model.message import Message
from trueline.script.source import read_source
from trueline.script.uses import UseKind, uses_of

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nx = torch.ones(2, 3)\n"


def judged(folder: Path, line: str) -> Judged:
    """The last use of a line that is called, judged by the table of the package."""
    script = folder / "script.py"
    script.write_text(HEAD + line)
    uses = [use for use in uses_of(read_source(script, "script.py")) if use.line == 5 and use.kind is not UseKind.BASE]
    return judge(uses[0], "classic")


def said(folder: Path, line: str) -> str:
    found = todo_said(judged(folder, line))
    return found.text("en") if isinstance(found, Message) else found


LAYERS = {
    "nn.Conv2d(3, 8, 3, 1, 1)": ("pad_mode='pad'", "padding=1"),
    "nn.Conv2d(3, 8, 3, padding=pad, groups=g, bias=b)": ("pad_mode='pad', padding=pad", "group=g", "has_bias=b"),
    "nn.Conv2d(3, 8, kernel_size=3, stride=2, dilation=1)": (),
    "nn.BatchNorm2d(8, eps=1e-3, momentum=0.25)": ("momentum=0.75",),
    "nn.BatchNorm2d(8, momentum=m)": ("momentum=1 - m",),
    "nn.BatchNorm2d(8, track_running_stats=False)": ("use_batch_statistics=True",),
    "nn.MaxPool2d(3, 2, 1)": ("pad_mode='pad', padding=1",),
    "nn.LayerNorm(8)": ("normalized_shape=(8,)",),
    "nn.Embedding(10, 4)": (),
    "nn.AdaptiveAvgPool2d((1, 1))": (),
    "nn.LeakyReLU(0.2)": (),
    "nn.LeakyReLU(negative_slope=0.2)": ("alpha=0.2",),
}


@pytest.mark.parametrize("line", LAYERS)
def test_arguments_of_a_layer(line: str, tmp_path: Path) -> None:
    found = ", ".join(judged(tmp_path, line).written)
    for written in LAYERS[line]:
        assert written in found
    if not LAYERS[line]:
        assert found == ""


CALLS = {
    "torch.zeros(2, 3)": "size=(2, 3)",
    "torch.zeros((2, 3))": "",
    "torch.zeros(*shape)": "",
    "torch.zeros(shape)": "",
    "torch.stack([x, x], dim=1)": "axis=1",
    "torch.stack([x, x], 1)": "",
    "x.flip(0, 1)": "dims=(0, 1)",
    "x.new_zeros(2, 3)": "size=(2, 3)",
    "x.repeat(2, 1)": "multiples=(2, 1)",
    "x.view(3, 2)": "",
    "x.std(dim=1, unbiased=False)": "axis=1, ddof=0",
    "torch.var(x, 1, correction=0)": "ddof=0",
}


@pytest.mark.parametrize("line", CALLS)
def test_arguments_of_a_function(line: str, tmp_path: Path) -> None:
    assert ", ".join(judged(tmp_path, line).written) == CALLS[line]


def test_what_is_said_of_a_default_and_of_an_argument_makes_one_call(tmp_path: Path) -> None:
    sentence = said(tmp_path, "nn.Conv2d(3, 8, 3, padding=1)")
    assert "write has_bias=True" in sentence and "write pad_mode='pad', padding=1" in sentence
    array = np.random.default_rng(0).normal(size=(2, 3, 6, 6)).astype(np.float32)
    bench = torch.nn.Conv2d(3, 8, 3, padding=1)
    port = mindspore.nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
    _load(port, bench)
    np.testing.assert_allclose(
        bench(torch.from_numpy(array)).detach().numpy(), port(mindspore.Tensor(array)).asnumpy(), atol=1e-5
    )


def _load(port: Any, bench: Any) -> None:
    port.weight.set_data(mindspore.Tensor(bench.weight.detach().numpy()))
    port.bias.set_data(mindspore.Tensor(bench.bias.detach().numpy()))


def test_a_default_that_another_form_of_the_call_gives_is_not_relied_on(tmp_path: Path) -> None:
    assert [one.argument for one in judged(tmp_path, "x.std(dim=1)").relied] == ["correction"]
    assert judged(tmp_path, "x.std(dim=1, unbiased=False)").relied == ()
    assert judged(tmp_path, "torch.var(x, 1, correction=0)").relied == ()


def test_a_remark_on_the_counterpart_does_not_hide_that_it_differs(tmp_path: Path) -> None:
    sentence = said(tmp_path, "nn.Embedding(10, 4, padding_idx=0)")
    assert "gradient" in sentence and "embedding_table=Normal(1.0)" in sentence


def test_layers_of_mindspore_are_written_with_torchs_arguments(tmp_path: Path) -> None:
    def of(line: str) -> tuple[str, tuple[str, ...]]:
        script = tmp_path / "script.py"
        script.write_text("from mindspore import nn\n" + line)
        found = judge(next(use for use in uses_of(read_source(script, "script.py")) if use.line == 2), "classic")
        return found.verdict.value, found.written

    assert of("nn.BatchNorm2d(8, momentum=0.99)") == ("maps", ("momentum=0.01",))
    assert of("nn.BatchNorm2d(8)") == ("maps", ())
    assert of("nn.Conv2d(3, 8, 3, pad_mode='pad', padding=1, has_bias=True)") == ("maps", ("bias=True",))
    assert of("nn.AvgPool2d(3, 2, pad_mode='same')")[0] == "differs"
    assert of("nn.Dense(3, 4)") == ("maps", ())
