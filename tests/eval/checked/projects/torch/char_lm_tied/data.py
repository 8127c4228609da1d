import random

import torch
from torch.utils.data import Dataset

SUBJECTS = ["the cat", "a dog", "my aunt", "the old king", "one fox"]
VERBS = ["sees", "likes", "paints", "carries"]
OBJECTS = ["a hill", "red shoes", "the moon", "nothing", "an apple"]


def make_text(n_sentences, seed):
    rnd = random.Random(seed)
    return " ".join(f"{rnd.choice(SUBJECTS)} {rnd.choice(VERBS)} {rnd.choice(OBJECTS)}." for _ in range(n_sentences))


class CharVocab:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, text):
        return torch.tensor([self.index[c] for c in text], dtype=torch.long)


class NextCharDataset(Dataset):
    """Windows of block+1 characters: the first `block` go in, the last `block` are the targets."""

    def __init__(self, ids, block, stride):
        self.ids, self.block, self.stride = ids, block, stride

    def __len__(self):
        return (len(self.ids) - self.block - 1) // self.stride + 1

    def __getitem__(self, i):
        start = i * self.stride
        chunk = self.ids[start : start + self.block + 1]
        return chunk[:-1], chunk[1:]
