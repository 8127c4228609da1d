"""A port in shorter floats than the benchmark: a choice that is told, and faults beside it are still found."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.model.result import Exit
from trueline.pair.report import result

NETS = """
import torch
import torch.nn.functional as F
from torch import nn


FAULT = ""


class Net(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        # The gradient of a bias before a batch norm is nothing but rounding.
        self.conv, self.bn = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16, eps=eps)
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 5)

    def forward(self, x):
        x = self.bn(self.conv(x.to(self.conv.weight.dtype)))
        x = (F.gelu(x) if FAULT == "activation" else F.relu(x)).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v)
        return self.out(x.mean(1) * (0.25 if FAULT == "scale" else 1.0)).float()


class Mixed(Net):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x)


def net():
    return Net()


def short(fault="", **wishes):
    return with_fault(fault, Net(**wishes).to(torch.bfloat16))


def half(fault="", **wishes):
    return with_fault(fault, Net(**wishes).to(torch.float16))


def mixed(fault="", **wishes):
    return with_fault(fault, Mixed(**wishes))


def partly():
    net = Net()
    net.qkv.to(torch.bfloat16), net.norm.to(torch.bfloat16)
    net.norm.register_forward_pre_hook(lambda _, given: (given[0].to(torch.bfloat16),))
    net.qkv.register_forward_hook(lambda _, given, out: out.float())
    return net


def with_fault(fault, net):
    global FAULT
    FAULT = fault
    return net
"""


@pytest.mark.parametrize("port", ["short", "mixed", "half"])
def test_a_right_port_matches_within_its_format_and_says_which(tmp_path: Path, port: str) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", f"nets:{port}", "4x3x8x8", folder=tmp_path, steps=3)
    answer = result(found)
    assert [(one.cause, one.confirmed) for one in found.blames] == [("dtype", False)]
    assert answer.exit is Exit.FINE
    assert f"within the rounding of {'float16' if port == 'half' else 'bfloat16'}" in answer.conclusion.text("en")


@pytest.mark.parametrize("port", ["short", "mixed", "half"])
@pytest.mark.parametrize("fault", ["scale", "activation"])
def test_the_format_hides_no_fault(tmp_path: Path, port: str, fault: str) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    options = {"port_kwargs": {"fault": fault}, "folder": tmp_path, "steps": 0}
    found = trueline.pair("nets:net", f"nets:{port}", "4x3x8x8", **options)
    assert [(one.cause, one.confirmed) for one in found.blames] == [("dtype", False), (fault, True)]
    assert result(found).exit is Exit.PROBLEM


def test_a_cast_of_some_layers_only_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", "nets:partly", "4x3x8x8", folder=tmp_path, steps=0)
    assert {(one.cause, one.confirmed) for one in found.blames} == {("dtype", True)}
    assert result(found).exit is Exit.PROBLEM


def test_an_argument_that_ordinary_values_hide_in_the_format_is_latent(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", "nets:short", "4x3x8x8", folder=tmp_path, steps=0, port_kwargs={"eps": 1e-3})
    assert ("eps", True, True) in [(one.cause, one.confirmed, one.latent) for one in found.blames]
