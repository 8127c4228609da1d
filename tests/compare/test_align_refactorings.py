"""Networks in many spellings, whole and with tensors missing: hardly anything is wrong, little is left over."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from trueline.compare.align import Item, Structure, align
from trueline.model.key import Key

WORDS = {
    "conv": ["conv", "c", "convolution"],
    "norm": ["bn", "norm", "batch_norm"],
    "fc": ["fc", "dense", "linear", "proj"],
    "attn": ["attn", "attention", "self_attention", "mixer"],
    "mlp": ["mlp", "ffn", "feed_forward"],
    "layers": ["layers", "blocks", "stages", "body"],
    "embed": ["embed", "embedding", "tokens"],
    "head": ["head", "classifier", "top", "out"],
    "down": ["downsample", "shortcut", "down_sample_layer", "skip"],
}
ATTENTION = [["q", "k", "v", "o"], ["query", "key", "value", "out"], ["q_proj", "k_proj", "v_proj", "o_proj"]]
STATISTICS = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}

# A module: its path as (word, number) parts, and its tensors, or the width of a norm and whether it has statistics.
Path = tuple[tuple[str, int | None], ...]
Net = list[tuple[Path, dict[str, tuple[int, ...]]]]


def norm(width: int, *, statistics: bool) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(list(STATISTICS)[: 4 if statistics else 2], (width,))


def residual(draw: random.Random) -> Net:
    width = draw.choice([8, 16])
    net: Net = [((("conv", 1),), {"weight": (width, 3, 7, 7)}), ((("norm", 1),), norm(width, statistics=True))]
    wide = width
    for stage in range(draw.randint(2, 4)):
        for block in range(draw.randint(1, 3)):
            out = width * 2**stage
            path: Path = (("layers", stage), ("", block))
            for place, before in ((1, wide), (2, out)):
                net.append(((*path, ("conv", place)), {"weight": (out, before, 3, 3)}))
                net.append(((*path, ("norm", place)), norm(out, statistics=True)))
            if wide != out:
                net.append(((*path, ("down", None), ("", 0)), {"weight": (out, wide, 1, 1)}))
                net.append(((*path, ("down", None), ("", 1)), norm(out, statistics=True)))
            wide = out
    return [*net, ((("head", None),), {"weight": (10, wide), "bias": (10,)})]


def transformer(draw: random.Random) -> Net:
    width = draw.choice([8, 16])
    net: Net = [((("embed", None),), {"weight": (50, width)})]
    for layer in range(draw.randint(2, 12)):
        path: Path = (("layers", layer),)
        net.append(((*path, ("norm", 1)), norm(width, statistics=False)))
        for one in range(4):
            net.append(((*path, ("attn", None), ("qkvo", one)), {"weight": (width, width), "bias": (width,)}))
        net.append(((*path, ("norm", 2)), norm(width, statistics=False)))
        for place, (out, into) in enumerate(((4 * width, width), (width, 4 * width)), start=1):
            net.append(((*path, ("mlp", None), ("fc", place)), {"weight": (out, into), "bias": (out,)}))
    return [*net, ((("norm", None),), norm(width, statistics=False)), ((("head", None),), {"weight": (7, width)})]


class Spelling:
    """One way to name things."""

    def __init__(self, draw: random.Random) -> None:
        self.words = {word: draw.choice(others) for word, others in WORDS.items()}
        self.attention = draw.choice(ATTENTION)
        self.first = draw.choice([0, 0, 1])
        self.listed = draw.random() < 0.6
        self.number = draw.choice([lambda n: str(n), lambda n: str(n - 1), lambda n: "_" + "abc"[n - 1]])
        self.prefix = draw.choice(["", "", "backbone.", "model.net.", "x."])

    def spell(self, path: Path) -> str:
        parts = []
        for word, number in path:
            if word == "qkvo":
                parts.append(self.attention[number or 0])
            elif word == "layers":
                name = self.words[word]
                parts.append(f"{name}.{number + self.first}" if self.listed else f"{name.rstrip('s')}{number + 1}")
            else:
                name = self.words.get(word, "")
                parts.append(str(number) if not name else name if number is None else name + self.number(number))
        return self.prefix + ".".join(parts)


def side(net: Net, spelling: Spelling, *, classic: bool) -> tuple[Structure, dict[Key, tuple[Path, str]]]:
    items, meaning = [], {}
    for path, tensors in net:
        renamed = path[-1][0] == "norm" or path[-2:] == (("down", None), ("", 1))
        leaves = sorted(tensors) if classic else list(tensors)
        for leaf in leaves:
            key = Key.of_parameter(f"{spelling.spell(path)}.{STATISTICS[leaf] if classic and renamed else leaf}")
            meaning[key] = (path, leaf)
            items.append(Item(key, tensors[leaf]))
    return Structure(items), meaning


@pytest.mark.parametrize("missing", [0.0, 0.03])
def test_refactorings_are_found(missing: float) -> None:
    count: Counter[str] = Counter()
    for seed in range(60):
        draw = random.Random(seed)
        net = draw.choice([residual, transformer])(draw)
        here, meant_here = side(net, Spelling(draw), classic=True)
        there, meant_there = side(net, Spelling(draw), classic=False)
        here = Structure([item for item in here.items if draw.random() >= missing])
        found = align(here, there)
        count["right"] += sum(meant_here[pair.a] == meant_there[pair.b] for pair in found.pairs)
        count["wrong"] += sum(meant_here[pair.a] != meant_there[pair.b] for pair in found.pairs)
        count["left"] += len(found.only_a)
    assert count["right"] > 4_000
    assert count["wrong"] <= (0.001 * count["right"] if missing else 0)
    assert count["left"] <= (0.02 * count["right"] if missing else 0)
