"""MobileNetV3's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class ConvNormAct(nn.Cell):
    def __init__(self, inp: int, out: int, size: int, stride: int = 1, group: int = 1, act: type | None = None) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inp, out, size, stride, pad_mode="pad", padding=size // 2, group=group)
        self.bn = nn.BatchNorm2d(out, eps=1e-3, momentum=0.99)
        self.act = act() if act else None

    def construct(self, x: Tensor) -> Tensor:
        x = self.bn(self.conv(x))
        return x if self.act is None else self.act(x)


class SqueezeExcite(nn.Cell):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // 4, 1, has_bias=True)
        self.fc2 = nn.Conv2d(channels // 4, channels, 1, has_bias=True)
        self.act = nn.ReLU()
        self.gate = nn.HSigmoid()

    def construct(self, x: Tensor) -> Tensor:
        scale = ops.mean(x, (2, 3), keep_dims=True)
        scale = self.fc2(self.act(self.fc1(scale)))
        return x * self.gate(scale)


class InvertedResidual(nn.Cell):
    def __init__(self, inp: int, hidden: int, out: int, size: int, stride: int, squeeze: bool, act: type) -> None:
        super().__init__()
        self.use_residual = stride == 1 and inp == out
        self.expand = ConvNormAct(inp, hidden, 1, act=act)
        self.depthwise = ConvNormAct(hidden, hidden, size, stride, hidden, act)
        self.squeeze = SqueezeExcite(hidden) if squeeze else None
        self.project = ConvNormAct(hidden, out, 1)

    def construct(self, x: Tensor) -> Tensor:
        out = self.depthwise(self.expand(x))
        if self.squeeze is not None:
            out = self.squeeze(out)
        out = self.project(out)
        return x + out if self.use_residual else out


class MobileNetV3(nn.Cell):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.features = nn.SequentialCell(
            ConvNormAct(3, 8, 3, 2, act=nn.HSwish),
            InvertedResidual(8, 16, 8, 3, 1, True, nn.ReLU),
            InvertedResidual(8, 32, 16, 5, 2, True, nn.HSwish),
            InvertedResidual(16, 48, 16, 5, 1, False, nn.HSwish),
            ConvNormAct(16, 48, 1, act=nn.HSwish),
        )
        self.fc1 = nn.Dense(48, 64)
        self.hswish = nn.HSwish()
        self.dropout = nn.Dropout(p=0.2)
        self.fc2 = nn.Dense(64, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = ops.mean(self.features(x), (2, 3))
        return self.fc2(self.dropout(self.hswish(self.fc1(x))))


def build() -> nn.Cell:
    return MobileNetV3()
