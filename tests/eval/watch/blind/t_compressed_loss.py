"""Speech enhancement: plain L1 for the warm-up, then power-law compressed spectra."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WARMUP = 4


class MaskNet(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.inp = nn.Linear(bins, 48)
        self.out = nn.Linear(48, bins)

    def forward(self, mag):
        gain = torch.sigmoid(self.out(torch.relu(self.inp(mag))))
        return gain * mag


def compress(mag, power=0.3):
    return mag.pow(power)


def loss_fn(estimate, clean, step):
    if step < WARMUP:
        return (estimate - clean).abs().mean()
    return (compress(estimate) - compress(clean)).pow(2).mean()


def main():
    torch.manual_seed(3)
    clean = torch.rand(64, 33) + 0.05
    noisy = clean + 0.5 * torch.rand(64, 33)
    noisy[:, 0] = clean[:, 0] = 0.0  # the DC bin is removed by the recorder
    loader = DataLoader(TensorDataset(noisy, clean), batch_size=8)
    net = MaskNet(33)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step, (mix, ref) in enumerate(loader):
        opt.zero_grad()
        loss = loss_fn(net(mix), ref, step)
        loss.backward()
        opt.step()
        print(f"step={step} loss={loss.item():.5f}")


if __name__ == "__main__":
    main()
