"""One fault is told once, beside others too; and what only follows from it, or is divided otherwise, is not told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trueline.adapters.guest.entry import Entry
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.pairing import Options, Wish, pair_sides
from trueline.pair.report import CODES

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
TEXT = HEAD + (
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv3 = nn.Conv1d(6, 8, 3)
        self.conv5 = nn.Conv1d(6, 8, 5)
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        three = self.conv3(x)
        five = self.conv5(x)
        three, five = three.relu().amax(2), five.relu().amax(2)
        return self.fc(torch.cat((three, five), 1))
"""
)
PADDED = ("Conv1d(6, 8, 5)", "Conv1d(6, 8, 5, padding=2)")
DIVIDED = HEAD + (
    """
class Dense(nn.Linear):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.pooler = Dense(8, 8)
        self.head = nn.Linear(8, 3)
        self.words = nn.Linear(8, 5)

    def forward(self, x):
        x = self.first(x)
        words = self.words(F.gelu(x))
        return words, self.head(torch.tanh(self.pooler(x[:, 0])))
"""
)
FUSED = (
    ("    pass\n", "    def forward(self, x):\n        return torch.tanh(super().forward(x))\n"),
    ("self.head(torch.tanh(self.pooler(x[:, 0])))", "self.head(self.pooler(x[:, 0]))"),
)
BLOCKS = HEAD + (
    """
class Block(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.conv = nn.Conv2d(inp, out, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(out)
        self.down = nn.Conv2d(inp, out, 1) if inp != out else None

    def forward(self, x):
        out = self.bn(self.conv(x))
        if self.down is not None:
            x = self.down(x)
        return F.relu(out + x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Block(4, 4), Block(4, 8)

    def forward(self, x):
        return self.two(self.one(x))
"""
)


def blamed(folder: Path, bench: str, shape: tuple[int, ...], *edits: tuple[str, str]) -> list[Blame]:
    port = bench
    for old, new in edits:
        assert old in port
        port = port.replace(old, new)
    (folder / "bench_net.py").write_text(bench)
    (folder / "port_net.py").write_text(port)
    inputs = [np.random.default_rng(0).standard_normal(shape).astype(np.float32)]
    wishes = [Wish(Entry.parse(f"{name}:Net")) for name in ("bench_net", "port_net")]
    return pair_sides(*wishes, Options(inputs, steps=0, folder=folder)).blames


def told(found: list[Blame]) -> set[tuple[str, Cause, bool]]:
    return {(one.module, one.cause, one.confirmed) for one in found}


GELU = ("F.gelu(x)", "F.relu(x)")
LAST = ("self.head(torch.tanh(self.pooler(x[:, 0])))", "self.head(self.pooler(x[:, -1]))")
Case = tuple[str, tuple[int, ...], tuple[tuple[str, str], ...], set[tuple[str, Cause, bool]]]
CASES: dict[str, Case] = {
    "what reaches the layers behind an output of another size is no fault of its own": (
        *(TEXT, (3, 6, 12), (PADDED,)),
        {("conv5", Cause.PADDING, True)},
    ),
    "a fault behind an output of another size is told too": (
        *(TEXT, (3, 6, 12), (PADDED, ("(three, five)", "(five, three)"))),
        {("conv5", Cause.PADDING, True), ("", Cause.CONCAT_ORDER, True)},
    ),
    "a gradient that a lacking sum takes away is not told again": (
        *(BLOCKS, (2, 4, 8, 8), (("F.relu(out + x)", "F.relu(out)"),)),
        {("one", Cause.RESIDUAL, True)},
    ),
    "work divided otherwise is no fault beside one": (
        *(DIVIDED, (4, 3, 8), (*FUSED, GELU)),
        {("", Cause.ACTIVATION, True)},
    ),
    "work divided otherwise is none by itself": (DIVIDED, (4, 3, 8), FUSED, set()),
    "work divided otherwise hides no fault before it": (
        *(DIVIDED, (4, 3, 8), (FUSED[0], LAST)),
        {("", Cause.SLICE, True)},
    ),
    "code that needs its own layer's size is run with it": (
        *(TEXT, (3, 6, 12), (PADDED, ("five = self.conv5(x)", "five = self.conv5(x)[..., 2:-2].reshape(-1, 8, 8)"))),
        set(),
    ),
    "an activation of what is never negative may be left out": (
        DIVIDED.replace("    pass\n", "    def forward(self, x):\n        return super().forward(x).relu()\n").replace(
            "torch.tanh(self.pooler(x[:, 0]))", "self.pooler(x[:, 0]).relu()"
        ),
        (4, 3, 8),
        (("self.pooler(x[:, 0]).relu()", "self.pooler(x[:, 0])"),),
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_fault_is_told_once_and_nothing_else(tmp_path: Path, name: str) -> None:
    bench, shape, edits, wanted = CASES[name]
    found = blamed(tmp_path, bench, shape, *edits)
    assert told(found) == wanted
    assert len(found) == len(wanted)


def test_other_numbers_in_a_layer_of_another_size_are_no_other_initialisation(tmp_path: Path) -> None:
    bench = TEXT.replace("Conv1d(6, 8, 5)", "Conv1d(6, 32, 5, padding=2)").replace("Linear(16, 4)", "Linear(40, 4)")
    found = blamed(tmp_path, bench, (3, 6, 12), ("32, 5, padding=2", "32, 3, padding=1"))
    assert {one.cause for one in found} == {Cause.SHAPE, Cause.KERNEL_SIZE, Cause.PADDING}
    scaled = ("        self.fc = nn", "        nn.init.normal_(self.conv5.weight, std=0.5)\n        self.fc = nn")
    found = blamed(tmp_path, bench, (3, 6, 12), ("32, 5, padding=2", "32, 3, padding=1"), scaled)
    assert Cause.INITIAL in {one.cause for one in found}


def test_an_activation_too_many_in_a_layer_stays_a_fault_beside_another(tmp_path: Path) -> None:
    found = blamed(tmp_path, DIVIDED, (4, 3, 8), FUSED[0], GELU)
    assert {one.module for one in found} == {"", "pooler"}
    assert [one.bench for one in found if one.module == ""] == ["gelu"]


def test_an_activation_that_no_ordinary_value_needs_is_latent(tmp_path: Path) -> None:
    bench = TEXT.replace("Conv1d(6, 8, 3)", "Conv1d(6, 8, 3, padding=20)")
    found = blamed(tmp_path, bench, (3, 6, 64), ("three.relu()", "three"))
    assert told(found) == {("", Cause.ACTIVATION, True)}
    assert found[0].latent


def test_a_table_with_other_values_is_told_of_the_weights_and_not_of_the_parameters(tmp_path: Path) -> None:
    table = "        self.register_buffer('table', torch.arange(8.0))\n        self.first = nn"
    bench = DIVIDED.replace("        self.first = nn", table).replace("self.first(x)", "self.first(x) + self.table")
    found = blamed(tmp_path, bench, (4, 3, 8), ("torch.arange(8.0)", "torch.arange(8.0) / 8"))
    assert [(one.stage, one.cause, CODES[one.stage]) for one in found if one.stage is Stage.WEIGHTS] == [
        (Stage.WEIGHTS, Cause.ATTRIBUTE, "pr.04")
    ]
    assert Stage.PARAMETERS not in {one.stage for one in found}
