from mindspore import nn


def conv_block(cin, cout):
    return nn.SequentialCell(
        # bias is pointless in front of the norm
        nn.Conv2d(cin, cout, 3, stride=1, pad_mode="same", has_bias=False),
        nn.BatchNorm2d(cout, eps=1e-5, momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2d(kernel_size=2, stride=2),
    )


class ShapeNet(nn.Cell):
    def __init__(self, classes=3, width=8):
        super().__init__()
        self.features = nn.SequentialCell(conv_block(1, width), conv_block(width, 2 * width))
        self.flatten = nn.Flatten()
        self.head = nn.Dense(2 * width * 4 * 4, classes)

    def construct(self, x):
        return self.head(self.flatten(self.features(x)))
