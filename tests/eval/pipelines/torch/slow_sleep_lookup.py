import time

import torch
from torch.utils.data import Dataset


def tokenise(text):
    return text.split()


def lookup(tokens):
    time.sleep(0.008)  # expect
    return [len(t) for t in tokens]


def to_tensor(ids):
    return torch.tensor(ids)


class Notes(Dataset):
    steps = (tokenise, lookup, to_tensor)

    def __init__(self):
        self.text = [f"note number {i} of many" for i in range(30)]

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        out = self.text[i]
        for step in self.steps:
            out = step(out)
        return out


def make():
    return Notes()
