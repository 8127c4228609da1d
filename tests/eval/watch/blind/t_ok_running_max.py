"""Max-pooling over time and over graph neighbours, started from -inf."""

import torch
from torch import nn


class TimeMax(nn.Module):
    def forward(self, x):
        best = torch.full((x.shape[0], x.shape[2]), float("-inf"))
        for t in range(x.shape[1]):
            best = torch.maximum(best, x[:, t])
        return best


class NeighbourMax(nn.Module):
    def forward(self, x, source, target, nodes):
        pooled = x.new_full((nodes, x.shape[1]), float("-inf"))
        pooled = pooled.scatter_reduce(0, target[:, None].expand(-1, x.shape[1]), x[source], "amax")
        return torch.where(torch.isinf(pooled), torch.zeros_like(pooled), pooled)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 12, 3, padding=1)
        self.pool = nn.MaxPool1d(3, stride=1, padding=1)
        self.time_max = TimeMax()
        self.neigh = NeighbourMax()
        self.fc = nn.Linear(24, 3)

    def forward(self, x, source, target):
        h = self.pool(torch.relu(self.conv(x))).transpose(1, 2)
        node = self.time_max(h)
        around = self.neigh(node, source, target, len(node))
        return self.fc(torch.cat([node, around], dim=1))


def main():
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(8):
        x, y = torch.randn(10, 2, 15), torch.randint(0, 3, (10,))
        source, target = torch.randint(0, 10, (14,)), torch.randint(0, 7, (14,))
        loss = nn.functional.cross_entropy(net(x, source, target), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
