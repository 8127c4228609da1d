# run: mp.01
"""The logarithm of zero makes the loss infinite."""

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
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        scores = torch.relu(net(inputs))
        picked = scores[torch.arange(len(labels)), labels]
        loss = -torch.log(picked / (scores.sum(1) + 1e-6)).mean()  # together: mp.01
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
