"""Inverted residuals with depthwise convolutions in MindSpore; one variant with squeeze-and-excite."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class ConvBNReLU(nn.SequentialCell):
    def __init__(self, inp: int, oup: int, kernel_size: int = 3, stride: int = 1, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inp, oup, kernel_size, stride, pad_mode="pad", padding=(kernel_size - 1) // 2, group=groups),
            nn.BatchNorm2d(oup),
            nn.ReLU6(),
        )


class SqueezeExcite(nn.Cell):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, max(8, channels // 4), 1, has_bias=True)
        self.fc2 = nn.Conv2d(max(8, channels // 4), channels, 1, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        scale = ops.relu(self.fc1(ops.mean(x, (2, 3), keep_dims=True)))
        return x * ops.sigmoid(self.fc2(scale))


class InvertedResidual(nn.Cell):
    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, squeeze: bool) -> None:
        super().__init__()
        hidden = inp * expand_ratio
        self.use_res_connect = stride == 1 and inp == oup
        layers: list[nn.Cell] = []
        if expand_ratio != 1:
            layers.append(ConvBNReLU(inp, hidden, kernel_size=1))
        layers.append(ConvBNReLU(hidden, hidden, stride=stride, groups=hidden))
        if squeeze:
            layers.append(SqueezeExcite(hidden))
        layers += [nn.Conv2d(hidden, oup, 1), nn.BatchNorm2d(oup)]
        self.conv = nn.SequentialCell(layers)

    def construct(self, x: Tensor) -> Tensor:
        if self.use_res_connect:
            return x + self.conv(x)
        return self.conv(x)


class MobileNetV2(nn.Cell):
    settings = ((1, 8, 1, 1), (4, 16, 2, 2), (4, 24, 2, 2), (4, 32, 1, 1))

    def __init__(self, squeeze: bool = False, num_classes: int = 10) -> None:
        super().__init__()
        channels = 8
        features: list[nn.Cell] = [ConvBNReLU(3, channels, stride=2)]
        for expand, out, repeats, stride in self.settings:
            for i in range(repeats):
                features.append(InvertedResidual(channels, out, stride if i == 0 else 1, expand, squeeze))
                channels = out
        features.append(ConvBNReLU(channels, 64, kernel_size=1))
        self.features = nn.SequentialCell(features)
        self.classifier = nn.SequentialCell(nn.Dropout(p=0.2), nn.Dense(64, num_classes))

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(ops.mean(self.features(x), (2, 3)))


def build() -> nn.Cell:
    """Like MobileNetV2."""
    return MobileNetV2()


def build_squeeze() -> nn.Cell:
    """With squeeze-and-excite: convolutions with a bias beside those without."""
    return MobileNetV2(squeeze=True)
