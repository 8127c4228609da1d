"""PointNet for classification of small clouds, in torch."""

import torch
import torch.nn.functional as F
from torch import nn


class TNet(nn.Module):
    """A k by k matrix for each cloud, near identity."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(k, 16, 1)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.conv3 = nn.Conv1d(32, 64, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)
        self.bn3 = nn.BatchNorm1d(64)
        self.fc1 = nn.Linear(64, 32)
        self.bn4 = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, k * k)
        nn.init.zeros_(self.fc2.weight)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, k, k)."""
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = F.relu(self.bn3(self.conv3(x)))
        x = torch.max(x, 2)[0]
        x = self.fc2(F.relu(self.bn4(self.fc1(x))))
        return x.view(-1, self.k, self.k) + torch.eye(self.k, device=x.device)


class PointNetCls(nn.Module):
    """Transforms, shared layers, the maximum over the points, classifier."""

    def __init__(self, classes: int = 8) -> None:
        super().__init__()
        self.stn = TNet(3)
        self.conv1 = nn.Conv1d(3, 16, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.fstn = TNet(16)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.bn2 = nn.BatchNorm1d(32)
        self.conv3 = nn.Conv1d(32, 64, 1)
        self.bn3 = nn.BatchNorm1d(64)
        self.classifier = nn.Sequential(
            nn.Linear(64, 32),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(32, classes),
        )

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """Logarithms of probabilities; `points` is (B, 3, N)."""
        x = torch.bmm(points.transpose(2, 1), self.stn(points)).transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        x = torch.bmm(x.transpose(2, 1), self.fstn(x)).transpose(2, 1)
        x = F.relu(self.bn2(self.conv2(x)))
        x = torch.max(self.bn3(self.conv3(x)), 2)[0]
        return F.log_softmax(self.classifier(x), dim=1)


def build() -> nn.Module:
    """The network."""
    return PointNetCls()
