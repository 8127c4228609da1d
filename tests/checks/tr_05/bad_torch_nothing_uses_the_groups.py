"""A function sorts the parameters, and nothing calls it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sorted_out(net, decay):
    decayed = [one for one in net.parameters() if one.ndim > 1]
    spared = [one for one in net.parameters() if one.ndim <= 1]
    return [{"params": decayed, "weight_decay": decay}, {"params": spared, "weight_decay": 0.0}]


torch.manual_seed(0)
x = torch.randn(90, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=13)
net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.01)  # expect: tr.05
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
