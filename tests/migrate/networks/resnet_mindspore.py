"""Residual networks in MindSpore: basic blocks, and bottlenecks with grouped convolutions."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


def conv(inplanes: int, planes: int, size: int, stride: int = 1, group: int = 1) -> nn.Conv2d:
    """A convolution that pads both sides by half its size."""
    return nn.Conv2d(
        inplanes, planes, size, stride=stride, pad_mode="pad", padding=size // 2, group=group, has_bias=False
    )


class BasicBlock(nn.Cell):
    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Cell | None = None) -> None:
        super().__init__()
        self.conv1 = conv(inplanes, planes, 3, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU()
        self.conv2 = conv(planes, planes, 3)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def construct(self, x: Tensor) -> Tensor:
        identity = x
        if self.downsample is not None:
            identity = self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + identity)


class Bottleneck(nn.Cell):
    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Cell | None = None) -> None:
        super().__init__()
        self.conv1 = conv(inplanes, planes, 1)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = conv(planes, planes, 3, stride, group=2)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = conv(planes, planes * self.expansion, 1)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def construct(self, x: Tensor) -> Tensor:
        identity = x
        if self.downsample is not None:
            identity = self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + identity)


class ResNet(nn.Cell):
    def __init__(self, block: type[BasicBlock] | type[Bottleneck], layers: list[int], num_classes: int = 10) -> None:
        super().__init__()
        self.inplanes = 8
        self.conv1 = conv(3, 8, 7, 2)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, pad_mode="pad", padding=1)
        self.layer1 = self._make_layer(block, 8, layers[0])
        self.layer2 = self._make_layer(block, 16, layers[1], stride=2)
        self.layer3 = self._make_layer(block, 32, layers[2], stride=2)
        self.fc = nn.Dense(32 * block.expansion, num_classes)

    def _make_layer(
        self, block: type[BasicBlock] | type[Bottleneck], planes: int, blocks: int, stride: int = 1
    ) -> nn.SequentialCell:
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.SequentialCell(
                conv(self.inplanes, planes * block.expansion, 1, stride), nn.BatchNorm2d(planes * block.expansion)
            )
        layers = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes) for _ in range(1, blocks)]
        return nn.SequentialCell(layers)

    def construct(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(ops.mean(x, (2, 3)))


def build() -> nn.Cell:
    """Two basic blocks per stage, like ResNet-18."""
    return ResNet(BasicBlock, [2, 2, 2])


def build_bottleneck() -> nn.Cell:
    """Bottlenecks, like ResNeXt-50: the first stage has a downsample branch too."""
    return ResNet(Bottleneck, [1, 2, 1])
