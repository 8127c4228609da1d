import torch
from torch.utils.data import Dataset

COLOURS = {"red": 0, "green": 1, "blue": 2}


class Mapped(Dataset):
    def __init__(self, rows, *functions):
        self.rows = rows
        self.functions = functions

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        value = self.rows[i]
        for f in self.functions:
            value = f(value)
        return value


def make():
    rows = ["red", "green ", "BLUE", "violet", "red"] * 2
    rows[8] = "green"
    return Mapped(
        rows,
        str.strip,
        str.lower,
        lambda name: COLOURS[name],  # expect
        torch.tensor,
    )
