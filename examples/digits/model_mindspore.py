"""The same network, ported to MindSpore; ``fault`` plants one of the mistakes that ports are made with."""

from mindspore import nn

FAULTS = {
    "none": "no mistake: the same function as the torch network",
    "pad_same": "the strided convolution keeps MindSpore's default pad_mode='same'",
    "bn_eps": "BatchNorm with eps=1e-3 instead of 1e-5",
    "bn_momentum": "torch's BatchNorm momentum 0.1 copied, where MindSpore means 0.9 by it",
    "leaky_slope": "LeakyReLU keeps MindSpore's default slope of 0.2, torch's is 0.01",
    "momentum": "the optimizer is built without momentum",
}


def norm(channels, fault):
    """BatchNorm2d with torch's defaults."""
    eps = 1e-3 if fault == "bn_eps" else 1e-5
    momentum = 0.1 if fault == "bn_momentum" else 0.9
    return nn.BatchNorm2d(channels, eps=eps, momentum=momentum)


def activation(fault):
    """LeakyReLU with torch's default slope."""
    return nn.LeakyReLU() if fault == "leaky_slope" else nn.LeakyReLU(alpha=0.01)


class Block(nn.Cell):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, channels_in, channels_out, stride, fault="none"):
        super().__init__()
        if fault == "pad_same" and stride != 1:
            self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride)
        else:
            self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, pad_mode="pad", padding=1)
        self.bn1 = norm(channels_out, fault)
        self.act1 = activation(fault)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, pad_mode="pad", padding=1)
        self.bn2 = norm(channels_out, fault)
        self.act2 = activation(fault)
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            self.downsample = nn.SequentialCell(
                nn.Conv2d(channels_in, channels_out, 1, stride=stride, pad_mode="valid"),
                norm(channels_out, fault),
            )

    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.act1(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.act2(out + shortcut)


class DigitsNet(nn.Cell):
    """Stem, two residual blocks, average pooling and a dense head."""

    def __init__(self, classes=10, fault="none"):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, pad_mode="pad", padding=1)
        self.bn = norm(16, fault)
        self.act = activation(fault)
        self.layer1 = Block(16, 16, stride=1, fault=fault)
        self.layer2 = Block(16, 32, stride=2, fault=fault)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(32, classes)

    def construct(self, x):
        x = self.act(self.bn(self.conv(x)))
        x = self.layer2(self.layer1(x))
        return self.fc(self.flatten(self.pool(x)))
