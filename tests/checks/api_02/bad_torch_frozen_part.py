"""A frozen part stays in evaluation mode; the rest is never set to it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
        for parameter in self.body.parameters():
            parameter.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, inputs):
        with torch.no_grad():
            features = self.body(inputs)
        return self.head(features)


def test(network, loader):
    hits = 0
    for inputs, labels in loader:  # expect: api.02
        with torch.no_grad():
            hits += (network(inputs).argmax(1) == labels).sum().item()
    return hits / len(loader.dataset)


torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train_loader = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU())
body.load_state_dict(torch.load("body.pth"))
net = Classifier(body)
optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    print(epoch, test(net, test_loader))
