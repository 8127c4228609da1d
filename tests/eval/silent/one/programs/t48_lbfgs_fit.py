"""Full-batch and mini-batch fitting with LBFGS closures."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Damped(nn.Module):
    def __init__(self):
        super().__init__()
        self.amp = nn.Parameter(torch.tensor(0.5))
        self.decay = nn.Parameter(torch.tensor(0.1))
        self.freq = nn.Parameter(torch.tensor(1.6))
        self.residual = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        nn.init.zeros_(self.residual[2].weight)
        nn.init.zeros_(self.residual[2].bias)

    def forward(self, t):
        return self.amp * torch.exp(-self.decay * t) * torch.cos(self.freq * t) + self.residual(t)


def signal(n=240):
    g = torch.Generator().manual_seed(13)
    t = torch.rand(n, 1, generator=g) * 5
    y = 1.2 * torch.exp(-0.3 * t) * torch.cos(2 * t) + 0.05 * t
    return TensorDataset(t, y)


def main():
    torch.manual_seed(0)
    model = Damped()
    loader = DataLoader(signal(), batch_size=80, shuffle=True)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=8, history_size=6,
                                  line_search_fn="strong_wolfe")
    evaluations = 0
    for epoch in range(5):
        total = 0.0
        for t, y in loader:
            def closure():
                nonlocal evaluations
                evaluations += 1
                optimizer.zero_grad()
                loss = (model(t) - y).square().mean()
                loss.backward()
                return loss
            total += optimizer.step(closure).item()
        print(f"epoch {epoch} loss {total / len(loader):.5f} after {evaluations} evaluations")


main()
