"""Train a small network, then switch on low-rank adapters after a few steps."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LoraLinear(nn.Module):
    def __init__(self, n_in, n_out, rank=2):
        super().__init__()
        self.base = nn.Linear(n_in, n_out)
        self.down = nn.Linear(n_in, rank, bias=False)
        self.up = nn.Linear(rank, n_out, bias=False)
        nn.init.zeros_(self.up.weight)
        self.enabled = False

    def forward(self, x):
        y = self.base(x)
        if self.enabled:
            y = y + self.up(self.down(x))
        return y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = LoraLinear(8, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.hidden(x)))


def main():
    torch.manual_seed(6)
    x = torch.randn(64, 8)
    y = x[:, :1] * 0.7 - x[:, 1:2]
    loader = DataLoader(TensorDataset(x, y), batch_size=8)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=0.0)
    for step, (xb, yb) in enumerate(loader):
        model.hidden.enabled = step >= 3
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
