import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_FINE = 6


def signals(n, seed):
    """Six kinds of 24-sample signals: three periods times two envelopes."""
    g = torch.Generator().manual_seed(seed)
    fine = torch.randint(0, N_FINE, (n,), generator=g)
    t = torch.arange(24.0)
    period = torch.tensor([4.0, 7.0, 11.0])[fine % 3].unsqueeze(1)
    rising = (fine // 3).unsqueeze(1).float()
    envelope = rising * t / 23 + (1 - rising) * (1 - t / 23)
    phase = torch.rand(n, 1, generator=g) * 6.28
    x = 2.0 * envelope * torch.sin(6.2832 * t / period + phase) + 0.25 * torch.randn(n, 24, generator=g)
    return x.unsqueeze(1), fine


class Backbone(nn.Module):
    out_dim = 64

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 7, padding=3, bias=False)
        self.bn1 = nn.BatchNorm1d(16)
        self.conv2 = nn.Conv1d(16, 16, 5, padding=2, bias=False)
        self.bn2 = nn.BatchNorm1d(16)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.bn2(self.conv2(x)))
        return F.adaptive_avg_pool1d(x, 4).flatten(1)


def pretrain(path, epochs=2):
    """Learns the period only (3 classes) and leaves the backbone's weights at `path`."""
    x, fine = signals(640, seed=100)
    xv, fine_v = signals(160, seed=101)
    net = nn.Sequential(Backbone(), nn.Linear(Backbone.out_dim, 3))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    loader = DataLoader(TensorDataset(x, fine % 3), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        net.train()
        for xb, yb in loader:
            opt.zero_grad()
            F.cross_entropy(net(xb), yb).backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            print(f"pretrain {epoch}: val loss {F.cross_entropy(net(xv), fine_v % 3):.3f}")
    # same naming as the files of the multi-card job
    torch.save({f"module.{k}": v for k, v in net[0].state_dict().items()}, path)
