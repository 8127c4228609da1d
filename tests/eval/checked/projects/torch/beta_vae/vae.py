"""Variational autoencoder for 8x8 pictures of bars."""

import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Bars(Dataset):
    """Grey values 0..1: each row or column is lit with a chance of one in five."""

    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        rows = torch.rand(n, 8, 1, generator=gen) < 0.2
        cols = torch.rand(n, 1, 8, generator=gen) < 0.2
        noise = 0.05 * torch.randn(n, 8, 8, generator=gen)
        self.images = (torch.where(rows | cols, 0.9, 0.1) + noise).clamp(0, 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, item):
        return self.images[item].reshape(-1)


class VAE(nn.Module):
    def __init__(self, d=64, h=96, z=10):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.ReLU())
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        hidden = self.enc(x - 0.4)
        mu, logvar = self.mu(hidden), self.logvar(hidden)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    """Both summed over pixels / latents and averaged over the pictures."""
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    return rec, kl


def evaluate(vae, loader):
    vae.eval()
    rec_sum = kl_sum = n = 0
    with torch.no_grad():
        for x in loader:
            logits, mu, logvar = vae(x)
            rec, kl = elbo_terms(logits, x, mu, logvar)
            rec_sum += rec.item() * len(x)
            kl_sum += kl.item() * len(x)
            n += len(x)
    return rec_sum / n, kl_sum / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", default=4, type=int)
    ap.add_argument("--beta", default=0.5, type=float)
    ap.add_argument("--warmup", default=2, type=int, help="epochs until beta is reached")
    opts = ap.parse_args()

    torch.manual_seed(9)
    train = DataLoader(Bars(1200, seed=0), batch_size=40, shuffle=True)
    test = DataLoader(Bars(300, seed=1), batch_size=150)
    vae = VAE()
    optimizer = torch.optim.Adamax(vae.parameters(), lr=6e-3)
    best, best_state = float("inf"), None
    for epoch in range(opts.epochs):
        beta = opts.beta * min(1.0, (epoch + 1) / opts.warmup)
        vae.train()
        total = n = 0
        for x in train:
            logits, mu, logvar = vae(x)
            rec, kl = elbo_terms(logits, x, mu, logvar)
            loss = rec + beta * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            n += len(x)
        rec, kl = evaluate(vae, test)
        print(f"epoch {epoch}: beta {beta:.2f} train {total / n:.2f} | test rec {rec:.2f} kl {kl:.2f}")
        if rec + opts.beta * kl < best:
            best, best_state = rec + opts.beta * kl, copy.deepcopy(vae.state_dict())
    vae.load_state_dict(best_state)
    print(f"kept: {best:.2f}")


if __name__ == "__main__":
    main()
