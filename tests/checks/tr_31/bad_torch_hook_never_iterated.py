# run: tr.31
"""The older spectral norm has estimated nothing yet, and is only evaluated."""

import torch
from torch import nn
from torch.nn.utils import spectral_norm
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
train = DataLoader(TensorDataset(x), batch_size=16, shuffle=True)

teacher = nn.Sequential(spectral_norm(nn.Linear(6, 16)), nn.Tanh(), spectral_norm(nn.Linear(16, 4)))
teacher.eval()
for parameter in teacher.parameters():
    parameter.requires_grad_(False)
student = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(3):
    for (inputs,) in train:
        with torch.no_grad():
            wanted = teacher(inputs)
        optimizer.zero_grad()
        loss = (student(inputs) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
