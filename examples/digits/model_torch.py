"""A small residual network for 8x8 images."""

from torch import nn


class Block(nn.Module):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.act1 = nn.LeakyReLU()
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.act2 = nn.LeakyReLU()
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False),
                nn.BatchNorm2d(channels_out),
            )

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.act1(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.act2(out + shortcut)


class DigitsNet(nn.Module):
    """Stem, two residual blocks, average pooling and a linear head."""

    def __init__(self, classes=10):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(16)
        self.act = nn.LeakyReLU()
        self.layer1 = Block(16, 16, stride=1)
        self.layer2 = Block(16, 32, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        x = self.act(self.bn(self.conv(x)))
        x = self.layer2(self.layer1(x))
        return self.fc(self.flatten(self.pool(x)))
