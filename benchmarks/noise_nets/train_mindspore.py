"""Trains the same small network with MindSpore."""

from __future__ import annotations

from typing import Any

import common
import mindspore as ms
from mindspore import Tensor, nn, ops

LEAVES = {"gamma": "weight", "beta": "bias"}


def conv(inner: int, outer: int, size: int, stride: int, padding: int) -> Any:
    """As torch's."""
    return nn.Conv2d(inner, outer, size, stride, pad_mode="pad", padding=padding)


class Block(nn.Cell):
    """Two convolutions and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int, eps: float) -> None:
        super().__init__()
        self.conv1 = conv(inner, outer, 3, stride, 1)
        self.bn1 = nn.BatchNorm2d(outer, eps=eps)
        self.relu1 = nn.ReLU()
        self.conv2 = conv(outer, outer, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(outer, eps=eps)
        self.relu2 = nn.ReLU()
        self.down = conv(inner, outer, 1, stride, 0)

    def construct(self, x: Any) -> Any:
        """The block's output."""
        return self.relu2(self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x))))) + self.down(x))


class ResNet(nn.Cell):
    """Stem, three blocks, a head."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        eps = 1e-3 if fault == "bn_eps" else 1e-5
        self.conv = conv(3, 16, 3, 1, 1)
        self.bn = nn.BatchNorm2d(16, eps=eps)
        self.relu = nn.ReLU()
        self.block1 = Block(16, 16, 1, eps)
        self.block2 = Block(16, 32, 2, eps)
        self.block3 = Block(32, 64, 2, eps)
        self.fc = nn.Dense(64, common.CLASSES)

    def construct(self, x: Any) -> Any:
        """The logits."""
        x = self.block3(self.block2(self.block1(self.relu(self.bn(self.conv(x))))))
        return self.fc(x.mean((2, 3)))


class Layer(nn.Cell):
    """Attention and a hidden layer, each after a norm."""

    def __init__(self, width: int, fault: str) -> None:
        super().__init__()
        eps = 1e-7 if fault == "ln_eps" else 1e-5
        self.norm1 = nn.LayerNorm((width,), epsilon=eps)
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.softmax = nn.Softmax(-1)
        self.out = nn.Dense(width, width)
        self.norm2 = nn.LayerNorm((width,), epsilon=eps)
        self.up = nn.Dense(width, 4 * width)
        self.gelu = nn.GELU(approximate=fault == "gelu_tanh")
        self.down = nn.Dense(4 * width, width)
        self.scale = width**-0.5

    def construct(self, x: Any) -> Any:
        """The layer's output."""
        y = self.norm1(x)
        share = self.softmax(ops.bmm(self.query(y), self.key(y).swapaxes(1, 2)) * self.scale)
        x = x + self.out(ops.bmm(share, self.value(y)))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Transformer(nn.Cell):
    """Two layers and a head."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.first = nn.Dense(32, 32)
        self.layer1 = Layer(32, fault)
        self.layer2 = Layer(32, fault)
        self.norm = nn.LayerNorm((32,), epsilon=1e-5)
        self.fc = nn.Dense(32, common.CLASSES)

    def construct(self, x: Any) -> Any:
        """The logits."""
        return self.fc(self.norm(self.layer2(self.layer1(self.first(x)))).mean(1))


def torch_name(name: str) -> str:
    """What torch calls a parameter."""
    module, _, leaf = name.rpartition(".")
    return f"{module}.{LEAVES.get(leaf, leaf)}"


def main() -> None:
    options = common.options()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    model = (ResNet if options.net == "resnet" else Transformer)(options.fault)
    named = {torch_name(one.name): one for one in model.trainable_params()}
    started = common.weights({name: tuple(one.shape) for name, one in named.items()}, options.seed, options.fault)
    for name, parameter in named.items():
        if parameter.ndim == 1:
            value = (ops.zeros if name.endswith("bias") else ops.ones)(parameter.shape, ms.float32)
        else:
            value = Tensor(started[name])
        parameter.set_data(value)
    loss_fn = nn.CrossEntropyLoss()
    optimizer: Any = nn.Momentum(model.trainable_params(), 0.05, 0.9)
    if options.optimizer == "adam":
        optimizer = nn.Adam(model.trainable_params(), 1e-3, eps=1e-8)
    model.set_train()

    def forward(x: Any, y: Any) -> Any:
        return loss_fn(model(x), y)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)
    for x, y in common.batches(options.net, options.seed, options.steps):
        _, gradients = gradient(Tensor(x), Tensor(y.astype("int32")))
        optimizer(gradients)


if __name__ == "__main__":
    main()
