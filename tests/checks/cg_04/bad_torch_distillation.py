"""Kullback-Leibler with probabilities where it takes their logarithms."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


def distil(student, teacher, inputs, temperature=2.0):
    with torch.no_grad():
        target = F.softmax(teacher(inputs) / temperature, dim=-1)
    answer = F.softmax(student(inputs) / temperature, dim=-1)  # expect: cg.04
    return F.kl_div(answer, target, reduction="batchmean") * temperature**2


train, _ = loaders()
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
student = nn.Linear(6, 2)
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
for inputs, labels in train:
    optimizer.zero_grad()
    loss = distil(student, teacher, inputs) + F.cross_entropy(student(inputs), labels)
    loss.backward()
    optimizer.step()
