"""Mistakes of transformer and diffusion ports in the words of the field, each once, where it is written."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from pair.op_blocks import both
from torch import nn

from trueline.pair.blame import Cause
from trueline.pair.ops.explaining import Explanation, explain_graphs

FLOOR = 1e-5
Forward = Callable[..., torch.Tensor]


class Attention(nn.Module):
    """Layers to put code between; eight channels in two heads, or one where keys are shared."""

    def __init__(self, forward: Forward) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.norm, self.modulation = nn.LayerNorm(16), nn.Linear(16, 48)
        self.qkv, self.query, self.kv, self.out = (nn.Linear(16, width) for width in (48, 16, 16, 16))
        self.between = forward

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.between(self, *inputs)


def explained(bench: Forward, port: Forward, *inputs: torch.Tensor) -> list[Explanation]:
    torch.manual_seed(5)
    given = inputs or (torch.randn(2, 5, 16),)
    return explain_graphs(*both(Attention(bench), Attention(port), *given), FLOOR)


def attention(
    split: str = "qkv",
    heads: str = "permute",
    rotate: str = "halves",
    signs: tuple[int, int] = (-1, 1),
    names: str = "cos sin",
    diagonal: int = 1,
    inverted: bool = False,
) -> Forward:
    """Attention with rotary embeddings and a causal mask, with places for mistakes."""

    def rotated(x: torch.Tensor) -> torch.Tensor:
        if rotate == "halves":
            x1, x2 = x.chunk(2, -1)
            return torch.cat((signs[0] * x2 if signs[0] < 0 else x2, signs[1] * x1 if signs[1] < 0 else x1), -1)
        x1, x2 = x[..., ::2], x[..., 1::2]
        return torch.stack((-x2, x1), -1).reshape(x.shape)

    def in_heads(x: torch.Tensor) -> torch.Tensor:
        batch, tokens, _ = x.shape
        if heads == "view":
            return x.reshape(batch, 2, tokens, 8)
        return x.view(batch, tokens, 2, 8).permute(0, 2, 1, 3)

    def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
        chunks = s.qkv(x).chunk(3, -1)
        parts = dict(zip(split, chunks, strict=True))
        q, k, v = in_heads(parts["q"]), in_heads(parts["k"]), in_heads(parts["v"])
        angles = torch.arange(5.0)[:, None] * torch.exp(-torch.arange(4.0)).repeat(2)[None]
        found = dict(zip(names.split(), (angles.cos(), angles.sin()), strict=True))
        q, k = q * found["cos"] + rotated(q) * found["sin"], k * found["cos"] + rotated(k) * found["sin"]
        hidden = torch.triu(torch.ones(5, 5), diagonal) == (0 if inverted else 1)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(hidden, float("-inf"))
        return s.out((scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(x.shape))

    return forward


def _line(text: str, of: Callable[..., Any] = attention) -> int:
    lines, first = inspect.getsourcelines(of)
    return first + next(place for place, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("changed", "cause", "words", "line"),
    [
        ({"split": "kqv"}, Cause.OTHER_INPUT, "two values are exchanged", "s.qkv(x).chunk"),
        ({"split": "qvk"}, Cause.OTHER_INPUT, "two values are exchanged", "s.qkv(x).chunk"),
        ({"heads": "view"}, Cause.TRANSPOSE, "permuted axes (0, 2, 1, 3)", "x.reshape(batch, 2"),
        ({"rotate": "pairs"}, Cause.OTHER_OP, "(-x2, x1) of neighbouring pairs", "torch.stack((-x2"),
        ({"names": "sin cos"}, Cause.OTHER_INPUT, "two values are exchanged", "found = dict"),
        ({"diagonal": 2}, Cause.MASK, "from diagonal 2 up in the port", "== (0 if inverted"),
        ({"inverted": True}, Cause.MASK, "its inverse", "== (0 if inverted"),
    ],
)
def test_a_mistake_in_attention_is_named_once_at_its_line(
    changed: dict[str, Any], cause: Cause, words: str, line: str
) -> None:
    (found,) = explained(attention(), attention(**changed))
    assert (found.cause, found.confirmed) == (cause, True)
    assert words in found.message.text("en")
    assert found.line is not None
    assert found.line.line == _line(line)


def test_a_sign_in_both_rotations_is_one_mistake() -> None:
    (found,) = explained(attention(), attention(signs=(1, 1)))
    assert found.confirmed
    assert found.line is not None
    assert found.line.line == _line("torch.cat((signs")


def modulated(order: str = "shift scale gate", post: bool = False) -> Forward:
    def forward(s: Any, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        parts = dict(zip(order.split(), s.modulation(condition).chunk(3, -1), strict=True))
        if post:
            return s.norm(x + parts["gate"] * s.out(x * (1 + parts["scale"]) + parts["shift"]))
        return x + parts["gate"] * s.out(s.norm(x) * (1 + parts["scale"]) + parts["shift"])

    return forward


def test_chunks_of_a_modulation_that_change_places_are_exchanged_where_they_are_named() -> None:
    given = torch.randn(2, 5, 16), torch.randn(2, 1, 16)
    (found,) = explained(modulated(), modulated("scale shift gate"), *given)
    assert (found.cause, found.confirmed) == (Cause.OTHER_INPUT, True)
    assert found.line is not None
    assert found.line.line == _line("s.modulation(condition)", modulated)
    assert "chunk 1" in found.message.text("en")
    assert "chunk 2" in found.message.text("en")


def normed(post: bool = False) -> Forward:
    def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
        return s.norm(x + s.out(x)) if post else x + s.out(s.norm(x))

    return forward


def test_a_norm_behind_the_sum_is_a_layer_in_another_place_and_nothing_else() -> None:
    (found,) = explained(normed(), normed(post=True))
    assert (found.cause, found.confirmed) == (Cause.NORMALISATION, True)
    assert "a layer in a different position: the output of `norm`" in found.message.text("en")


def shared(tiled: bool = False) -> Forward:
    def repeated(x: torch.Tensor) -> torch.Tensor:
        batch, heads, tokens, width = x.shape
        if tiled:
            return x.repeat(1, 2, 1, 1)
        return x[:, :, None].expand(batch, heads, 2, tokens, width).reshape(batch, 2 * heads, tokens, width)

    def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
        q = s.query(x).view(2, 5, 4, 4).transpose(1, 2)
        k, v = (part.view(2, 5, 2, 4).transpose(1, 2) for part in s.kv(x).chunk(2, -1))
        scores = q @ repeated(k).transpose(-1, -2) / 2
        return s.out((scores.softmax(-1) @ repeated(v)).transpose(1, 2).reshape(x.shape))

    return forward


def test_shared_keys_are_repeated_each_by_itself_or_all_in_turn() -> None:
    (found,) = explained(shared(), shared(tiled=True))
    assert (found.cause, found.confirmed) == (Cause.OTHER_OP, True)
    assert "the whole axis -3 repeated 2 times in the port" in found.message.text("en")
    assert found.line is not None
    assert found.line.line == _line("x.repeat(1, 2", shared)


def timed(flipped: bool = False, theta: float = 10000.0, cosine_first: bool = False) -> Forward:
    def forward(s: Any, t: torch.Tensor) -> torch.Tensor:
        freqs = torch.exp(-math.log(theta) * torch.arange(8.0) / 8)
        angles = t[:, None].float() * freqs[None]
        both = [angles.cos(), angles.sin()] if cosine_first else [angles.sin(), angles.cos()]
        found = torch.cat(both, -1)
        return s.out(torch.cat([found[:, 8:], found[:, :8]], -1) if flipped else found)

    return forward


def test_the_order_of_sine_and_cosine_and_the_period_are_named() -> None:
    steps = torch.tensor([997, 311])
    (order,) = explained(timed(flipped=True), timed(), steps)
    assert (order.cause, order.confirmed) == (Cause.CONCAT_ORDER, True)
    (cosine,) = explained(timed(), timed(cosine_first=True), steps)
    assert (cosine.cause, cosine.confirmed) == (Cause.CONCAT_ORDER, True)
    (period,) = explained(timed(), timed(theta=1000.0), steps)
    assert (period.cause, period.confirmed) == (Cause.SCALE, True)


def relative(turned: bool = False) -> Forward:
    def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
        query, key = torch.arange(5)[:, None], torch.arange(5)[None, :]
        places = query - key if turned else key - query
        return s.out(x * s.norm(places.float()[..., None].expand(5, 5, 16)).sum(1))

    return forward


def test_a_relative_position_of_the_other_sign_is_a_difference_the_other_way_round() -> None:
    (found,) = [one for one in explained(relative(), relative(turned=True)) if one.sink == "norm"]
    assert found.confirmed
    assert "different operand order" in found.message.text("en")


def test_a_clamp_that_has_no_effect_in_the_benchmark_is_there_all_the_same() -> None:
    def clamped(limit: float) -> Forward:
        return lambda s, x: s.out(torch.clamp(x, -limit, limit))

    (found,) = explained(clamped(20.0), clamped(0.5))
    assert found.confirmed
    assert "different op" in found.message.text("en")
    assert "not in the benchmark" not in found.edit.text("en")


def test_work_that_is_laid_out_otherwise_is_no_cause_beside_one() -> None:
    def bench(s: Any, x: torch.Tensor) -> torch.Tensor:
        q, k, v = s.qkv(x).chunk(3, -1)
        found = (q @ k.transpose(1, 2) / 4).softmax(-1) @ v
        return (found.transpose(0, 1) @ s.out.weight.t()).transpose(0, 1)

    def port(s: Any, x: torch.Tensor) -> torch.Tensor:
        q, k, v = s.qkv(x).chunk(3, -1)
        return ((q @ k.transpose(1, 2)).softmax(-1) @ v) @ s.out.weight.t()

    def right(s: Any, x: torch.Tensor) -> torch.Tensor:
        q, k, v = s.qkv(x).chunk(3, -1)
        return ((q @ k.transpose(1, 2) / 4).softmax(-1) @ v) @ s.out.weight.t()

    assert explained(bench, right) == []
    # What is wrong before it does not make another order of axes a cause.
    assert not [one for one in explained(bench, port) if one.confirmed and one.cause is Cause.TRANSPOSE]


def test_what_is_only_another_name_for_a_whole_value_is_no_operator() -> None:
    def whole(s: Any, x: torch.Tensor) -> torch.Tensor:
        return s.out(torch.nn.functional.pad(x, (0, 0))[:, :, None][:, :, 0] * 1.5)

    def other(s: Any, x: torch.Tensor) -> torch.Tensor:
        return s.out(x * 2.5)

    assert explained(lambda s, x: s.out(x * 1.5), whole) == []
    (found,) = explained(whole, other)
    assert found.cause is Cause.SCALE
