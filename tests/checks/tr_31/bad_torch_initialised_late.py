# run: tr.31
"""Weights are initialised after spectral norm has estimated their norm."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
train = DataLoader(TensorDataset(x), batch_size=16, shuffle=True)

first, last = nn.Linear(6, 16), nn.Linear(16, 4)
teacher = nn.Sequential(spectral_norm(first), nn.Tanh(), spectral_norm(last))
nn.init.normal_(first.parametrizations.weight.original)
nn.init.normal_(last.parametrizations.weight.original)
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
