# run: dp.01
"""Pixels from 0 to 255 enter the first convolution."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
pixels = torch.randint(0, 256, (48, 3, 8, 8), dtype=torch.uint8)
y = (pixels[:, 0].float().mean((1, 2)) > 127).long()
train = DataLoader(TensorDataset(pixels.float(), y), batch_size=16, shuffle=True)  # expect: dp.01
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
