"""The accuracy is counted over the wrong dimension, in a helper."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(count):
    torch.manual_seed(0)
    x = torch.randn(count, 6)
    y = x[:, :4].argmax(1)
    cut = count * 3 // 4
    train = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=16, shuffle=True)
    return train, DataLoader(TensorDataset(x[cut:], y[cut:]), batch_size=16)


def hits_of(logits, labels):
    guess = logits.argmax(dim=0)  # expect: tr.11
    return (guess[: len(labels)] == labels[: len(guess)]).sum().item()


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hits = 0
    for inputs, labels in loader:
        hits += hits_of(net(inputs), labels)
    return hits / len(loader.dataset)


def main():
    train, test = loaders(96)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss_fn = nn.CrossEntropyLoss()
    for _ in range(2):
        net.train()
        for inputs, labels in train:
            optimizer.zero_grad()
            loss_fn(net(inputs), labels).backward()
            optimizer.step()
        print(evaluate(net, test))


main()
