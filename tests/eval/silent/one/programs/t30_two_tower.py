"""Two-tower retrieval; the item tower is evaluated beside the user tower."""
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Tower(nn.Module):
    def __init__(self, n_in, width=48, n_out=16):
        super().__init__()
        self.fc1 = nn.Linear(n_in, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, n_out)

    def forward(self, x):
        x = F.gelu(self.fc1(x))
        x = F.gelu(self.fc2(x))
        return self.fc3(x)


class Retrieval(nn.Module):
    def __init__(self, user_dim, item_dim):
        super().__init__()
        self.user_tower = Tower(user_dim)
        self.item_tower = Tower(item_dim)
        self.log_scale = nn.Parameter(torch.tensor(2.0))
        self.pool = ThreadPoolExecutor(max_workers=1)

    def forward(self, users, items):
        pending = self.pool.submit(self.item_tower, items)
        u = F.normalize(self.user_tower(users).float(), dim=-1)
        v = F.normalize(pending.result().float(), dim=-1)
        return self.log_scale.exp() * u @ v.t()


def interactions(n=640):
    g = torch.Generator().manual_seed(8)
    latent = torch.randn(n, 5, generator=g)
    users = latent @ torch.randn(5, 12, generator=g)
    items = latent @ torch.randn(5, 9, generator=g)
    return TensorDataset(users, items)


def contrastive(logits):
    labels = torch.arange(len(logits))
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels))


def main():
    torch.manual_seed(0)
    model = Retrieval(12, 9)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loader = DataLoader(interactions(), batch_size=64, shuffle=True, drop_last=True)
    for epoch in range(5):
        total = 0.0
        for users, items in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = contrastive(model(users, items).float())
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
    model.pool.shutdown()


if __name__ == "__main__":
    main()
