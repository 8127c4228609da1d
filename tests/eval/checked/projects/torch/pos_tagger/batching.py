"""Collate and batch sampler for sentences of different length."""

import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Sampler

PAD_ID = 0
IGNORE = -100


def collate(samples):
    words = [torch.tensor(w) for w, _ in samples]
    tags = [torch.tensor(t) for _, t in samples]
    lengths = torch.tensor([len(w) for w in words])
    return (
        pad_sequence(words, batch_first=True, padding_value=PAD_ID),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
        lengths,
    )


class BucketBatchSampler(Sampler):
    """Sentences of similar length share a batch; pools and batches come in a new order each epoch."""

    def __init__(self, lengths, batch_size, pool=8, seed=0):
        self.lengths, self.batch_size, self.pool = lengths, batch_size, pool
        self.rng = random.Random(seed)

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)

    def __iter__(self):
        order = list(range(len(self.lengths)))
        self.rng.shuffle(order)
        width = self.batch_size * self.pool
        batches = []
        for lo in range(0, len(order), width):
            part = sorted(order[lo : lo + width], key=lambda i: self.lengths[i])
            batches += [part[k : k + self.batch_size] for k in range(0, len(part), self.batch_size)]
        self.rng.shuffle(batches)
        yield from batches
