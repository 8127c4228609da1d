"""What trains is given the training loader for both."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(90, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=13)
net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()


def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in loader) / len(loader.dataset)


def fit(net, loader, valid_loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(epochs):
        net.train()
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(net(inputs), labels).backward()
            optimizer.step()
        print(epoch, evaluate(net, valid_loader))


fit(net, train, train, 2)  # expect: tr.07
print(evaluate(net, test))
