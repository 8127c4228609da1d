"""Matrix-factorisation recommender, data-parallel."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

USERS, ITEMS = 40, 60


class Ratings(Dataset):
    def __init__(self, n=192):
        g = torch.Generator().manual_seed(23)
        self.key = torch.randperm(USERS * ITEMS, generator=g)[:n]
        u = torch.randn(USERS, 4, generator=g)
        v = torch.randn(ITEMS, 4, generator=g)
        self.value = (u[self.key // ITEMS] * v[self.key % ITEMS]).sum(1)

    def __len__(self):
        return len(self.key)

    def __getitem__(self, i):
        k = self.key[i]
        return torch.stack([k // ITEMS, k % ITEMS]), self.value[i]


class Factors(nn.Module):
    def __init__(self, rank=8):
        super().__init__()
        self.user = nn.Embedding(USERS, rank)
        self.item = nn.Embedding(ITEMS, rank)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, pair):
        return (self.user(pair[:, 0]) * self.item(pair[:, 1])).sum(1) + self.bias


def fit(model, loader, opt, epochs):
    history = []
    for epoch in range(epochs):
        total = torch.zeros(2)
        for pair, value in loader:
            loss = (model(pair) - value).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        history.append((total[0] / total[1]).item())
        if dist.get_rank() == 0:
            print(f"epoch {epoch} mse {history[-1]:.4f}", flush=True)
    return history


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(24)
    model = DDP(Factors())
    data = Ratings()
    sampler = DistributedSampler(data, shuffle=True, seed=24)
    loader = DataLoader(data, batch_size=12, sampler=sampler)
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
    fit(model, loader, opt, epochs=3)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
