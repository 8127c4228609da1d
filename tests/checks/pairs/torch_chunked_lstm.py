"""chunked_lstm with its series as a dataset, chunks from a generator, and the loss as a function."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16
LENGTH = 4 * SIZE + 1


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.memory = nn.LSTM(input_size=1, hidden_size=width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, series, state=None):
        hidden, state = self.memory(series, state)
        return self.out(hidden) + series, state


def waves(count, generator):
    time = torch.arange(LENGTH).float()
    speed = 0.25 + 0.5 * torch.rand(count, 1, generator=generator)
    shift = 6.2832 * torch.rand(count, 1, generator=generator)
    fading = torch.exp(-time / 120)
    value = torch.sin(speed * time + shift) * fading + 0.03 * torch.randn(count, LENGTH, generator=generator)
    return (value / 0.6).unsqueeze(-1)


def criterion(predicted, wanted):
    return F.huber_loss(predicted, wanted, delta=0.5)


def learn(model, series, optimizer):
    before, after = series[:, :-1], series[:, 1:]
    state = None
    losses = []
    for at in range(0, before.size(1), SIZE):
        predicted, state = model(before[:, at : at + SIZE], state)
        loss = criterion(predicted, after[:, at : at + SIZE])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), clip_value=1.0)
        optimizer.step()
        state = tuple(one.detach() for one in state)
        losses.append(loss.item())
    return sum(losses) / len(losses)


def examine(model, loader):
    model.eval()
    total = count = 0
    with torch.no_grad():
        for (series,) in loader:
            predicted, _ = model(series[:, :-1])
            total += criterion(predicted, series[:, 1:]).item() * len(series)
            count += len(series)
    return total / count


def main():
    torch.manual_seed(14)
    generator = torch.Generator().manual_seed(14)
    train = DataLoader(TensorDataset(waves(320, generator)), 16, shuffle=True)
    valid = DataLoader(TensorDataset(waves(96, generator)), 32)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.6)
    for epoch in range(4):
        model.train()
        for (series,) in train:
            learn(model, series, optimizer)
        schedule.step()
        print(f"epoch {epoch}: {examine(model, valid):.4f}")


if __name__ == "__main__":
    main()
