"""Weight-normalised network with data-dependent initialisation (Salimans & Kingma)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.data import DataLoader, TensorDataset


class WNLayer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        fc = nn.Linear(n_in, n_out)
        nn.init.normal_(fc.weight, std=0.05)
        self.fc = weight_norm(fc)

    @torch.no_grad()
    def calibrate(self, x):
        out = self.fc(x)
        mean, std = out.mean(0), out.std(0) + 1e-6
        self.fc.parametrizations.weight.original0.div_(std.unsqueeze(1))
        self.fc.bias.sub_(mean).div_(std)
        return self.fc(x)

    def forward(self, x):
        return self.fc(x)


class WNNet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(WNLayer(a, b) for a, b in zip(sizes, sizes[1:]))

    def calibrate(self, x):
        for layer in self.layers:
            x = F.relu(layer.calibrate(x))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


def spirals(n=400):
    g = torch.Generator().manual_seed(6)
    y = torch.arange(n) % 2
    r = torch.rand(n, generator=g) * 2 + 0.2
    a = r * 2.2 + y * 3.14159
    x = torch.stack([r * a.cos(), r * a.sin()], 1) + 0.03 * torch.randn(n, 2, generator=g)
    return TensorDataset(x, y)


def main():
    torch.manual_seed(3)
    data = spirals()
    loader = DataLoader(data, batch_size=40, shuffle=True)
    net = WNNet([2, 48, 48, 2])
    net.calibrate(data.tensors[0][:200])
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(8):
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


main()
