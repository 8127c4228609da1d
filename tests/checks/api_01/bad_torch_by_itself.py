"""Numbers that are at home in MindSpore, and a divergence that is divided by the classes as well."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 1, 8, 8)
y = torch.softmax(torch.randn(64, 4), dim=1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8, momentum=0.9),  # expect: api.01
    nn.ReLU(),
    nn.Flatten(),
    nn.Dropout(0.95),  # expect: api.01
    nn.Linear(512, 4),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.train()
for _ in range(2):
    for inputs, wanted in loader:
        optimizer.zero_grad()
        loss = F.kl_div(F.log_softmax(net(inputs), dim=1), wanted)  # expect: api.01
        loss.backward()
        optimizer.step()
