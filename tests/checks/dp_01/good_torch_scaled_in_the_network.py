# run:
"""Pixels enter the network, which scales them before its first layer."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))

    def forward(self, pixels):
        return self.body((pixels.float() / 255.0 - 0.5) / 0.29)


torch.manual_seed(0)
pixels = torch.randint(0, 256, (48, 3, 8, 8), dtype=torch.uint8)
y = (pixels[:, 0].float().mean((1, 2)) > 127).long()
train = DataLoader(TensorDataset(pixels, y), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
