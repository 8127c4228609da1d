from mindspore import nn


class Backbone(nn.Cell):
    """8x8 pictures to a 32-vector."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, pad_mode="same", has_bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8 * 4 * 4, 32)

    def construct(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        return self.relu(self.fc(self.flatten(x)))


class Classifier(nn.Cell):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Dense(32, classes)

    def construct(self, x):
        return self.head(self.backbone(x))
