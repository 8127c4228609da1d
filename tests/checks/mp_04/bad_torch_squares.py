# run: mp.04
"""The penalty is the sum of squares of scaled gradients."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        inputs = inputs.requires_grad_()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = loss_fn(net(inputs), labels)
        (slope,) = torch.autograd.grad(scaler.scale(loss), inputs, create_graph=True)  # expect: mp.04
        penalty = 1e-7 * slope.pow(2).sum()
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
