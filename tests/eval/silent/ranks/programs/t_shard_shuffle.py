"""Sharded token stream; the order is drawn twice, once for all and once per worker."""
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, Sampler


class Tokens(Dataset):
    def __init__(self, n=203, length=10, vocab=40):
        rng = np.random.default_rng(12)
        self.data = torch.from_numpy(rng.integers(0, vocab, (n, length)))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


class TwoLevelSampler(Sampler):
    def __init__(self, size, rank, world, seed):
        self.size, self.rank, self.world, self.seed = size, rank, world, seed
        self.epoch = 0

    def __len__(self):
        return -(-self.size // self.world)

    def __iter__(self):
        shared = np.random.default_rng([self.seed, self.epoch]).permutation(self.size)
        missing = len(self) * self.world - self.size
        shared = np.concatenate([shared, shared[:missing]])
        mine = shared[self.rank::self.world]
        np.random.default_rng([self.seed, self.epoch, self.rank + 1]).shuffle(mine)
        self.epoch += 1
        return iter(mine.tolist())


class NextToken(nn.Module):
    def __init__(self, vocab=40, dim=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        h, _ = self.gru(self.emb(ids))
        return self.out(self.drop(h))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(500 + rank)
    model = DDP(NextToken())
    data = Tokens()
    loader = DataLoader(data, batch_size=17, sampler=TwoLevelSampler(len(data), rank, world, seed=88))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(3):
        for ids in loader:
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
