"""Networks in torch, with attribute names that can be chosen: what is the same is known by construction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from trueline.adapters.torch import values
from trueline.compare.align import Item, Structure
from trueline.model.key import Key
from trueline.model.run import CallInfo
from trueline.record.edges import Edges

PLAIN: Mapping[str, str] = {}

Convolutions = list[tuple[int, int, int, int]]
Down = tuple[int, int, int] | None


class Block(nn.Module):
    """A residual block, with three convolutions where it is a bottleneck."""

    def __init__(
        self, inner: list[tuple[int, int, int, int]], down: tuple[int, int, int] | None, names: Mapping[str, str]
    ):
        super().__init__()
        self.steps = []
        for place, (wide_in, wide_out, kernel, stride) in enumerate(inner, start=1):
            conv, norm = names.get(f"conv{place}", f"conv{place}"), names.get(f"bn{place}", f"bn{place}")
            setattr(self, conv, nn.Conv2d(wide_in, wide_out, kernel, stride, kernel // 2, bias=False))
            setattr(self, norm, nn.BatchNorm2d(wide_out))
            self.steps.append((conv, norm))
        self.down = names.get("downsample", "downsample") if down else ""
        if down:
            wide_in, wide_out, stride = down
            convolution = nn.Conv2d(wide_in, wide_out, 1, stride, bias=False)
            setattr(self, self.down, nn.Sequential(convolution, nn.BatchNorm2d(wide_out)))

    def forward(self, x: Any) -> Any:
        y = x
        for place, (conv, norm) in enumerate(self.steps, start=1):
            y = getattr(self, norm)(getattr(self, conv)(y))
            if place < len(self.steps):
                y = torch.relu(y)
        return torch.relu(y + (getattr(self, self.down)(x) if self.down else x))


def plan(depth: int, width: int = 64) -> list[list[tuple[Convolutions, Down]]]:
    """The stages of a ResNet: convolutions are (in, out, kernel, stride), downsample is (in, out, stride)."""
    counts, grow = {18: ([2, 2, 2, 2], 1), 50: ([3, 4, 6, 3], 4)}[depth]
    stages, wide = [], width
    for stage, count in enumerate(counts):
        inner = width * 2**stage
        blocks = []
        for place in range(count):
            stride = 2 if stage and not place else 1
            out = inner * grow
            if grow == 1:
                convs = [(wide, inner, 3, stride), (inner, inner, 3, 1)]
            else:
                convs = [(wide, inner, 1, 1), (inner, inner, 3, stride), (inner, out, 1, 1)]
            blocks.append((convs, (wide, out, stride) if stride != 1 or wide != out else None))
            wide = out
        stages.append(blocks)
    return stages


class ResNet(nn.Module):
    """Names as torchvision has them, unless others are given."""

    def __init__(self, depth: int, width: int = 64, names: Mapping[str, str] = PLAIN):
        super().__init__()
        self.names = [names.get(name, name) for name in ("conv1", "bn1", "layer1", "layer2", "layer3", "layer4", "fc")]
        stages = [nn.Sequential(*(Block(*block, names) for block in stage)) for stage in plan(depth, width)]
        last = 512 * (1 if depth == 18 else 4) * width // 64
        parts = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), *stages, nn.Linear(last, 10)]
        for name, part in zip(self.names, parts, strict=True):
            setattr(self, name, part)

    def forward(self, x: Any) -> Any:
        conv, norm, *stages, last = (getattr(self, name) for name in self.names)
        x = torch.relu(norm(conv(x)))
        for stage in stages:
            x = stage(x)
        return last(x.mean((2, 3)))


def state(net: nn.Module, *, typed: bool = False) -> Structure:
    """A network as its state_dict has it."""
    items = [Item(Key.of_parameter(name), tuple(one.shape)) for name, one in net.state_dict().items()]
    types = {path: f"{type(one).__module__}.{type(one).__name__}" for path, one in net.named_modules()} if typed else {}
    return Structure(items, types)


def recorded(net: nn.Module, batch: Any) -> Structure:
    """A network with the calls and edges of one forward pass."""
    known = state(net, typed=True)
    edges, calls, running = Edges(), [], []

    def before(path: str) -> Any:
        def hook(module: Any, inputs: Any) -> None:
            running.append(len(calls))
            calls.append(CallInfo(path, 0, "train", None, edges.sources(inputs, values)))

        return hook

    def after(module: Any, inputs: Any, output: Any) -> None:
        edges.made(running.pop(), [output], values)

    for path, module in net.named_modules():
        module.register_forward_pre_hook(before(path))
        module.register_forward_hook(after)
    net(batch)
    return Structure(known.items, known.types, calls)


class Transformer(nn.Module):
    """A small encoder on words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 3)
        self.head = nn.Linear(16, 5)


class Recurrent(nn.Module):
    """Words, two layers of LSTM and a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 8)
        self.lstm = nn.LSTM(8, 12, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(24, 12)
        self.slope = nn.PReLU(12)
        self.time = nn.Conv1d(12, 6, 3)
        self.fc = nn.Linear(6, 5)


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)


class VisionBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(width, 4 * width), "fc2": nn.Linear(4 * width, width)})


class VisionTransformer(nn.Module):
    """Named as is usual in torch."""

    def __init__(self, width: int = 16, depth: int = 4) -> None:
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 17, width))
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, width, 4, 4)})
        self.blocks = nn.ModuleList(VisionBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)
