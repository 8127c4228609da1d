"""PointNet for classification of small clouds, in MindSpore."""

import numpy as np
from mindspore import Tensor, nn, ops


def shared_mlp(cin: int, cout: int) -> nn.Cell:
    """The same layer for each point, with norm and ReLU."""
    return nn.SequentialCell(nn.Conv1d(cin, cout, 1, pad_mode="valid", has_bias=True), nn.BatchNorm1d(cout), nn.ReLU())


class TransformNet(nn.Cell):
    """A k by k matrix for each cloud, near identity."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.mlp1 = shared_mlp(k, 16)
        self.mlp2 = shared_mlp(16, 32)
        self.mlp3 = shared_mlp(32, 64)
        self.fc1 = nn.Dense(64, 32)
        self.bn = nn.BatchNorm1d(32)
        self.relu = nn.ReLU()
        self.fc2 = nn.Dense(32, k * k, weight_init="zeros", bias_init="zeros")
        self.identity = Tensor(np.eye(k, dtype=np.float32))

    def construct(self, x: Tensor) -> Tensor:
        """(B, k, k)."""
        x = self.mlp3(self.mlp2(self.mlp1(x)))
        x = ops.amax(x, 2)
        x = self.fc2(self.relu(self.bn(self.fc1(x))))
        return x.reshape((-1, self.k, self.k)) + self.identity


class PointNet(nn.Cell):
    """Transforms, shared layers, the maximum over the points, classifier."""

    def __init__(self, classes: int = 8) -> None:
        super().__init__()
        self.input_transform = TransformNet(3)
        self.mlp1 = shared_mlp(3, 16)
        self.feature_transform = TransformNet(16)
        self.mlp2 = shared_mlp(16, 32)
        self.conv3 = nn.Conv1d(32, 64, 1, pad_mode="valid", has_bias=True)
        self.bn3 = nn.BatchNorm1d(64)
        self.fc1 = nn.Dense(64, 32)
        self.bn4 = nn.BatchNorm1d(32)
        self.dropout = nn.Dropout(p=0.3)
        self.fc2 = nn.Dense(32, classes)
        self.relu = nn.ReLU()
        self.log_softmax = nn.LogSoftmax(axis=1)

    def construct(self, points: Tensor) -> Tensor:
        """Logarithms of probabilities; `points` is (B, 3, N)."""
        matrix = self.input_transform(points)
        x = ops.bmm(points.transpose((0, 2, 1)), matrix).transpose((0, 2, 1))
        x = self.mlp1(x)
        matrix = self.feature_transform(x)
        x = ops.bmm(x.transpose((0, 2, 1)), matrix).transpose((0, 2, 1))
        x = self.bn3(self.conv3(self.mlp2(x)))
        x = ops.amax(x, 2)
        x = self.relu(self.bn4(self.fc1(x)))
        x = self.fc2(self.dropout(x))
        return self.log_softmax(x)


def build() -> nn.Cell:
    """The network."""
    return PointNet()
