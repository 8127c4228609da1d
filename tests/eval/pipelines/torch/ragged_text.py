import torch
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self):
        words = ["the", "cat", "sat", "on", "a", "mat", "and", "slept"]
        self.vocab = {w: k + 1 for k, w in enumerate(words)}
        self.text = [" ".join(words[: 3 + i % 5]) for i in range(40)]

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        ids = [self.vocab[w] for w in self.text[i].split()]
        return torch.tensor(ids), i % 2


def make():
    return DataLoader(Sentences(), batch_size=4, shuffle=False)  # expect
