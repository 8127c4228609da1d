"""The same ResNet in MindSpore: the finished port, sub-network by sub-network."""

from mindspore import nn
from mindspore.common.initializer import HeNormal


def conv(channels_in, channels_out, kernel, stride, padding):
    """torch's convolution: MindSpore's own defaults are another padding and another initialisation."""
    draw = HeNormal(mode="fan_out", nonlinearity="relu")
    return nn.Conv2d(
        channels_in, channels_out, kernel, stride=stride, pad_mode="pad", padding=padding, weight_init=draw
    )


def conv1x1(channels_in, channels_out, stride=1):
    """A convolution that mixes channels."""
    return conv(channels_in, channels_out, 1, stride, padding=0)


def conv3x3(channels_in, channels_out, stride=1):
    """A convolution that keeps the size, but for its stride."""
    return conv(channels_in, channels_out, 3, stride, padding=1)


def shortcut(channels_in, channels_out, stride):
    """What brings a block's input to the shape of its output; None where it has it already."""
    if stride == 1 and channels_in == channels_out:
        return None
    return nn.SequentialCell(conv1x1(channels_in, channels_out, stride), nn.BatchNorm2d(channels_out))


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions and a shortcut: the block of the smaller ResNets."""

    expansion = 1

    def __init__(self, channels_in, channels, stride=1):
        super().__init__()
        self.conv1 = conv3x3(channels_in, channels, stride)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = conv3x3(channels, channels)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.downsample = shortcut(channels_in, channels, stride)

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Cell):
    """1x1 down, 3x3, 1x1 up and a shortcut: the block of ResNet-50."""

    expansion = 4

    def __init__(self, channels_in, channels, stride=1):
        super().__init__()
        channels_out = channels * self.expansion
        self.conv1 = conv1x1(channels_in, channels)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = conv3x3(channels, channels, stride)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = conv1x1(channels, channels_out)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.downsample = shortcut(channels_in, channels_out, stride)

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Cell):
    """A stem, four groups of blocks, the average over the image, and a dense head."""

    def __init__(self, block, counts, width=64, classes=10):
        super().__init__()
        self.conv1 = conv(3, width, 7, stride=2, padding=3)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, pad_mode="pad", padding=1)
        self.channels = width
        self.layer1 = self.group(block, width, counts[0], stride=1)
        self.layer2 = self.group(block, width * 2, counts[1], stride=2)
        self.layer3 = self.group(block, width * 4, counts[2], stride=2)
        self.layer4 = self.group(block, width * 8, counts[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(self.channels, classes)

    def group(self, block, channels, count, stride):
        """Blocks one after another; the first may shrink the image."""
        blocks = []
        for index in range(count):
            blocks.append(block(self.channels, channels, stride if index == 0 else 1))
            self.channels = channels * block.expansion
        return nn.SequentialCell(*blocks)

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x)))


def resnet50(classes=10):
    """ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes=classes)


def resnet18(classes=10):
    """ResNet-18, of basic blocks."""
    return ResNet(BasicBlock, (2, 2, 2, 2), classes=classes)


def resnet_small(classes=10):
    """ResNet-50's structure with fewer and narrower blocks: trains in seconds."""
    return ResNet(Bottleneck, (1, 1, 1, 1), width=8, classes=classes)
