"""The evaluation gives the network back in the mode it came in; a frozen part stays in evaluation mode on purpose."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 2))

    def forward(self, inputs):
        return self.head(self.body(inputs))

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self


def evaluate(net, loader):
    was_training = net.training
    net.eval()
    try:
        with torch.no_grad():
            return sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in loader)
    finally:
        net.train(was_training)


def main():
    train, test = loaders()
    net = Net()
    net.body.load_state_dict(Net().body.state_dict())
    net.body.requires_grad_(False)
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
    loss_fn = nn.CrossEntropyLoss()
    net.train()
    for _ in range(2):
        for inputs, labels in train:
            optimizer.zero_grad()
            loss_fn(net(inputs), labels).backward()
            optimizer.step()
        print(evaluate(net, test) / 32)


if __name__ == "__main__":
    main()
