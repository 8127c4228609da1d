"""Sides that cannot be used, each in its own way."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def raises():
    raise ValueError("no such depth")


def wants_arguments(depth, width):
    return linear(depth * width)


def leaves():
    sys.exit(3)


def gives_no_model():
    return {"model": 1}


def too_much():
    return bytearray(1 << 62)


def crashes():
    os.abort()


def hangs():
    with Path("pids").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    while True:
        time.sleep(0.1)


def crashes_in_its_forward():
    import torch

    class Crashing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 4)

        def forward(self, x):
            os.abort()

    return Crashing()


def too_much_in_its_forward():
    import torch

    class Hungry(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x) + torch.zeros(1 << 50)

    return Hungry()


def lacks_a_kernel():
    import torch

    class Lacking(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.linalg.qr(self.fc(x).to(torch.float16))[0]

    return Lacking()


def linear(width: int = 4):
    import torch

    return torch.nn.Linear(width, 4)


def own_layer():
    import torch

    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return x * self.scale

    return Own()
