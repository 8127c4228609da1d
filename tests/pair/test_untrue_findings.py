"""What a finding says is what is to be changed: the value itself, once, where it is made, and no number by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.ops.input_mapping import is_unclear, taken

NETS = """
import torch
from torch import nn
from torch.nn import functional as F


class Latent(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 12)
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        mean, spread = self.parts(self.first(x))
        spread = spread.clamp(-6.0, 2.0)
        near = torch.softmax((mean**2).sum(-1, keepdim=True) - mean, 1)
        return self.last(mean + near * torch.exp(0.5 * spread)), (1 + spread - mean.pow(2) - spread.exp()).sum(1)

    def parts(self, both):
        return both.chunk(2, dim=1)


class LatentExchanged(Latent):
    def forward(self, x):
        both = self.first(x)
        mean = both[:, 6:]
        spread = both[:, :6].clamp(-6.0, 2.0)
        near = torch.softmax((mean**2).sum(-1, keepdim=True) - mean, 1)
        return self.last(mean + near * torch.exp(0.5 * spread)), (1 + spread - mean.pow(2) - spread.exp()).sum(1)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 6)
        self.value = nn.Linear(4, 6)
        self.act = nn.GELU()
        self.last = nn.Linear(6, 4)

    def forward(self, x):
        return self.last(self.act(self.gate(x)) * self.value(x))


class GatedOtherwise(Gated):
    def forward(self, x):
        gated = self.act(self.value(x))
        return self.last(gated * self.gate(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))

    def forward(self, x, mask, bias):
        return self.o((self.q(x) @ self.k(x).transpose(1, 2) + bias).softmax(-1) @ self.v(x)) * (1.0 - mask)


class Scaled(Attention):
    def forward(self, x, bias):
        return self.o((self.q(x) @ self.k(x).transpose(1, 2) / 8**0.5 + bias).softmax(-1) @ self.v(x))


class Biased(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(25, 1)
        self.attention = Attention()

    def biases(self):
        places = torch.arange(5)
        return self.bias(places[:, None] * 5 + places)[..., 0][None]

    def forward(self, x):
        mask = torch.zeros(x.shape[0], 1, 1)
        return x + self.attention(x, mask, self.biases() + mask)


class BiasedOnce(Biased):
    def __init__(self):
        super().__init__()
        self.attention = Scaled()

    def forward(self, x):
        return x + self.attention(x, self.biases())


def latent(): return Latent()
def latent_exchanged(): return LatentExchanged()
def gated(): return Gated()
def gated_otherwise(): return GatedOtherwise()
def biased(): return Biased()
def scaled(): return BiasedOnce()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("untrue")
    (made / "nets.py").write_text(NETS)
    return made


def confirmed(folder: Path, bench: str, port: str, shape: str) -> list[tuple[str, str]]:
    found = trueline.pair(f"nets:{bench}", f"nets:{port}", shape, folder=folder, steps=0)
    lines = NETS.splitlines()
    return [
        (blame.cause.value, lines[blame.line.line - 1].strip() if blame.line else "")
        for blame in found.blames
        if blame.confirmed
    ]


def test_parts_that_change_places_are_exchanged_where_they_are_taken_off(folder: Path) -> None:
    (cause, line), *more = confirmed(folder, "latent", "latent_exchanged", "3x4")
    assert cause == "other_input"
    assert "both[:, " in line
    assert not more


def test_an_operand_of_a_layer_is_changed_where_the_layer_is_called(folder: Path) -> None:
    assert confirmed(folder, "gated", "gated_otherwise", "3x4") == [
        ("other_input", "gated = self.act(self.value(x))"),
    ]


def test_a_factor_too_many_is_no_number_that_the_benchmark_has_elsewhere(folder: Path) -> None:
    found = confirmed(folder, "biased", "scaled", "2x5x8")
    assert ("scale", found[0][1]) == found[0]
    assert "8**0.5" in found[0][1]
    assert len(found) == 1


def test_inputs_that_one_side_has_once_are_told_apart_by_shape() -> None:
    bench = [("float32", (2, 11, 32)), ("float32", (2, 1, 1, 11)), ("float32", (2, 4, 11, 11))]
    assert taken(bench, [("float32", (2, 11, 32)), ("float32", (1, 4, 11, 11))]) == [0, 2]
    assert not is_unclear(bench, bench[:2])
    assert is_unclear(bench, [("float32", (2, 11, 32)), ("bool", (2, 1, 1, 11))])
