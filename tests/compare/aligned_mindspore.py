"""The same networks in MindSpore, in equal and in other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindspore as ms
import numpy as np
from compare.aligned_torch import PLAIN, plan
from mindspore import nn

from trueline.compare.align import Item, Structure
from trueline.model.key import Key

REFACTORED: Mapping[str, str] = {
    "conv1": "conv_a",
    "bn1": "norm_a",
    "conv2": "conv_b",
    "bn2": "norm_b",
    "conv3": "conv_c",
    "bn3": "norm_c",
    "downsample": "down_sample_layer",
}


def _conv(wide_in: int, wide_out: int, kernel: int, stride: int) -> Any:
    return nn.Conv2d(wide_in, wide_out, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init="zeros")


class Block(nn.Cell):
    """A residual block; the downsample branch is built first, as ports often do."""

    def __init__(self, inner: Any, down: Any, names: Mapping[str, str]):
        super().__init__()
        if down:
            branch = nn.SequentialCell(_conv(down[0], down[1], 1, down[2]), nn.BatchNorm2d(down[1]))
            setattr(self, names.get("downsample", "downsample"), branch)
        for place, shape in enumerate(inner, start=1):
            setattr(self, names.get(f"conv{place}", f"conv{place}"), _conv(*shape))
            setattr(self, names.get(f"bn{place}", f"bn{place}"), nn.BatchNorm2d(shape[1]))


class ResNet(nn.Cell):
    """Equal paths."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.conv1 = _conv(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        for place, stage in enumerate(plan(depth), start=1):
            setattr(self, f"layer{place}", nn.SequentialCell([Block(*block, PLAIN) for block in stage]))
        self.fc = nn.Dense(512 if depth == 18 else 2048, 10, weight_init="zeros")


class Backbone(nn.Cell):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.stem_conv = _conv(3, 64, 7, 2)
        self.stem_norm = nn.BatchNorm2d(64)
        stages = [nn.SequentialCell([Block(*block, REFACTORED) for block in stage]) for stage in plan(depth)]
        self.layers = nn.CellList(stages)


class Refactored(nn.Cell):
    """Other attribute names, a list of stages, and all in a backbone."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.backbone = Backbone(depth)
        self.head = nn.CellList([nn.Dense(512 if depth == 18 else 2048, 10, weight_init="zeros")])


def refactored_path(path: str) -> str:
    """What Refactored calls a module of torch's."""
    first, *rest = path.split(".")
    outside = {"conv1": "backbone.stem_conv", "bn1": "backbone.stem_norm", "fc": "head.0"}
    if first in outside:
        return outside[first]
    block, part, *below = rest
    stage = int(first.removeprefix("layer")) - 1
    return ".".join(["backbone.layers", str(stage), block, REFACTORED[part], *below])


def checkpoint(net: nn.Cell, *, typed: bool = False) -> Structure:
    """A network as its checkpoint has it."""
    items = [Item(Key.of_parameter(one.name), tuple(one.shape)) for _, one in net.parameters_and_names()]
    types = {path: f"{type(one).__module__}.{type(one).__name__}" for path, one in net.cells_and_names()}
    return Structure(items, types if typed else {})


class Transformer(nn.Cell):
    """A small encoder on words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 3)
        self.head = nn.Dense(16, 5)


class Recurrent(nn.Cell):
    """Words, two layers of LSTM and a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 8)
        self.lstm = nn.LSTM(8, 12, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(24, 12)
        self.slope = nn.PReLU(12)
        self.time = nn.Conv1d(12, 6, 3, has_bias=True)
        self.fc = nn.Dense(6, 5)


class SelfAttention(nn.Cell):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.to_qkv = nn.Dense(width, 3 * width)
        self.out = nn.Dense(width, width)


class EncoderLayer(nn.Cell):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln_attn = nn.LayerNorm((width,))
        self.attention = SelfAttention(width)
        self.ln_mlp = nn.LayerNorm((width,))
        self.dense_in = nn.Dense(width, 4 * width)
        self.dense_out = nn.Dense(4 * width, width)


class Encoder(nn.Cell):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layer_list = nn.CellList([EncoderLayer(width) for _ in range(depth)])
        self.final_norm = nn.LayerNorm((width,))


class VisionTransformer(nn.Cell):
    """A ViT as somebody else would write it."""

    def __init__(self, width: int = 16, depth: int = 4) -> None:
        super().__init__()
        self.cls_token = ms.Parameter(np.zeros((1, 1, width), np.float32))
        self.pos_embed = ms.Parameter(np.zeros((1, 17, width), np.float32))
        self.patches = nn.Conv2d(3, width, 4, 4, has_bias=True)
        self.encoder = Encoder(width, depth)
        self.classifier = nn.Dense(width, 10)


VISION: Mapping[str, str] = {
    "patch_embed.proj": "patches",
    "norm": "encoder.final_norm",
    "head": "classifier",
    "norm1": "ln_attn",
    "norm2": "ln_mlp",
    "attn.qkv": "attention.to_qkv",
    "attn.proj": "attention.out",
    "mlp.fc1": "dense_in",
    "mlp.fc2": "dense_out",
}


def vision_path(path: str) -> str:
    """What this VisionTransformer calls a module of torch's."""
    if path.startswith("blocks."):
        _, place, rest = path.split(".", 2)
        return f"encoder.layer_list.{place}.{VISION[rest]}"
    return VISION.get(path, path)
