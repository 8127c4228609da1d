"""Lists besides containers: of layers registered elsewhere, of activations, of a teacher hidden on purpose."""

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
    def __init__(self, teacher, depth=2):
        super().__init__()
        self.order = []
        for at in range(depth):
            layer = nn.Linear(6 if at == 0 else 16, 16)
            self.add_module(f"layer{at}", layer)
            self.order.append(layer)
        self.acts = [torch.relu, torch.tanh]
        self.head = nn.Linear(16, 2)
        self.teacher = [teacher.eval().requires_grad_(False)]

    def forward(self, inputs):
        hidden = inputs
        for layer, act in zip(self.order, self.acts, strict=True):
            hidden = act(layer(hidden))
        return self.head(hidden)

    def target(self, inputs):
        with torch.no_grad():
            return self.teacher[0](inputs).softmax(1)


train, _ = loaders()
net = Net(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for inputs, labels in train:
    optimizer.zero_grad()
    logits = net(inputs)
    loss = F.cross_entropy(logits, labels) + F.kl_div(logits.log_softmax(1), net.target(inputs), reduction="batchmean")
    loss.backward()
    optimizer.step()
