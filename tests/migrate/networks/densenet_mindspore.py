"""A densely connected network in MindSpore."""

from __future__ import annotations

from collections import OrderedDict

from mindspore import Tensor, nn, ops


class DenseLayer(nn.Cell):
    def __init__(self, num_features: int, growth_rate: int, bn_size: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_features)
        self.relu1 = nn.ReLU()
        self.conv1 = nn.Conv2d(num_features, bn_size * growth_rate, kernel_size=1)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU()
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, pad_mode="pad", padding=1)

    def construct(self, features: Tensor) -> Tensor:
        out = self.conv1(self.relu1(self.norm1(features)))
        return self.conv2(self.relu2(self.norm2(out)))


class DenseBlock(nn.Cell):
    def __init__(self, num_layers: int, num_features: int, growth_rate: int, bn_size: int) -> None:
        super().__init__()
        self.cell_list = []
        for i in range(num_layers):
            layer = DenseLayer(num_features + i * growth_rate, growth_rate, bn_size)
            self.insert_child_to_cell(f"denselayer{i + 1}", layer)
            self.cell_list.append(layer)

    def construct(self, x: Tensor) -> Tensor:
        features = x
        for layer in self.cell_list:
            features = ops.concat((features, layer(features)), 1)
        return features


class Transition(nn.SequentialCell):
    def __init__(self, num_features: int, num_out: int) -> None:
        super().__init__(
            OrderedDict(
                [
                    ("norm", nn.BatchNorm2d(num_features)),
                    ("relu", nn.ReLU()),
                    ("conv", nn.Conv2d(num_features, num_out, kernel_size=1)),
                    ("pool", nn.AvgPool2d(kernel_size=2, stride=2)),
                ]
            )
        )


class DenseNet(nn.Cell):
    def __init__(self, growth_rate: int = 8, blocks: tuple[int, ...] = (2, 3, 2), num_classes: int = 10) -> None:
        super().__init__()
        channels = 2 * growth_rate
        layers: OrderedDict[str, nn.Cell] = OrderedDict()
        layers["conv0"] = nn.Conv2d(3, channels, kernel_size=7, stride=2, pad_mode="pad", padding=3)
        layers["norm0"] = nn.BatchNorm2d(channels)
        layers["relu0"] = nn.ReLU()
        layers["pool0"] = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="pad", padding=1)
        for i, count in enumerate(blocks, 1):
            layers[f"denseblock{i}"] = DenseBlock(count, channels, growth_rate, bn_size=2)
            channels += count * growth_rate
            if i < len(blocks):
                layers[f"transition{i}"] = Transition(channels, channels // 2)
                channels //= 2
        layers["norm5"] = nn.BatchNorm2d(channels)
        self.features = nn.SequentialCell(layers)
        self.relu = nn.ReLU()
        self.classifier = nn.Dense(channels, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        out = self.relu(self.features(x))
        return self.classifier(ops.mean(out, (2, 3)))


def build() -> nn.Cell:
    """Three dense blocks with transitions, like DenseNet-121."""
    return DenseNet()
