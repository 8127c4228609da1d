"""Two optimizers share a network's weights between them; a loaded body is left out."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
weights = list(net.parameters())
slow, fast = torch.optim.SGD(weights[:2], lr=0.01), torch.optim.SGD(weights[2:], lr=0.1)
old = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
old.load_state_dict(torch.load("old.pth"))
tuned = torch.optim.SGD(list(old.parameters())[-2:], lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        for optimizer in (slow, fast, tuned):
            optimizer.zero_grad()
        (loss_fn(net(inputs), labels) + loss_fn(old(inputs), labels)).backward()
        slow.step()
        fast.step()
        tuned.step()
