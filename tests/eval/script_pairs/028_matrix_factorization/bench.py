"""Implicit-feedback matrix factorization with biases, PyTorch."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

NUM_USERS, NUM_ITEMS, FACTORS = 50, 80, 12


def click_log(n=1500):
    rng = np.random.RandomState(19)
    pu, qi = rng.standard_normal((NUM_USERS, 4)), rng.standard_normal((NUM_ITEMS, 4))
    users, items = rng.randint(0, NUM_USERS, n), rng.randint(0, NUM_ITEMS, n)
    prob = 1 / (1 + np.exp(-2 * (pu[users] * qi[items]).sum(1)))
    clicks = (rng.uniform(size=n) < prob).astype(np.float32)
    return users, items, clicks


class BiasedMF(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Embedding(NUM_USERS, FACTORS)
        self.q = nn.Embedding(NUM_ITEMS, FACTORS)
        self.bu = nn.Embedding(NUM_USERS, 1)
        self.bi = nn.Embedding(NUM_ITEMS, 1)
        nn.init.normal_(self.p.weight, 0.0, 0.1)
        nn.init.normal_(self.q.weight, 0.0, 0.1)
        nn.init.zeros_(self.bu.weight)
        nn.init.zeros_(self.bi.weight)

    def forward(self, u, i):
        dot = (self.p(u) * self.q(i)).sum(dim=1)
        return dot + self.bu(u).squeeze(1) + self.bi(i).squeeze(1)


def auc(score, label):
    pos, neg = score[label == 1], score[label == 0]
    return float((pos[:, None] > neg[None]).mean())


def main():
    torch.manual_seed(0)
    users, items, clicks = click_log()
    cut = 1200
    train = TensorDataset(torch.tensor(users[:cut]), torch.tensor(items[:cut]), torch.tensor(clicks[:cut]))
    loader = DataLoader(train, batch_size=64, shuffle=True, drop_last=False)
    model = BiasedMF()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=2.0, momentum=0.0, weight_decay=1e-4)
    for epoch in range(4):
        model.train()
        losses = []
        for u, i, y in loader:
            loss = criterion(model(u, i), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            score = model(torch.tensor(users[cut:]), torch.tensor(items[cut:])).numpy()
        print(f"epoch {epoch} bce {np.mean(losses):.4f} auc {auc(score, clicks[cut:]):.4f}")


if __name__ == "__main__":
    main()
