"""A pipeline of torch that ends, hangs or fails in known lines."""

import os
import time

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

NOTHING = 3


class Step:
    def __init__(self, does):
        self.does = does

    def __call__(self, x):
        return self.does(x)


class Numbers(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 12

    def __getitem__(self, index):
        x = torch.full((3,), float(index))
        return (self.transform(x) if self.transform is not None else x), index % 2


def end(x):
    if x[0] == 7:
        os._exit(3)  # ends
    return x


def wait(x):
    while x[0] == 4:
        time.sleep(0.01)  # waits
    return x


def fail(x):
    if x[0] == 5:
        raise ValueError("five is too much")  # fails
    return x


def healthy():
    return DataLoader(TensorDataset(torch.randn(20, 3), torch.arange(20) % 2), batch_size=4, shuffle=True)


def ends():
    return Numbers(Step(end))


def hangs():
    return Numbers(Step(wait))


def fails():
    print("something of the user's own")
    return DataLoader(Numbers(Step(fail)), batch_size=4, shuffle=True)


def raises():
    raise KeyError("no such file")  # raises


def asks(argument):
    return argument


def exits():
    raise SystemExit(4)


def in_worker(x):
    if torch.utils.data.get_worker_info() is not None and x[0] == 2:
        os._exit(9)
    return x


def worker_ends():
    return DataLoader(Numbers(Step(in_worker)), batch_size=4, num_workers=1)


class Unspeakable(Exception):
    def __str__(self):
        raise KeyError("words")


class Sizeless(Numbers):
    def __len__(self):
        raise RuntimeError("no length today")  # no length


def refuse(x):
    raise Unspeakable  # no words


def wordless():
    return Numbers(refuse)


class Endless(Numbers):
    def __len__(self):
        while True:
            time.sleep(0.01)  # counts


def builds():
    while True:
        time.sleep(0.01)  # builds
