"""The file that the second network starts from was saved before the first one was trained."""

import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, inputs):
        return self.head(torch.relu(self.body(inputs)))


def fit(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss_fn = nn.CrossEntropyLoss()
    for _ in range(2):
        for inputs, labels in train:
            optimizer.zero_grad()
            loss_fn(net(inputs), labels).backward()
            optimizer.step()


path = Path(tempfile.mkdtemp()) / "first.pth"
first = Net()
torch.save(first.state_dict(), path)  # expect: wi.02
fit(first)
second = Net()
second.load_state_dict(torch.load(path, weights_only=True))
fit(second)
