"""Trains a small network with torch."""

from __future__ import annotations

from typing import Any

import common
import torch
from torch import nn


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int, eps: float) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer, eps=eps)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer, eps=eps)
        self.relu2 = nn.ReLU()
        self.down = nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        """The block's output."""
        return self.relu2(self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x))))) + self.down(x))


class ResNet(nn.Module):
    """Stem, three blocks, a head."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        eps = 1e-3 if fault == "bn_eps" else 1e-5
        self.conv = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(16, eps=eps)
        self.relu = nn.ReLU()
        self.block1 = Block(16, 16, 1, eps)
        self.block2 = Block(16, 32, 2, eps)
        self.block3 = Block(32, 64, 2, eps)
        self.fc = nn.Linear(64, common.CLASSES)

    def forward(self, x: Any) -> Any:
        """The logits."""
        x = self.block3(self.block2(self.block1(self.relu(self.bn(self.conv(x))))))
        return self.fc(x.mean((2, 3)))


class Layer(nn.Module):
    """Attention and a hidden layer, each after a norm."""

    def __init__(self, width: int, fault: str) -> None:
        super().__init__()
        eps = 1e-7 if fault == "ln_eps" else 1e-5
        self.norm1 = nn.LayerNorm(width, eps=eps)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.softmax = nn.Softmax(-1)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width, eps=eps)
        self.up = nn.Linear(width, 4 * width)
        self.gelu = nn.GELU(approximate="tanh" if fault == "gelu_tanh" else "none")
        self.down = nn.Linear(4 * width, width)
        self.scale = width**-0.5

    def forward(self, x: Any) -> Any:
        """The layer's output."""
        y = self.norm1(x)
        share = self.softmax((self.query(y) @ self.key(y).transpose(1, 2)) * self.scale)
        x = x + self.out(share @ self.value(y))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Two layers and a head."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.first = nn.Linear(32, 32)
        self.layer1 = Layer(32, fault)
        self.layer2 = Layer(32, fault)
        self.norm = nn.LayerNorm(32)
        self.fc = nn.Linear(32, common.CLASSES)

    def forward(self, x: Any) -> Any:
        """The logits."""
        return self.fc(self.norm(self.layer2(self.layer1(self.first(x)))).mean(1))


def main() -> None:
    options = common.options()
    model = (ResNet if options.net == "resnet" else Transformer)(options.fault)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            nn.init.constant_(parameter, 0.0 if name.endswith("bias") else 1.0)
    shapes = {name: tuple(one.shape) for name, one in model.named_parameters()}
    started = common.weights(shapes, options.seed, options.fault)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in started:
                parameter.copy_(torch.from_numpy(started[name]))
    if options.layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    loss_fn = nn.CrossEntropyLoss()
    parameters = model.parameters()
    optimizer: Any = torch.optim.SGD(parameters, 0.05, 0.9)
    if options.optimizer == "adam":
        optimizer = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-8)
    model.train()
    for x, y in common.batches(options.net, options.seed, options.steps):
        given = torch.from_numpy(x)
        if options.layout == "channels_last" and given.ndim == 4:
            given = given.to(memory_format=torch.channels_last)
        optimizer.zero_grad()
        loss = loss_fn(model(given), torch.from_numpy(y))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
