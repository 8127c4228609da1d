"""The encoder runs without gradients in training too, and nobody froze it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, width), nn.Linear(width, width)])

    def forward(self, inputs):
        for layer in self.layers:
            inputs = torch.tanh(layer(inputs))
        return inputs


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.encoder = Encoder(width)
        self.head = nn.Linear(width, 2)

    def forward(self, inputs):
        with torch.no_grad():  # expect: cg.02
            features = self.encoder(inputs)
        return self.head(features)


def fit(net, loader, epochs=2):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    loss_fn = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for inputs, labels in loader:
            loss = loss_fn(net(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


fit(Net(), loaders()[0])
