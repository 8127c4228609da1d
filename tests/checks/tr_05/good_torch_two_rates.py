"""Two groups with two rates and one decay: they are there for the rates."""

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
biases = [one for name, one in net.named_parameters() if name.endswith("bias")]
weights = [one for name, one in net.named_parameters() if not name.endswith("bias")]
groups = [
    {"params": weights, "lr": 0.01, "weight_decay": 1e-4},
    {"params": biases, "lr": 0.02, "weight_decay": 1e-4},
]
optimizer = torch.optim.SGD(groups, lr=0.01)
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
