"""ResNet in PyTorch: the benchmark. Residual learning as in He et al. 2015, the stride on the 3x3 convolution."""

from torch import nn


def conv1x1(channels_in, channels_out, stride=1):
    """A convolution that mixes channels."""
    return nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False)


def conv3x3(channels_in, channels_out, stride=1):
    """A convolution that keeps the size, but for its stride."""
    return nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)


def shortcut(channels_in, channels_out, stride):
    """What brings a block's input to the shape of its output; None where it has it already."""
    if stride == 1 and channels_in == channels_out:
        return None
    return nn.Sequential(conv1x1(channels_in, channels_out, stride), nn.BatchNorm2d(channels_out))


class BasicBlock(nn.Module):
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

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
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

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """A stem, four groups of blocks, the average over the image, and a linear head."""

    def __init__(self, block, counts, width=64, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.channels = width
        self.layer1 = self.group(block, width, counts[0], stride=1)
        self.layer2 = self.group(block, width * 2, counts[1], stride=2)
        self.layer3 = self.group(block, width * 4, counts[2], stride=2)
        self.layer4 = self.group(block, width * 8, counts[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(self.channels, classes)
        self.draw_weights()

    def group(self, block, channels, count, stride):
        """Blocks one after another; the first may shrink the image."""
        blocks = []
        for index in range(count):
            blocks.append(block(self.channels, channels, stride if index == 0 else 1))
            self.channels = channels * block.expansion
        return nn.Sequential(*blocks)

    def draw_weights(self):
        """Kaiming for the convolutions; BatchNorm starts as ones and zeros, the head as torch makes it."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet50(classes=10):
    """ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes=classes)


def resnet18(classes=10):
    """ResNet-18, of basic blocks."""
    return ResNet(BasicBlock, (2, 2, 2, 2), classes=classes)


def resnet_small(classes=10):
    """ResNet-50's structure with fewer and narrower blocks: trains in seconds."""
    return ResNet(Bottleneck, (1, 1, 1, 1), width=8, classes=classes)
