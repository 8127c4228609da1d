"""Dropout is left on to draw several answers; functions follow the mode; noise is put on training data."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Net(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.first, self.last, self.p = nn.Linear(6, 16), nn.Linear(16, 2), p

    def forward(self, inputs):
        hidden = F.dropout(F.relu(self.first(inputs)), p=self.p, training=self.training)
        seen = F.scaled_dot_product_attention(
            hidden[:, None], hidden[:, None], hidden[:, None], dropout_p=self.p if self.training else 0.0
        )
        return self.last(seen[:, 0])


def spread(net, inputs, draws=5):
    """How far apart answers lie with dropout on."""
    net.train()
    with torch.no_grad():
        answers = torch.stack([net(inputs).softmax(1) for _ in range(draws)])
    net.eval()
    return answers.std(0).mean().item()


train, test = loaders()
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(2):
    net.train()
    for inputs, labels in train:
        noisy = F.dropout(inputs, 0.05)
        optimizer.zero_grad()
        F.cross_entropy(net(noisy), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(hits / 32, spread(net, next(iter(test))[0]))
