"""Distil a small bounded network (spectral norm in every layer) into an ordinary one."""
import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import spectral_norm


class Bounded(nn.Module):
    def __init__(self, sizes, gain=1.0):
        super().__init__()
        plain = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        for fc in plain:
            nn.init.normal_(fc.weight, std=gain)
            nn.init.zeros_(fc.bias)
        self.fcs = nn.ModuleList(spectral_norm(fc) for fc in plain)

    def forward(self, x):
        for fc in self.fcs[:-1]:
            x = torch.tanh(fc(x))
        return self.fcs[-1](x)


class Student(nn.Module):
    def __init__(self, n_in, n_out, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, n_out))

    def forward(self, x):
        return self.net(x)


class Distiller:
    def __init__(self, teacher, student, lr=5e-3):
        self.teacher = teacher.eval().requires_grad_(False)
        self.student = student
        self.optimizer = torch.optim.Adam(student.parameters(), lr=lr)

    def step(self, x):
        with torch.no_grad():
            wanted = self.teacher(x)
        loss = (self.student(x) - wanted).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(30)
    teacher = Bounded([6, 20, 4], gain=0.3)
    distiller = Distiller(teacher, Student(6, 4))
    gen = torch.Generator().manual_seed(2)
    for it in range(80):
        loss = distiller.step(torch.randn(48, 6, generator=gen))
        if it % 16 == 15:
            print(f"iter {it + 1} loss {loss:.5f}")


main()
