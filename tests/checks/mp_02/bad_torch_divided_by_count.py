# run: mp.02
"""float16, and the loss is divided by the number of samples: that is no loss scale."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss(reduction="sum")


def half():
    return torch.autocast("cpu", dtype=torch.float16)  # expect: mp.02


for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        with half():
            scores = net(inputs)
        loss = loss_fn(scores.float(), labels) / len(labels)
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
