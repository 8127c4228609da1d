"""RankNet on graded documents plus a contrastive term over all pairs of the batch."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Scorer(nn.Module):
    def __init__(self, n_in=8, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width))
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.score(torch.relu(h)), h


def ranknet(scores, grades):
    s = scores.squeeze(1)
    diff = s.unsqueeze(1) - scores.t()
    better = (grades.unsqueeze(1) - grades).sign()
    weight = (better != 0).float()
    target = (better + 1) / 2
    return F.binary_cross_entropy_with_logits(diff, target, weight=weight, reduction="sum") / weight.sum()


def spread(h, margin=1.0):
    sq = h.pow(2).sum(1, keepdim=True)
    dist = (sq + sq.squeeze(1) - 2 * h @ h.t()).clamp(min=1e-6).sqrt()
    off = 1 - torch.eye(len(h))
    return (F.relu(margin - dist) * off).sum() / off.sum()


def documents(n=300):
    g = torch.Generator().manual_seed(33)
    x = torch.randn(n, 8, generator=g)
    quality = x[:, 0] + x[:, 1] * x[:, 2]
    return TensorDataset(x, torch.bucketize(quality, torch.tensor([-1.0, 0.0, 1.0])).float())


def main():
    torch.manual_seed(6)
    loader = DataLoader(documents(), batch_size=32, shuffle=True)
    model = Scorer()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(6):
        total = 0.0
        for x, grade in loader:
            scores, h = model(x)
            loss = ranknet(scores, grade) + 0.1 * spread(h)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
