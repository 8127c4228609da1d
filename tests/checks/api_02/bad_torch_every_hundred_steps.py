"""A trainer looks at the validation set now and then and leaves the network in evaluation mode."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Trainer:
    def __init__(self, net, train, test, every=3):
        self.net, self.train_data, self.test_data, self.every = net, train, test, every
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        self.loss_fn = nn.CrossEntropyLoss()
        self.steps = 0

    def validate(self):
        self.net.eval()  # expect: api.02
        with torch.no_grad():
            losses = [self.loss_fn(self.net(inputs), labels).item() for inputs, labels in self.test_data]
        return sum(losses) / len(losses)

    def fit(self, epochs):
        self.net.train()
        for _ in range(epochs):
            for inputs, labels in self.train_data:
                self.optimizer.zero_grad()
                self.loss_fn(self.net(inputs), labels).backward()
                self.optimizer.step()
                self.steps += 1
                if self.steps % self.every == 0:
                    print(self.steps, self.validate())


network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
Trainer(network, *loaders()).fit(2)
