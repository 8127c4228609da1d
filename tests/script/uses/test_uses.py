"""Uses of APIs are found whatever they are called through, and methods by what a value is."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from trueline.script.project import Project
from trueline.script.source import read_source
from trueline.script.uses import Use, UseKind, uses_of

HEAD = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader
from functools import partial
"""


def read(folder: Path, source: str, **files: str) -> list[Use]:
    """The uses of one script, beside other files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))
    script = folder / "script.py"
    script.write_text(dedent(source))
    return uses_of(read_source(script, "script.py"), Project([folder], []))


def names(uses: list[Use], *kinds: UseKind) -> list[str]:
    """Their names, of some kinds."""
    return [use.name for use in uses if not kinds or use.kind in kinds]


IMPORTS = [
    ("import torch.nn as nn\nnn.Conv2d(3, 8, 3)", ["torch.nn.Conv2d"]),
    ("import torch\ntorch.nn.functional.relu(1)", ["torch.nn.functional.relu"]),
    ("from torch import nn as layers\nlayers.ReLU()", ["torch.nn.ReLU"]),
    ("from torch.nn import *\nLinear(2, 2)", ["torch.nn.Linear"]),
    ("from torch.nn.modules.linear import Linear\nLinear(2, 2)", ["torch.nn.Linear"]),
    ("import torch.nn as nn\ngetattr(nn, 'ReLU')()", ["torch.nn.ReLU", "torch.nn.ReLU"]),
    ("from torchvision import transforms as T\nT.Resize(3)", ["torchvision.transforms.Resize"]),
    ("import timm\ntimm.create_model('resnet18')", ["timm.create_model"]),
    ("import mindspore as ms\nms.ops.relu(ms.Tensor([1]))", ["mindspore.ops.relu", "mindspore.Tensor"]),
    ("try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.cat([])", ["torch.cat"]),
]


@pytest.mark.parametrize(("source", "expected"), IMPORTS)
def test_names_are_resolved_through_imports(tmp_path: Path, source: str, expected: list[str]) -> None:
    assert names(read(tmp_path, source)) == expected


METHODS = [
    ("torch.zeros(2).view(-1).mean()", ["view", "mean"]),
    ("x, i = torch.max(torch.ones(2, 2), 1)\nx.exp()\ni.float()", ["exp", "float"]),
    ("a = torch.ones(2)\nb = (a + 1) * 2\nb.sum()", ["sum"]),
    ("for part in torch.ones(4).chunk(2):\n    part.sqrt()", ["chunk", "sqrt"]),
    ("for x, y in DataLoader([]):\n    x.cuda()", ["cuda"]),
    ("def f(x: Tensor, n: int = 1):\n    return x.view(n)\nf(1).abs()", ["view", "abs"]),
    ("def f(x):\n    return x.view(1)\nf(torch.ones(1)).abs()", ["view", "abs"]),
    ("parts = []\nparts.append(torch.ones(2))\nfor part in parts:\n    part.neg()", ["neg"]),
    ("p = nn.Parameter(torch.ones(2))\np.data.copy_(p)", ["copy_"]),
    ("lin = nn.Linear(2, 2)\nlin.weight.norm()\nlin(1).exp()", ["norm", "exp"]),
]


@pytest.mark.parametrize(("source", "expected"), METHODS)
def test_methods_of_tensors_are_known_by_what_the_value_is(tmp_path: Path, source: str, expected: list[str]) -> None:
    found = names(read(tmp_path, HEAD + source), UseKind.METHOD)
    assert [name.rpartition(".")[2] for name in found if name.startswith("torch.Tensor.")] == expected


@pytest.mark.parametrize(
    "source",
    [
        "np.zeros(3).mean()",
        "'a,b'.split(',')",
        "{}.values()",
        "xs = [1]\nxs.sort()",
        "import os\nos.path.join('a').split('.')",
        "x = torch.ones(1).numpy()\nx.mean()",
        "torch.ones(1).tolist().index(1)",
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\nargs.sizes.split(',')",
    ],
)
def test_what_is_no_tensor_is_not_taken_for_one(tmp_path: Path, source: str) -> None:
    found = [use for use in read(tmp_path, HEAD + source) if use.call and use.line > HEAD.count("\n")]
    last = max(found, key=lambda use: use.end, default=None)
    methods = {"mean", "split", "values", "sort", "index"}
    assert last is None or last.name.rpartition(".")[2] not in methods


def test_a_receiver_that_cannot_be_told_is_undecided(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + "def f(x):\n    return x.view(1, -1)")
    assert [(use.kind, use.name, use.receiver, use.scope) for use in found] == [(UseKind.UNDECIDED, ".view", "x", "f")]


def test_calls_that_disagree_leave_a_parameter_undecided(tmp_path: Path) -> None:
    source = "def f(x):\n    return x.mean()\nf(torch.ones(2))\nf(np.ones(2))"
    found = read(tmp_path, HEAD + source)
    assert [use.name for use in found if use.scope == "f"] == [".mean"]


def test_branches_that_disagree_leave_a_value_undecided(tmp_path: Path) -> None:
    source = "if flag:\n    x = torch.ones(2)\nelse:\n    x = np.ones(2)\nx.mean()"
    assert names(read(tmp_path, HEAD + source), UseKind.UNDECIDED) == [".mean"]


NETWORK = """
class Net(nn.Module):
    def __init__(self, act_layer=nn.GELU):
        super().__init__()
        self.act = act_layer()
        self.conv = nn.Conv2d(3, 8, 3, bias=False)
        self.norms = nn.ModuleList([nn.LayerNorm(8) for _ in range(2)])

    def split(self, x):
        return x.chunk(2)

    @torch.no_grad()
    def forward(self, x, mask=None):
        for norm in self.norms:
            x = norm(x)
        a, b = self.split(self.act(self.conv(x)))
        return a.flatten(1), b

def train(model, loader, optimizer):
    for images, _ in loader:
        out, _ = model(images)
        out.mean().backward()
        optimizer.step()

model = Net(act_layer=partial(nn.LeakyReLU, 0.2))
train(model, DataLoader([]), torch.optim.SGD(model.parameters(), lr=0.1))
"""


def test_a_network_and_its_training_are_followed(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + NETWORK)
    assert names(found, UseKind.BASE) == ["torch.nn.Module"]
    assert names(found, UseKind.DECORATOR) == ["torch.no_grad"]
    assert names(found, UseKind.VALUE) == ["torch.nn.GELU"]
    assert names(found, UseKind.PARTIAL) == ["torch.nn.LeakyReLU"]
    assert names(found, UseKind.UNDECIDED) == []
    assert names(found, UseKind.METHOD) == [
        "torch.Tensor.chunk",
        "torch.Tensor.flatten",
        "torch.Tensor.mean",
        "torch.Tensor.backward",
        "torch.optim.Optimizer.step",
        "torch.nn.Module.parameters",
    ]
    conv = next(use for use in found if use.name == "torch.nn.Conv2d")
    assert conv.call is not None
    assert [(given.name, given.text) for given in conv.call.arguments] == [
        (None, "3"), (None, "8"), (None, "3"), ("bias", "False"),
    ]  # fmt: skip
    partial = next(use for use in found if use.kind is UseKind.PARTIAL)
    assert partial.call is not None and [given.text for given in partial.call.arguments] == ["0.2"]


def test_places_are_those_of_the_name_and_its_arguments(tmp_path: Path) -> None:
    source = "import torch\nx = torch.cat([\n    torch.ones(1),\n], dim=0)\n"
    cat = read(tmp_path, source)[0]
    assert (cat.line, cat.column, cat.end) == (2, 4, (2, 13))
    assert cat.call is not None and (cat.call.end_line, cat.call.end_column) == (4, 9)
    last = cat.call.arguments[-1]
    assert (last.name, last.line, last.column, last.end_column) == ("dim", 4, 7, 8)


def test_names_go_through_files_of_the_project(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "from layers import *\nfrom parts import Block, F\nConv(1, 2, 3)\nF.relu(Block()(1).view(2))",
        layers="import torch.nn as nn\nfrom torch.nn import Conv2d as Conv\n",
        parts="from layers import nn\nimport torch.nn.functional as F\nclass Block(nn.Module):\n    pass\n",
    )
    assert names(found) == ["torch.nn.Conv2d", "torch.nn.functional.relu", "torch.Tensor.view"]


def test_what_is_called_through_a_name_of_the_script_is_indirect(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + "Conv = nn.Conv2d\nConv(1, 2, 3)")
    assert [(use.kind, use.name) for use in found] == [
        (UseKind.VALUE, "torch.nn.Conv2d"),
        (UseKind.INDIRECT, "torch.nn.Conv2d"),
    ]


def test_methods_of_mindspore_are_its_own(tmp_path: Path) -> None:
    source = """
    import mindspore as ms
    from mindspore import nn, ops
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = ops.ReLU()
        def construct(self, x):
            return self.relu(x).asnumpy().mean()
    for data in ms.dataset.GeneratorDataset([], ["x"]).batch(2).create_dict_iterator():
        data["x"].sum()
    """
    found = read(tmp_path, source)
    assert names(found, UseKind.METHOD) == [
        "mindspore.Tensor.asnumpy",
        "mindspore.dataset.Dataset.batch",
        "mindspore.dataset.Dataset.create_dict_iterator",
        "mindspore.Tensor.sum",
    ]
