"""What a draft leaves alone, what it says, and where it is written."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from tests.migrate.rewrite.pairs import FIXTURES, draft_of, drafted

from trueline.apitable.pairs import Difference, Example, Machine, Measured, Needed, Outcome, Table
from trueline.cli.rewriting import write_drafts
from trueline.migrate.rewrite.draft import rewrite
from trueline.model.trouble import BadUsage
from trueline.script.project import open_project


def test_an_unknown_call_keeps_its_line_with_a_comment(tmp_path: Path) -> None:
    line = "y = torch.special.entr(x)  # mine"
    text = drafted(tmp_path, f"import torch\n\nx = torch.ones(2)\nif x is not None:\n    {line}\n").text
    assert f"    {line}" in text.splitlines()
    above = text.splitlines()[text.splitlines().index(f"    {line}") - 1]
    assert above.startswith("    # TrueLine: torch.special.entr")
    assert "import torch" in text.splitlines()


def test_a_comment_never_lands_inside_a_string_or_behind_a_backslash(tmp_path: Path) -> None:
    source = 'import torch\n\ntext = """\n%s\n""" % torch.special.entr(1)\nvalue = 1 + \\\n    torch.special.entr(2)\n'
    text = drafted(tmp_path, source).text
    ast.parse(text)
    assert "\n%s\n" in text


def test_a_file_without_torch_stays_as_it_is(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef f(x):\n    return x.transpose(0, 1).size\n"
    draft = drafted(tmp_path, source)
    assert draft.text == source and not draft.changed


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.py")), ids=lambda path: path.stem)
def test_a_draft_of_a_draft_is_the_draft(path: Path, tmp_path: Path) -> None:
    once = draft_of(path).text
    assert drafted(tmp_path, once).text == once


def test_only_what_the_table_calls_equal_is_written(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\n\na = nn.GELU()\nb = nn.Tanh()\n")
    names = ("torch.nn.GELU", "mindspore.nn.GELU")
    need = Needed("approximate", "'none'", "True", for_torch="approximate=False")
    rows = {names: Measured(*names, Outcome.EQUAL_WITH, needs=(need,))}
    (draft,) = rewrite(open_project([path]), table=Table(Machine(), rows))
    assert "a = nn.GELU(approximate=False)" in draft.text
    assert "b = torch.nn.Tanh()" in draft.text
    assert [one.name for one in draft.left if one.line == 4] == ["torch.nn.Tanh"]
    (unmeasured,) = rewrite(open_project([path]), table=Table(Machine(), {}))
    assert {one.name for one in unmeasured.left} >= {"torch.nn.GELU", "torch.nn.Tanh"}


@pytest.mark.parametrize(
    ("source", "became"),
    [
        (
            "nn.Conv2d(3, 8, 3, padding=(1, 2))",
            'nn.Conv2d(3, 8, 3, pad_mode="pad", padding=(1, 1, 2, 2), has_bias=True)',
        ),
        ("nn.BatchNorm2d(8, 1e-3, 0.2)", "nn.BatchNorm2d(8, 1e-3, 0.8)"),
        ("nn.MaxPool2d(3, padding=1)", 'nn.MaxPool2d(3, pad_mode="pad", padding=1, stride=3)'),
        ("nn.LeakyReLU()", "nn.LeakyReLU(alpha=0.01)"),
        ("nn.LayerNorm(dim)", "nn.LayerNorm((dim,), epsilon=1e-05)"),
        ("nn.Dropout()", "nn.Dropout(p=0.5)"),
        ("nn.SmoothL1Loss()", 'nn.SmoothL1Loss(reduction="mean")'),
        ("nn.Upsample(scale_factor=2)", "nn.Upsample(scale_factor=2.0, recompute_scale_factor=True)"),
        ("nn.GELU('tanh')", "nn.GELU(True)"),
    ],
)
def test_a_layer_gets_torchs_arguments(source: str, became: str, tmp_path: Path) -> None:
    draft = drafted(tmp_path, f"from torch import nn\n\ndim = 4\nlayer = {source}\n")
    assert f"layer = {became}" in draft.text.splitlines()


@pytest.mark.parametrize(
    "source",
    [
        "nn.MaxPool2d(2, ceil_mode=True)",
        "nn.BatchNorm2d(8, track_running_stats=False)",
        "nn.Conv2d(3, 8, 3, padding='same', padding_mode='reflect')",
        "nn.LayerNorm([3, 4])",
        "nn.Softmax()",
        "nn.functional.softmax(x)",
        "nn.Linear(*sizes)",
        "nn.ConvTranspose2d(3, 8, 3, output_padding=1, stride=2)",
    ],
)
def test_a_layer_without_a_counterpart_stays(source: str, tmp_path: Path) -> None:
    draft = drafted(tmp_path, f"from torch import nn\n\nlayer = {source}\n")
    assert f"layer = {source}" in draft.text.splitlines()
    assert draft.left


def test_an_input_that_is_overwritten_and_read_again_is_noted(tmp_path: Path) -> None:
    source = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.relu = nn.ReLU(inplace=True)\n        self.conv = nn.Linear(2, 2)\n\n"
        "    def forward(self, x):\n        out = self.conv(self.relu(x))\n        return out + x\n"
    )
    draft = drafted(tmp_path, source)
    assert [one.line for one in draft.left] == [11]
    assert not drafted(tmp_path, source.replace("out + x", "out")).left


def test_drafts_are_written_beside_and_never_over(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "nets").mkdir(parents=True)
    (project / "nets" / "net.py").write_bytes(b"import torch\r\nx = torch.ones(2)\r\n")
    (project / "plain.py").write_text("x = 1\n")
    (project / "broken.py").write_text("x = = 1\n")
    out = tmp_path / "port"
    result, _ = write_drafts([project], out, "classic", False)
    assert (out / "nets" / "net.py").read_bytes() == b"from mindspore import ops\r\nx = ops.ones(2)\r\n"
    assert (out / "plain.py").read_text() == "x = 1\n"
    assert not (out / "broken.py").exists() and result.exit == 1
    with pytest.raises(BadUsage):
        write_drafts([project], out, "classic", False)
    write_drafts([project], out, "classic", True)
    with pytest.raises(BadUsage):
        write_drafts([project], project, "classic", True)


def test_what_is_written_to_a_tensor_that_nobody_else_holds_is_a_new_tensor(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x, y):\n"
        "        z = x.mul(y).add_(x)\n"
        "        w = x.view(-1).add_(1.0)\n"
        "        v = x.mul_(y).add_(x)\n"
        "        return z, w, v\n"
    )
    (draft,) = rewrite(open_project([path]))
    assert "z = (x * y).add(x)" in draft.text
    assert {left.line for left in draft.left} >= {5, 6}
    assert ".add_(1.0)" in draft.text


def test_a_line_that_stays_means_torchs_layer_and_not_mindspores_of_the_name(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\na = nn.ReLU()\nb = nn.Softmin()\n")
    rows = {("torch.nn.ReLU", "mindspore.nn.ReLU"): Measured("torch.nn.ReLU", "mindspore.nn.ReLU", Outcome.EQUAL)}
    (draft,) = rewrite(open_project([path]), table=Table(Machine(), rows))
    assert "a = nn.ReLU()" in draft.text
    assert "b = torch.nn.Softmin()" in draft.text
    assert "import torch\n" in draft.text


def test_a_difference_of_an_argument_that_is_not_given_is_none_of_this_call(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\na = nn.ELU()\nb = nn.ELU(alpha=2.0)\n")
    difference = Difference("values", ("argument:alpha",), Example("torch.nn.ELU(alpha=2.0)", "…", "1.0", "2.0"))
    row = Measured("torch.nn.ELU", "mindspore.nn.ELU", Outcome.DIFFERS, differences=(difference,))
    (draft,) = rewrite(open_project([path]), table=Table(Machine(), {("torch.nn.ELU", "mindspore.nn.ELU"): row}))
    assert "a = nn.ELU(" in draft.text
    assert [left.line for left in draft.left if left.name == "torch.nn.ELU"] == [3]


@pytest.mark.parametrize(
    ("source", "became"),
    [
        ("nn.ModuleList(nn.Tanh() for _ in range(2))", "nn.CellList([nn.Tanh() for _ in range(2)])"),
        ("nn.ModuleList((nn.Tanh() for _ in range(2)))", "nn.CellList([nn.Tanh() for _ in range(2)])"),
        ("nn.ModuleList(map(nn.Tanh, ()))", "nn.CellList(list(map(nn.Tanh, ())))"),
        ("nn.ModuleList([nn.Tanh()])", "nn.CellList([nn.Tanh()])"),
    ],
)
def test_a_list_of_layers_is_given_a_list(source: str, became: str, tmp_path: Path) -> None:
    assert f"layers = {became}" in drafted(tmp_path, f"from torch import nn\n\nlayers = {source}\n").text.splitlines()


def test_a_filling_whose_type_is_not_seen_stays(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("import torch\n\n\ndef f(value):\n    return torch.full((2, 3), value)\n")
    (draft,) = rewrite(open_project([path]))
    assert "return torch.full((2, 3), value)" in draft.text
    assert [one.line for one in draft.left if one.name == "torch.full"] == [5]


@pytest.mark.parametrize("window", ["3", "(1,)", "size", "int(size)"])
def test_what_is_needed_and_names_an_argument_is_that_argument(window: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"import torch.nn.functional as F\n\n\ndef f(x, size):\n    return F.avg_pool1d(x, {window})\n")
    names = ("torch.nn.functional.avg_pool1d", "mindspore.ops.avg_pool1d")
    need = Needed("stride", "None", "1", for_torch="stride=kernel_size")
    rows = {names: Measured(*names, Outcome.EQUAL_WITH, needs=(need,))}
    (draft,) = rewrite(open_project([path]), table=Table(Machine(), rows))
    if "(size" in window:
        assert f"return F.avg_pool1d(x, {window})" in draft.text and draft.left
    else:
        assert f"return ops.avg_pool1d(x, {window}, stride={window})" in draft.text
    assert "stride=kernel_size" not in draft.text


def test_a_call_without_what_mindspore_requires_is_another_form(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("import torch\n\n\ndef f(x):\n    return torch.where(x)\n")
    (draft,) = rewrite(open_project([path]), style="mint")
    assert "return torch.where(x)" in draft.text and draft.left


def test_where_there_is_no_script_nothing_is_written(tmp_path: Path) -> None:
    notebook = tmp_path / "folder" / "notes.ipynb"
    notebook.parent.mkdir()
    cell = {"cell_type": "code", "source": ["import torch\n"], "metadata": {}, "outputs": [], "execution_count": None}
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    for path in (notebook, notebook.parent):
        with pytest.raises(BadUsage) as caught:
            write_drafts([path], tmp_path / "port", "classic", False)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "port").exists()


def test_names_that_files_take_from_one_another_are_written_where_they_are_used(tmp_path: Path) -> None:
    (tmp_path / "common.py").write_text("import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n")
    (tmp_path / "net.py").write_text(
        "from common import *\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return F.relu(x)\n"
    )
    (tmp_path / "more.py").write_text(
        "from common import F, nn\n\n\nclass More(nn.Module):\n    def forward(self, x):\n"
        "        return F.fractional_max_pool2d(F.relu(x), 2, 2)\n"
    )
    drafts = {draft.path.name: draft.text for draft in rewrite(open_project([tmp_path]))}
    assert "from common import *\nfrom mindspore import nn, ops\n" in drafts["net.py"]
    assert "class Net(nn.Cell)" in drafts["net.py"] and "ops.relu(x)" in drafts["net.py"]
    # What is left in one file is still offered by the other, which says so; what nobody takes any more goes.
    assert "from common import F\n" in drafts["more.py"] and "from mindspore import nn, ops" in drafts["more.py"]
    assert drafts["common.py"].splitlines() == [
        "# TrueLine: other files of the draft still take torch.nn.functional from here",
        "import torch.nn.functional as F",
    ]


def test_a_tensor_that_its_function_made_is_made_anew_where_it_is_overwritten(tmp_path: Path) -> None:
    text = """import torch


def degrees(count, index, weights):
    found = torch.zeros(count)
    found.index_add_(0, index, weights)
    found.clamp_(max=2.5)
    shared = torch.ones(2)
    other = shared
    shared.fill_(3.0)
    return found, other
"""
    draft = drafted(tmp_path, text)
    assert "found = index_add(found, 0, index, weights)" in draft.text and "found = found.clamp(max=2.5)" in draft.text
    assert "    shared.fill_(3.0)" in draft.text and [left.line for left in draft.left] == [10]


def test_an_argument_is_computed_once(tmp_path: Path) -> None:
    source = (
        "import torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.drop = nn.Dropout(0.5)\n\n    def forward(self, x):\n"
        "        return F.normalize(self.drop(x), dim=1)\n"
    )
    draft = drafted(tmp_path, source)
    assert draft.text.count("self.drop(x)") == 1 and not draft.left


@pytest.mark.parametrize(
    "body",
    [
        "r = y\n        y *= 2\n        return y - 3 * r",
        "v = y[:, :3]\n        v += 1\n        return y",
        "held = [y]\n        y += 1\n        return held[0] + y",
        "self.h = y\n        y -= 1\n        return self.h",
        "self.ema.mul_(0.9)\n        return y",
    ],
)
def test_what_changes_a_tensor_under_another_name_is_noted(tmp_path: Path, body: str) -> None:
    source = (
        "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(4, 4)\n"
        "        self.register_buffer('ema', torch.zeros(4))\n\n"
        f"    def forward(self, x):\n        y = self.fc(x)\n        {body}\n"
    )
    assert len(drafted(tmp_path, source).left) == 1


def test_a_tensor_of_one_name_is_changed_without_a_note(tmp_path: Path) -> None:
    source = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(4, 4)\n\n    def forward(self, x):\n        out = self.fc(x)\n"
        "        out += x\n        return out\n"
    )
    assert not drafted(tmp_path, source).left
