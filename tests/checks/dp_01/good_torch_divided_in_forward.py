"""The network itself divides: what the loader gives may be 0..255."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.head = nn.Linear(144, 2)

    def forward(self, x):
        x = (x / 255.0 - 0.5) / 0.25
        return self.head(torch.relu(self.conv(x)).flatten(1))


torch.manual_seed(0)
pixels = torch.randint(0, 256, (48, 3, 8, 8), dtype=torch.uint8)
y = (pixels[:, 0].float().mean((1, 2)) > 127).long()
train = DataLoader(TensorDataset(pixels.float(), y), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for inputs, labels in train:
    optimizer.zero_grad()
    loss_fn(net(inputs), labels).backward()
    optimizer.step()
