"""Field sensor: which crop is it (4 kinds) and how much water does it hold (real number)?

The two losses are weighted by learned uncertainties. A third, small probe reads the sowing
month from the shared features; it must not shape them, hence the detach.
"""

from types import SimpleNamespace

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

hp = SimpleNamespace(seed=6, n_train=900, n_val=300, batch=36, epochs=4, lr=2e-3, lr_sigma=2e-2, gamma=0.7)


class MultiHead(nn.Module):
    def __init__(self, bands, crops, months):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(bands, 48), nn.ELU(), nn.Linear(48, 48), nn.ELU())
        self.crop = nn.Linear(48, crops)
        self.water = nn.Linear(48, 1)
        self.month_probe = nn.Linear(48, months)

    def forward(self, spectra):
        h = self.trunk(spectra)
        return self.crop(h), self.water(h).squeeze(1), self.month_probe(h.detach())


class UncertaintyWeighting(nn.Module):
    """exp(-s) * L + s for each task, with s learned (starts at 0, i.e. weight 1)."""

    def __init__(self, n_tasks):
        super().__init__()
        self.s = nn.Parameter(torch.zeros(n_tasks))

    def forward(self, losses):
        losses = torch.stack(losses)
        return (torch.exp(-self.s) * losses + self.s).sum()


def simulate_field(n, basis, g):
    crop = torch.randint(0, 4, (n,), generator=g)
    month = torch.randint(0, 3, (n,), generator=g)
    water = torch.randn(n, generator=g)
    x = basis["crop"][crop] + basis["month"][month] + water[:, None] * basis["water"]
    return x + 0.4 * torch.randn(x.shape, generator=g), crop, water, month


def step_losses(outputs, crop, water, month):
    crop_logits, water_hat, month_logits = outputs
    return (
        nn.functional.cross_entropy(crop_logits, crop),
        nn.functional.mse_loss(water_hat, water),
        nn.functional.cross_entropy(month_logits, month),
    )


def validate(model, loader):
    model.eval()
    sums, n = torch.zeros(3), 0
    with torch.no_grad():
        for x, *targets in loader:
            sums += torch.stack(step_losses(model(x), *targets)) * len(x)
            n += len(x)
    return (sums / n).tolist()


def run():
    torch.manual_seed(hp.seed)
    g = torch.Generator().manual_seed(hp.seed)
    basis = {
        "crop": torch.randn(4, 16, generator=g),
        "month": 0.6 * torch.randn(3, 16, generator=g),
        "water": 0.5 * torch.randn(16, generator=g),
    }
    x, *targets = simulate_field(hp.n_train, basis, g)
    xv, *targets_v = simulate_field(hp.n_val, basis, g)
    m, s = x.mean(), x.std()  # one scale for all bands, they share a unit
    train = DataLoader(TensorDataset((x - m) / s, *targets), batch_size=hp.batch, shuffle=True)
    val = DataLoader(TensorDataset((xv - m) / s, *targets_v), batch_size=100)

    model, weighting = MultiHead(16, 4, 3), UncertaintyWeighting(2)
    optimizer = torch.optim.Adam(
        [{"params": model.parameters()}, {"params": weighting.parameters(), "lr": hp.lr_sigma}], lr=hp.lr
    )
    decay = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: hp.gamma)

    for epoch in range(hp.epochs):
        model.train()
        seen, parts = 0, torch.zeros(3)
        for xb, *tb in train:
            l_crop, l_water, l_month = step_losses(model(xb), *tb)
            loss = weighting([l_crop, l_water]) + l_month
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            parts += torch.stack([l_crop, l_water, l_month]).detach() * len(xb)
            seen += len(xb)
        decay.step()
        v = validate(model, val)
        tr = (parts / seen).tolist()
        print(
            f"epoch {epoch}  train crop {tr[0]:.3f} water {tr[1]:.3f} month {tr[2]:.3f}  "
            f"val crop {v[0]:.3f} water {v[1]:.3f} month {v[2]:.3f}  s {[round(a, 2) for a in weighting.s.tolist()]}"
        )


if __name__ == "__main__":
    run()
