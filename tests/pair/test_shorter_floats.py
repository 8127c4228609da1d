"""A port in shorter floats than the benchmark: one cause, and other faults beside it are still found."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline

NETS = """
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, wrong=False):
        super().__init__()
        # The gradient of a bias before a batch norm is nothing but rounding.
        self.conv, self.bn = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 5)
        self.wrong = wrong

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x.to(self.conv.weight.dtype)))).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v)
        return self.out(x.mean(1) * (0.25 if self.wrong else 1.0)).float()


class Mixed(Net):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x)


def net():
    return Net()


def short(wrong=False):
    return Net(wrong).to(torch.bfloat16)


def mixed(wrong=False):
    return Mixed(wrong)
"""


@pytest.mark.parametrize("port", ["short", "mixed"])
@pytest.mark.parametrize("wrong", [False, True])
def test_the_format_is_one_cause_and_hides_no_other(tmp_path: Path, port: str, wrong: bool) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    options = {"port_kwargs": {"wrong": wrong}, "folder": tmp_path, "steps": 0}
    found = trueline.pair("nets:net", f"nets:{port}", "4x3x8x8", **options)
    assert [one.cause for one in found.blames] == (["dtype", "scale"] if wrong else ["dtype"])
    assert all(one.confirmed for one in found.blames)
