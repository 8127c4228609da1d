"""Regression with uncertainty: dropout samples at prediction time, train and validation errors."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class DropoutRegressor(nn.Module):
    def __init__(self, p=0.15):
        super().__init__()
        self.a = nn.Linear(1, 48)
        self.b = nn.Linear(48, 48)
        self.c = nn.Linear(48, 1)
        self.p = p

    def forward(self, x, sample=None):
        active = self.training if sample is None else sample
        x = F.dropout(torch.tanh(self.a(x)), self.p, training=active)
        x = F.dropout(torch.tanh(self.b(x)), self.p, training=active)
        return self.c(x)

    @torch.no_grad()
    def predictive(self, x, draws=8):
        self.eval()
        ys = torch.stack([self(x, sample=True) for _ in range(draws)])
        return ys.mean(0), ys.std(0)


def curve(lo, hi, n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 1, generator=g) * (hi - lo) + lo
    return TensorDataset(x, torch.sin(2 * x) + 0.05 * torch.randn(n, 1, generator=g))


@torch.no_grad()
def error(model, loader):
    was_training = model.training
    model.eval()
    value = sum(F.mse_loss(model(x), y).item() for x, y in loader) / len(loader)
    model.train(was_training)
    return value


def main():
    torch.manual_seed(14)
    model = DropoutRegressor()
    train_set = curve(-2, 2, 256, 0)
    train = DataLoader(train_set, batch_size=32, shuffle=True)
    train_eval = DataLoader(train_set, batch_size=128)
    valid = DataLoader(curve(-2, 2, 64, 1), batch_size=64)
    probe = torch.linspace(-4, 4, 9).unsqueeze(1)
    opt = torch.optim.Adam(model.parameters(), lr=6e-3)
    for epoch in range(6):
        model.train()
        for x, y in train:
            opt.zero_grad()
            F.mse_loss(model(x), y).backward()
            opt.step()
        print(f"epoch {epoch} train {error(model, train_eval):.4f} valid {error(model, valid):.4f}")
        if epoch % 2:
            mean, std = model.predictive(probe)
            print("   spread", [round(s, 2) for s in std.squeeze(1).tolist()])


main()
