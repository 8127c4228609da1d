"""ResNet as a migration guide's sample ports it: it trains, and is another network than torch's.

Kept as it is, so that there is something to find: three of the sample's four differences are here, the fourth is in
``loss_seed.py``.
"""

from mindspore import nn, ops
from mindspore.common.initializer import TruncatedNormal, XavierUniform, initializer


def conv(channels_in, channels_out, kernel, stride=1):
    """'same' pads right and bottom where the stride leaves no middle."""
    return nn.Conv2d(channels_in, channels_out, kernel, stride=stride, pad_mode="same")


class DownBottleneck(nn.Cell):
    """The first bottleneck of a group: the image shrinks in a pool after the 3x3 convolution, not in its stride."""

    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        channels = channels_out // 4
        self.conv1 = conv(channels_in, channels, 1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.e2 = nn.SequentialCell(
            conv(channels, channels, 3),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=stride, pad_mode="same"),
        )
        self.conv3 = conv(channels, channels_out, 1)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.down_sample = nn.SequentialCell(conv(channels_in, channels_out, 1, stride), nn.BatchNorm2d(channels_out))

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.e2(out)
        out = self.bn3(self.conv3(out))
        return self.relu(out + self.down_sample(x))


class Bottleneck(nn.Cell):
    """The bottlenecks that keep the size."""

    def __init__(self, channels_in, channels_out):
        super().__init__()
        channels = channels_out // 4
        self.conv1 = conv(channels_in, channels, 1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = conv(channels, channels, 3)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = conv(channels, channels_out, 1)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.down_sample = None
        if channels_in != channels_out:
            self.down_sample = nn.SequentialCell(conv(channels_in, channels_out, 1), nn.BatchNorm2d(channels_out))

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.down_sample is None else self.down_sample(x)))


def group(channels_in, channels_out, count, stride):
    """Blocks one after another; the first may shrink the image."""
    first = Bottleneck(channels_in, channels_out) if stride == 1 else DownBottleneck(channels_in, channels_out, stride)
    return nn.SequentialCell(first, *(Bottleneck(channels_out, channels_out) for _ in range(count - 1)))


class ResNet(nn.Cell):
    """A stem, four groups of blocks, the average over the image, and a dense head."""

    def __init__(self, counts, width=64, classes=10):
        super().__init__()
        self.conv1 = conv(3, width, 7, stride=2)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = ops.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        self.layer1 = group(width, width * 4, counts[0], stride=1)
        self.layer2 = group(width * 4, width * 8, counts[1], stride=2)
        self.layer3 = group(width * 8, width * 16, counts[2], stride=2)
        self.layer4 = group(width * 16, width * 32, counts[3], stride=2)
        self.mean = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.end_point = nn.Dense(width * 32, classes)
        self.draw_weights()

    def draw_weights(self):
        """Xavier for the convolutions, a truncated normal for the head."""
        for _, cell in self.cells_and_names():
            if isinstance(cell, nn.Conv2d):
                cell.weight.set_data(initializer(XavierUniform(), cell.weight.shape, cell.weight.dtype))
            elif isinstance(cell, nn.Dense):
                cell.weight.set_data(initializer(TruncatedNormal(), cell.weight.shape, cell.weight.dtype))

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.end_point(self.flatten(self.mean(x, (2, 3))))


def resnet50(classes=10):
    """ResNet-50."""
    return ResNet((3, 4, 6, 3), classes=classes)


def resnet_small(classes=10):
    """ResNet-50's structure with fewer and narrower blocks: trains in seconds."""
    return ResNet((1, 1, 1, 1), width=8, classes=classes)
