"""Next-value forecast for noisy oscillations, truncated back-propagation in chunks of 16."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CHUNK = 16
T = 4 * CHUNK + 1


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=1, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        # predicts the change, so the network starts from "tomorrow is like today"
        return x + self.readout(h), state


def oscillations(n, gen):
    t = torch.arange(T).float()
    w = 0.25 + 0.5 * torch.rand(n, 1, generator=gen)
    phase = 6.2832 * torch.rand(n, 1, generator=gen)
    damp = torch.exp(-t / 120)
    y = torch.sin(w * t + phase) * damp + 0.03 * torch.randn(n, T, generator=gen)
    return (y / 0.6).unsqueeze(-1)


def detach_state(state):
    return tuple(s.detach() for s in state)


def train_series(model, series, optimizer, loss_fn):
    inputs, targets = series[:, :-1], series[:, 1:]
    state, losses = None, []
    for lo in range(0, inputs.size(1), CHUNK):
        pred, state = model(inputs[:, lo : lo + CHUNK], state)
        loss = loss_fn(pred, targets[:, lo : lo + CHUNK])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        # carry the memory over, not the graph
        state = detach_state(state)
        losses.append(loss.item())
    return sum(losses) / len(losses)


def validation_error(model, loader, loss_fn):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for (series,) in loader:
            pred, _ = model(series[:, :-1])
            total += loss_fn(pred, series[:, 1:]).item() * len(series)
            n += len(series)
    return total / n


def naive_error(loader, loss_fn):
    parts = [(loss_fn(s[:, :-1], s[:, 1:]).item(), len(s)) for (s,) in loader]
    return sum(a * b for a, b in parts) / sum(b for _, b in parts)


if __name__ == "__main__":
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(14)
    train_loader = DataLoader(TensorDataset(oscillations(320, gen)), batch_size=16, shuffle=True)
    val_loader = DataLoader(TensorDataset(oscillations(96, gen)), batch_size=48, shuffle=False)

    model = Forecaster()
    loss_fn = nn.HuberLoss(delta=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.6)
    print(f"repeat the last value: {naive_error(val_loader, loss_fn):.4f}")
    for epoch in range(4):
        model.train()
        total, n = 0.0, 0
        for (series,) in train_loader:
            total += train_series(model, series, optimizer, loss_fn) * len(series)
            n += len(series)
        scheduler.step()
        print(f"epoch {epoch}  train {total / n:.4f}  val {validation_error(model, val_loader, loss_fn):.4f}")
